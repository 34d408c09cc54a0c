// The gradient of softmax, one row at a time: through the Jacobian, and by p o (dp - D), which is the same
// (FlashAttention, appendix B.2; FlashAttention-2, section 2.3.2).
#include "core/algorithms/bodies.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    {1, 0, LineKind::Loop, R"(for $1 \le i \le N$ do (row $i$))", R"(对 $1 \le i \le N$ 循环（第 $i$ 行）)"},
    {2, 1, LineKind::Step, R"(load $P_i$, $dO_i$, $O_i$, $V$)", R"(加载 $P_i$、$dO_i$、$O_i$、$V$)"},
    {3, 1, LineKind::Step, R"($dP_i \leftarrow dO_i V^\top$)"},
    {4, 1, LineKind::Step, R"($J \leftarrow \mathrm{diag}(P_i) - P_i^\top P_i$)"},
    {5, 1, LineKind::Step, R"($dS_J \leftarrow dP_i J$)"},
    {6, 1, LineKind::Step, R"($D_P \leftarrow \mathrm{rowsum}(P_i \circ dP_i)$)"},
    {7, 1, LineKind::Step, R"($D_i \leftarrow \mathrm{rowsum}(dO_i \circ O_i)$)"},
    {8, 1, LineKind::Step, R"($dS_i \leftarrow P_i \circ (dP_i - D_i)$; write $dS_i$)",
                           R"($dS_i \leftarrow P_i \circ (dP_i - D_i)$；写入 $dS_i$)"},
    {9, 0, LineKind::Text, R"(return $dS$)", R"(返回 $dS$)"},
};

void run(Machine& m, const Problem& p) {
    At at{m};
    Hbm P{m, "P", Weights, Shape{p.n, p.nk}, 1, Role::Input};
    Hbm O{m, "O", Shape{p.n, p.dv}, 1, Role::Input};
    Hbm V{m, "V", Shape{p.nk, p.dv}, p.nk, Role::Input, PerHead::KeyValue};
    Hbm dO{m, "dO", Gradient, Shape{p.n, p.dv}, 1, Role::Input};
    Hbm dS{m, "dS", Gradient, Shape{p.n, p.nk}, 1, Role::Output};

    for (int i : at.each_i(1, p.n)) {
        Sram P_i{m, "P_i", Weights}, dO_i{m, "dO_i", Gradient}, O_i{m, "O_i"}, V_t{m, "V"}, dP_i{m, "dP_i", Gradient}, J{m, "J"}, dS_J{m, "dS_J", Gradient},
             D_P{m, "D_P", RowDot}, D_i{m, "D_i", RowDot}, dS_i{m, "dS_i", Gradient};
        at(2);  P_i = P.load(i);  dO_i = dO.load(i);  O_i = O.load(i);  V_t = V.load(0);
        at(3);  dP_i = dO_i * T(V_t);
        at(4);  J = diag_matrix(P_i) - T(P_i) * P_i;
        at(5);  dS_J = dP_i * J;
        at(6);  D_P = rowsum(hadamard(P_i, dP_i));
        at(7);  D_i = rowsum(hadamard(dO_i, O_i));
        at(8);  dS_i = hadamard(P_i, dP_i - D_i);  dS.store(i, dS_i);
    }
}
// clang-format on

ClosedForm closed_form(const Problem& p) {
    ClosedForm form;
    const std::int64_t rows = std::int64_t{p.total_heads()} * p.n, bytes = element_bytes(p.dtype), nk = p.nk, dv = p.dv;
    form.hbm["P"].read = rows * bytes * nk;
    form.hbm["O"].read = form.hbm["dO"].read = rows * bytes * dv;
    form.hbm["V"].read = rows * bytes * nk * dv;
    form.hbm["dS"].write = rows * bytes * nk;
    form.flops_matmul = rows * 2 * (nk * dv + nk * nk + nk * nk);
    form.flops_other = rows * (nk * nk + 2 * nk + 2 * dv + 2 * nk);
    return form;
}

}  // namespace

struct SoftmaxBackward {
    static constexpr Algorithm row{
        .id = "softmax_backward",
        .title = {"Softmax backward: one row", "softmax 反向传播：逐行"},
        .source = "FlashAttention, appendix B.2",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .forward = "standard_attention",
    };
};
template const Algorithm& row_of<SoftmaxBackward>();

}  // namespace flashstep
