// Standard attention, Algorithm 0 of the FlashAttention paper (Dao et al. 2022, section 2.2): three library calls that
// keep S and P in HBM.
#include "core/algorithms/bodies.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    {1, 0, LineKind::Step, R"(load $Q$, $K$ by blocks from HBM, compute $S \leftarrow \tau Q K^\top$, write $S$ to HBM)",
                           R"(从 HBM 分块加载 $Q$、$K$，计算 $S \leftarrow \tau Q K^\top$，把 $S$ 写入 HBM)"},
    {2, 0, LineKind::Step, R"(read $S$ from HBM, compute $P \leftarrow \mathrm{softmax}(S)$, write $P$ to HBM)",
                           R"(从 HBM 读 $S$，计算 $P \leftarrow \mathrm{softmax}(S)$，把 $P$ 写入 HBM)"},
    {3, 0, LineKind::Step, R"(load $P$ and $V$ by blocks from HBM, compute $O \leftarrow P V$, write $O$ to HBM)",
                           R"(从 HBM 分块加载 $P$、$V$，计算 $O \leftarrow P V$，把 $O$ 写入 HBM)"},
    {4, 0, LineKind::Text, R"(return $O$)", R"(返回 $O$)"},
};

void run(Machine& m, const Problem& p) {
    At at{m};
    Stream Q{m, "Q", Shape{p.n, p.d}, Role::Input};
    Stream K{m, "K", Shape{p.nk, p.d}, Role::Input, PerHead::KeyValue};
    Stream V{m, "V", Shape{p.nk, p.dv}, Role::Input, PerHead::KeyValue};
    Stream S{m, "S", Scores, Shape{p.n, p.nk}, Role::Extra};
    Stream P{m, "P", Weights, Shape{p.n, p.nk}, Role::Extra};
    Stream O{m, "O", Shape{p.n, p.dv}, Role::Output};

    at(1);  S = mask(p.scale * (Q * T(K)));
    at(2);  P = softmax(S);
    at(3);  O = P * V;
}
// clang-format on

// Each operand moves once per call: 4 N d + 4 N^2 elements per head where d = d_v and N = N_k.
ClosedForm closed_form(const Problem& p) {
    ClosedForm form;
    const std::int64_t heads = p.total_heads(), bytes = element_bytes(p.dtype), n = p.n, nk = p.nk;
    form.hbm["Q"].read = heads * bytes * n * p.d;
    form.hbm["K"].read = heads * bytes * nk * p.d;
    form.hbm["V"].read = heads * bytes * nk * p.dv;
    form.hbm["S"] = {.read = heads * bytes * n * nk, .write = heads * bytes * n * nk};
    form.hbm["P"] = form.hbm["S"];
    form.hbm["O"].write = heads * bytes * n * p.dv;
    form.flops_matmul = heads * 2 * n * nk * (p.d + p.dv);
    form.flops_other = heads * n * (6 * nk + 1);  // scale, rowmax, subtract, exp, rowsum, divide; one inverse per row
    form.flops_exp = heads * n * nk;
    return form;
}

}  // namespace

struct StandardAttention {
    static constexpr Algorithm row{
        .id = "standard_attention",
        .title = {"Standard attention", "标准注意力"},
        .source = "FlashAttention, Algorithm 0",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .mask_tiles = MaskTiles::Whole,
        .yardstick = "standard_attention",
    };
};
template const Algorithm& row_of<StandardAttention>();

}  // namespace flashstep
