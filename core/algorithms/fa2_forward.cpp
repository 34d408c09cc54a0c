// FlashAttention-2, Algorithm 1: forward pass (Dao 2023, section 3.1).
#include "core/algorithms/bodies.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    { 1, 0, LineKind::Text, R"(divide $Q$ into $T_r$ blocks, $K$ and $V$ into $T_c$ blocks)",
                            R"(把 $Q$ 分成 $T_r$ 块，$K$、$V$ 分成 $T_c$ 块)"},
    { 2, 0, LineKind::Text, R"(divide $O$ and $L$ into $T_r$ blocks)", R"(把 $O$、$L$ 分成 $T_r$ 块)"},
    { 3, 0, LineKind::Loop, R"(for $1 \le i \le T_r$ do)", R"(对 $1 \le i \le T_r$ 循环)"},
    { 4, 1, LineKind::Step, R"(load $Q_i$ from HBM to SRAM)", R"(把 $Q_i$ 从 HBM 加载到 SRAM)"},
    { 5, 1, LineKind::Step, R"(on chip: $\tilde{O}_i \leftarrow 0$, $l_i \leftarrow 0$, $m_i \leftarrow -\infty$)",
                            R"(片上：$\tilde{O}_i \leftarrow 0$，$l_i \leftarrow 0$，$m_i \leftarrow -\infty$)"},
    { 6, 1, LineKind::Loop, R"(for $1 \le j \le T_c$ do)", R"(对 $1 \le j \le T_c$ 循环)"},
    { 7, 2, LineKind::Step, R"(load $K_j$, $V_j$ from HBM to SRAM)", R"(把 $K_j$、$V_j$ 从 HBM 加载到 SRAM)"},
    { 8, 2, LineKind::Step, R"($S_{ij} \leftarrow \tau Q_i K_j^\top$)"},
    { 9, 2, LineKind::Step, R"($m_i \leftarrow \max(m_{old}, \mathrm{rowmax}(S_{ij}))$, $\tilde{P}_{ij} \leftarrow e^{S_{ij} - m_i}$, $l_i \leftarrow e^{m_{old} - m_i} l_i + \mathrm{rowsum}(\tilde{P}_{ij})$)"},
    {10, 2, LineKind::Step, R"($\tilde{O}_i \leftarrow \mathrm{diag}(e^{m_{old} - m_i}) \tilde{O}_i + \tilde{P}_{ij} V_j$)"},
    {11, 1, LineKind::Text, R"(end for)", R"(循环结束)"},
    {12, 1, LineKind::Step, R"($O_i \leftarrow \mathrm{diag}(l_i)^{-1} \tilde{O}_i$)"},
    {13, 1, LineKind::Step, R"($L_i \leftarrow m_i + \log(l_i)$)"},
    {14, 1, LineKind::Step, R"(write $O_i$ to HBM)", R"(把 $O_i$ 写入 HBM)"},
    {15, 1, LineKind::Step, R"(write $L_i$ to HBM)", R"(把 $L_i$ 写入 HBM)"},
    {16, 0, LineKind::Text, R"(end for)", R"(循环结束)"},
    {17, 0, LineKind::Text, R"(return $O$ and $L$)", R"(返回 $O$ 和 $L$)"},
};

void run(Machine& m, const Problem& p) {
    At at{m};
    Hbm Q{m, "Q", Shape{p.n, p.d}, p.br, Role::Input};
    Hbm K{m, "K", Shape{p.nk, p.d}, p.bc, Role::Input, PerHead::KeyValue};
    Hbm V{m, "V", Shape{p.nk, p.dv}, p.bc, Role::Input, PerHead::KeyValue};
    Hbm O{m, "O", Shape{p.n, p.dv}, p.br, Role::Output};
    Hbm L{m, "L", LogSum, Shape{p.n, 1}, p.br, Role::Extra};

    for (int i : at.loop_i(3, Q.blocks())) {
        Sram Q_i{m, "Q_i"}, O_i{m, "O_i"}, l_i{m, "l_i", Sum}, m_i{m, "m_i", Maximum}, L_i{m, "L_i", LogSum};
        at( 4);  Q_i = Q.load(i);
        at( 5);  O_i = zeros(m, Shape{rows(Q_i).rows, p.dv});  l_i = zeros(m, rows(Q_i));  m_i = fill(m, rows(Q_i), -kInf);
        for (int j : at.loop_j(6, p.visible_blocks(i))) {
            Sram K_j{m, "K_j"}, V_j{m, "V_j"}, S_ij{m, "S_ij", Scores}, P_ij{m, "P_ij", Weights}, m_old{m, "m_old", Maximum};
            at( 7);  K_j = K.load(j);  V_j = V.load(j);
            at( 8);  S_ij = mask(p.score_scale() * (Q_i * T(K_j)), i, j);
            at( 9);  m_old = m_i;  m_i = max(m_old, rowmax(S_ij));  P_ij = exp_diff(S_ij, m_i);
                     l_i = diag(rescale(m_old, m_i)) * l_i + rowsum(P_ij);
            at(10);  O_i = diag(rescale(m_old, m_i)) * O_i + P_ij * V_j;
        }
        at(12);  O_i = inv(diag(l_i)) * O_i;
        at(13);  L_i = natural(m_i) + log(l_i);
        at(14);  O.store(i, O_i);
        at(15);  L.store(i, L_i);
    }
}
// clang-format on

// Q, O and L move once; row block i loads every key block that it sees.
ClosedForm closed_form(const Problem& p) {
    ClosedForm form;
    const std::int64_t heads = p.total_heads(), bytes = element_bytes(p.dtype), n = p.n;
    for (int i = 0; i < p.row_blocks(); ++i) {
        const std::int64_t tiles = p.visible_blocks(i), keys = std::min<std::int64_t>(tiles * p.bc, p.nk);
        const std::int64_t rows = std::min(p.br, p.n - i * p.br);
        form.hbm["K"].read += heads * bytes * keys * p.d;
        form.hbm["V"].read += heads * bytes * keys * p.dv;
        form.flops_matmul += heads * 2 * rows * keys * (p.d + p.dv);
        // scale, rowmax, subtract, exp, rowsum per score; max, two rescalings, l per row and tile; O~ per tile
        form.flops_other += heads * rows * (5 * keys + tiles * (1 + 4 + 2 + 2 * p.dv));
        form.flops_exp += heads * rows * (keys + 2 * tiles);
    }
    form.hbm["Q"].read = heads * bytes * n * p.d;
    form.hbm["O"].write = heads * bytes * n * p.dv;
    form.hbm["L"].write = heads * 4 * n;
    form.flops_other += heads * n * (1 + p.dv + 2 + (p.base2 ? 1 : 0));  // m_i back to the natural logarithm
    return form;
}

// Dao 2023, section 3.2 and figure 2.
constexpr Launch kLaunches[] = {{"O, L", BlockPer::RowBlock}};

}  // namespace

struct Fa2Forward {
    static constexpr Algorithm row{
        .id = "fa2_forward",
        .title = {"FlashAttention-2 forward", "FlashAttention-2 前向传播"},
        .source = "FlashAttention-2, Algorithm 1",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .mask_tiles = MaskTiles::Blocks,
        .yardstick = "standard_attention",
        .launches = kLaunches,
        .base2 = true,
    };
};
template const Algorithm& row_of<Fa2Forward>();

}  // namespace flashstep
