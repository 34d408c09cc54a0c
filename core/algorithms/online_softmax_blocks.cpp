// Online softmax over blocks of a row, with the weighted sum of V: the state m, l, o~ of one query (FlashAttention-2,
// section 2.3.1 with the rescaling of section 3.1.1).
#include "core/algorithms/bodies.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    { 1, 0, LineKind::Loop, R"(for $1 \le i \le N$ do (query $q_i$))", R"(对 $1 \le i \le N$ 循环（query $q_i$）)"},
    { 2, 1, LineKind::Step, R"(load $Q_i$; $\tilde{O}_i \leftarrow 0$, $l_i \leftarrow 0$, $m_i \leftarrow -\infty$)",
                            R"(加载 $Q_i$；$\tilde{O}_i \leftarrow 0$，$l_i \leftarrow 0$，$m_i \leftarrow -\infty$)"},
    { 3, 1, LineKind::Loop, R"(for $1 \le j \le T_c$ do)", R"(对 $1 \le j \le T_c$ 循环)"},
    { 4, 2, LineKind::Step, R"(load $K_j$, $V_j$; $S_{ij} \leftarrow \tau Q_i K_j^\top$)",
                            R"(加载 $K_j$、$V_j$；$S_{ij} \leftarrow \tau Q_i K_j^\top$)"},
    { 5, 2, LineKind::Step, R"($m_i \leftarrow \max(m_{old}, \mathrm{rowmax}(S_{ij}))$)"},
    { 6, 2, LineKind::Step, R"($\tilde{P}_{ij} \leftarrow e^{S_{ij} - m_i}$)"},
    { 7, 2, LineKind::Step, R"($l_i \leftarrow e^{m_{old} - m_i} l_i + \mathrm{rowsum}(\tilde{P}_{ij})$)"},
    { 8, 2, LineKind::Step, R"($\tilde{O}_i \leftarrow e^{m_{old} - m_i} \tilde{O}_i + \tilde{P}_{ij} V_j$)"},
    { 9, 1, LineKind::Step, R"($O_i \leftarrow \tilde{O}_i / l_i$; write $O_i$)",
                            R"($O_i \leftarrow \tilde{O}_i / l_i$；写入 $O_i$)"},
    {10, 0, LineKind::Text, R"(return $O$)", R"(返回 $O$)"},
};

void run(Machine& m, const Problem& p) {
    At at{m};
    Hbm Q{m, "Q", Shape{p.n, p.d}, 1, Role::Input};
    Hbm K{m, "K", Shape{p.nk, p.d}, p.bc, Role::Input, PerHead::KeyValue};
    Hbm V{m, "V", Shape{p.nk, p.dv}, p.bc, Role::Input, PerHead::KeyValue};
    Hbm O{m, "O", Shape{p.n, p.dv}, 1, Role::Output};

    for (int i : at.loop_i(1, Q.blocks())) {
        Sram Q_i{m, "Q_i"}, O_i{m, "O_i"}, l_i{m, "l_i", Sum}, m_i{m, "m_i", Maximum};
        at(2);  Q_i = Q.load(i);  O_i = zeros(m, Shape{1, p.dv});  l_i = zeros(m, Shape{1, 1});  m_i = fill(m, Shape{1, 1}, -kInf);
        for (int j : at.loop_j(3, p.visible_blocks(i))) {
            Sram K_j{m, "K_j"}, V_j{m, "V_j"}, S_ij{m, "S_ij", Scores}, P_ij{m, "P_ij", Weights}, m_old{m, "m_old", Maximum};
            at(4);  K_j = K.load(j);  V_j = V.load(j);  S_ij = mask(p.scale * (Q_i * T(K_j)), i, j);
            at(5);  m_old = m_i;  m_i = max(m_old, rowmax(S_ij));
            at(6);  P_ij = exp_diff(S_ij, m_i);
            at(7);  l_i = diag(rescale(m_old, m_i)) * l_i + rowsum(P_ij);
            at(8);  O_i = diag(rescale(m_old, m_i)) * O_i + P_ij * V_j;
        }
        at(9);  O_i = O_i / l_i;  O.store(i, O_i);
    }
}
// clang-format on

// The problem comes with B_r = 1: one query at a time.
ClosedForm closed_form(const Problem& p) {
    ClosedForm form;
    const std::int64_t heads = p.total_heads(), bytes = element_bytes(p.dtype), n = p.n;
    for (int i = 0; i < p.n; ++i) {
        const std::int64_t tiles = p.visible_blocks(i), keys = std::min<std::int64_t>(tiles * p.bc, p.nk);
        form.hbm["K"].read += heads * bytes * keys * p.d;
        form.hbm["V"].read += heads * bytes * keys * p.dv;
        form.flops_matmul += heads * 2 * keys * (p.d + p.dv);
        form.flops_other += heads * (5 * keys + tiles * (1 + 4 + 2 + 2 * p.dv));
        form.flops_exp += heads * (keys + 2 * tiles);
    }
    form.hbm["Q"].read = heads * bytes * n * p.d;
    form.hbm["O"].write = heads * bytes * n * p.dv;
    form.flops_other += heads * n * p.dv;
    return form;
}

}  // namespace

struct OnlineSoftmaxBlocks {
    static constexpr Algorithm row{
        .id = "online_softmax_blocks",
        .title = {"Online softmax in blocks: one query", "分块的在线 softmax：单个 query"},
        .source = "FlashAttention-2, section 2.3.1",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .mask_tiles = MaskTiles::Rows,
        .yardstick = "standard_attention",
    };
};
template const Algorithm& row_of<OnlineSoftmaxBlocks>();

}  // namespace flashstep
