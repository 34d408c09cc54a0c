// Standard attention, backward: Algorithm 3 of the FlashAttention paper, five library calls.
#include "core/algorithms/bodies.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    {1, 0, LineKind::Step, R"(load $P$, $dO$ by blocks, compute $dV \leftarrow P^\top dO$, write $dV$ to HBM)",
                           R"(分块加载 $P$、$dO$，计算 $dV \leftarrow P^\top dO$，把 $dV$ 写入 HBM)"},
    {2, 0, LineKind::Step, R"(load $dO$, $V$ by blocks, compute $dP \leftarrow dO V^\top$, write $dP$ to HBM)",
                           R"(分块加载 $dO$、$V$，计算 $dP \leftarrow dO V^\top$，把 $dP$ 写入 HBM)"},
    {3, 0, LineKind::Step, R"(read $P$, $dP$, compute $dS \leftarrow P \circ (dP - \mathrm{rowsum}(P \circ dP))$, write $dS$ to HBM)",
                           R"(读 $P$、$dP$，计算 $dS \leftarrow P \circ (dP - \mathrm{rowsum}(P \circ dP))$，把 $dS$ 写入 HBM)"},
    {4, 0, LineKind::Step, R"(load $dS$ and $K$ by blocks, compute $dQ \leftarrow \tau dS K$, write $dQ$ to HBM)",
                           R"(分块加载 $dS$、$K$，计算 $dQ \leftarrow \tau dS K$，把 $dQ$ 写入 HBM)"},
    {5, 0, LineKind::Step, R"(load $dS$ and $Q$ by blocks, compute $dK \leftarrow \tau dS^\top Q$, write $dK$ to HBM)",
                           R"(分块加载 $dS$、$Q$，计算 $dK \leftarrow \tau dS^\top Q$，把 $dK$ 写入 HBM)"},
    {6, 0, LineKind::Text, R"(return $dQ$, $dK$, $dV$)", R"(返回 $dQ$、$dK$、$dV$)"},
};

void run(Machine& m, const Problem& p) {
    At at{m};
    Stream Q{m, "Q", Shape{p.n, p.d}, Role::Input};
    Stream K{m, "K", Shape{p.nk, p.d}, Role::Input, PerHead::KeyValue};
    Stream V{m, "V", Shape{p.nk, p.dv}, Role::Input, PerHead::KeyValue};
    Stream P{m, "P", Weights, Shape{p.n, p.nk}, Role::Input};
    Stream dO{m, "dO", Gradient, Shape{p.n, p.dv}, Role::Input};
    Stream dP{m, "dP", Gradient, Shape{p.n, p.nk}, Role::Extra}, dS{m, "dS", Gradient, Shape{p.n, p.nk}, Role::Extra};
    Stream dQ{m, "dQ", Gradient, Shape{p.n, p.d}, Role::Output};
    Stream dK{m, "dK", Gradient, Shape{p.nk, p.d}, Role::Output, PerHead::KeyValue};
    Stream dV{m, "dV", Gradient, Shape{p.nk, p.dv}, Role::Output, PerHead::KeyValue};

    at(1);  dV.store_or_add_in_group(T(P) * dO);
    at(2);  dP = dO * T(V);
    at(3);  dS = softmax_gradient(P, dP);
    at(4);  dQ = p.scale * (dS * K);
    at(5);  dK.store_or_add_in_group(p.scale * (T(dS) * Q));
}
// clang-format on

// 7 N^2 + 8 N d elements per head; heads that share K and V add to dK and dV.
ClosedForm closed_form(const Problem& p) {
    ClosedForm form;
    const std::int64_t heads = p.total_heads(), bytes = element_bytes(p.dtype), n = p.n, nk = p.nk, d = p.d, dv = p.dv;
    const std::int64_t adding = heads - std::int64_t{p.batch} * p.kv_heads;
    form.hbm["P"].read = heads * bytes * 2 * n * nk;
    form.hbm["dO"].read = heads * bytes * 2 * n * dv;
    form.hbm["V"].read = heads * bytes * nk * dv;
    form.hbm["K"].read = heads * bytes * nk * d;
    form.hbm["Q"].read = heads * bytes * n * d;
    form.hbm["dP"] = {.read = heads * bytes * n * nk, .write = heads * bytes * n * nk};
    form.hbm["dS"] = {.read = heads * bytes * 2 * n * nk, .write = heads * bytes * n * nk};
    form.hbm["dQ"].write = heads * bytes * n * d;
    form.hbm["dK"] = {.read = adding * bytes * nk * d, .write = heads * bytes * nk * d};
    form.hbm["dV"] = {.read = adding * bytes * nk * dv, .write = heads * bytes * nk * dv};
    form.flops_matmul = heads * 2 * n * nk * (2 * dv + 2 * d);
    form.flops_other = heads * (n * nk * 4 + n * d + nk * d) + adding * nk * (d + dv);
    return form;
}

}  // namespace

struct StandardBackward {
    static constexpr Algorithm row{
        .id = "standard_backward",
        .title = {"Standard attention backward", "标准注意力 反向传播"},
        .source = "FlashAttention, Algorithm 3",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .forward = "standard_attention",
        .yardstick = "standard_backward",
    };
};
template const Algorithm& row_of<StandardBackward>();

}  // namespace flashstep
