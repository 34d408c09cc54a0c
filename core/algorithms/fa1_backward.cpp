// FlashAttention, Algorithm 4: backward pass from O, l and m, with D recomputed at every (i, j) (Dao et al. 2022,
// appendix B.4, without dropout).
#include "core/algorithms/bodies.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    { 1, 0, LineKind::Text, R"(set the state of the dropout generator)", R"(设定 dropout 随机数发生器的状态)"},
    { 2, 0, LineKind::Text, R"(set block sizes $B_c$, $B_r$)", R"(设定分块大小 $B_c$、$B_r$)"},
    { 3, 0, LineKind::Text, R"(divide $Q$ into $T_r$ blocks, $K$ and $V$ into $T_c$ blocks)",
                            R"(把 $Q$ 分成 $T_r$ 块，$K$、$V$ 分成 $T_c$ 块)"},
    { 4, 0, LineKind::Text, R"(divide $O$, $dO$, $l$, $m$ into $T_r$ blocks)",
                            R"(把 $O$、$dO$、$l$、$m$ 分成 $T_r$ 块)"},
    { 5, 0, LineKind::Step, R"(in HBM: $dQ \leftarrow 0$, $dK \leftarrow 0$, $dV \leftarrow 0$)",
                            R"(HBM 中：$dQ \leftarrow 0$，$dK \leftarrow 0$，$dV \leftarrow 0$)"},
    { 6, 0, LineKind::Loop, R"(for $1 \le j \le T_c$ do)", R"(对 $1 \le j \le T_c$ 循环)"},
    { 7, 1, LineKind::Step, R"(load $K_j$, $V_j$ from HBM to SRAM)", R"(把 $K_j$、$V_j$ 从 HBM 加载到 SRAM)"},
    { 8, 1, LineKind::Step, R"(on chip: $dK_j \leftarrow 0$, $dV_j \leftarrow 0$)",
                            R"(片上：$dK_j \leftarrow 0$，$dV_j \leftarrow 0$)"},
    { 9, 1, LineKind::Loop, R"(for $1 \le i \le T_r$ do)", R"(对 $1 \le i \le T_r$ 循环)"},
    {10, 2, LineKind::Step, R"(load $Q_i$, $O_i$, $dO_i$, $dQ_i$, $l_i$, $m_i$ from HBM to SRAM)",
                            R"(把 $Q_i$、$O_i$、$dO_i$、$dQ_i$、$l_i$、$m_i$ 从 HBM 加载到 SRAM)"},
    {11, 2, LineKind::Step, R"($S_{ij} \leftarrow \tau Q_i K_j^\top$)"},
    {12, 2, LineKind::Step, R"($S_{ij} \leftarrow \mathrm{mask}(S_{ij})$)"},
    {13, 2, LineKind::Step, R"($P_{ij} \leftarrow \mathrm{diag}(l_i)^{-1} e^{S_{ij} - m_i}$)"},
    {14, 2, LineKind::Text, R"(dropout mask $Z_{ij}$: none here)", R"(dropout 掩码 $Z_{ij}$：这里不用)"},
    {15, 2, LineKind::Text, R"(dropped $P_{ij}$: the same)", R"(丢弃后的 $P_{ij}$：不变)"},
    {16, 2, LineKind::Step, R"($dV_j \leftarrow dV_j + P_{ij}^\top dO_i$)"},
    {17, 2, LineKind::Step, R"($dP_{ij} \leftarrow dO_i V_j^\top$)"},
    {18, 2, LineKind::Text, R"(dropped $dP_{ij}$: the same)", R"(丢弃后的 $dP_{ij}$：不变)"},
    {19, 2, LineKind::Step, R"($D_i \leftarrow \mathrm{rowsum}(dO_i \circ O_i)$)"},
    {20, 2, LineKind::Step, R"($dS_{ij} \leftarrow P_{ij} \circ (dP_{ij} - D_i)$)"},
    {21, 2, LineKind::Step, R"(write $dQ_i \leftarrow dQ_i + \tau dS_{ij} K_j$ to HBM)",
                            R"(把 $dQ_i \leftarrow dQ_i + \tau dS_{ij} K_j$ 写入 HBM)"},
    {22, 2, LineKind::Step, R"($dK_j \leftarrow dK_j + \tau dS_{ij}^\top Q_i$)"},
    {23, 1, LineKind::Text, R"(end for)", R"(循环结束)"},
    {24, 1, LineKind::Step, R"(write $dK_j$, $dV_j$ to HBM)", R"(把 $dK_j$、$dV_j$ 写入 HBM)"},
    {25, 0, LineKind::Text, R"(end for)", R"(循环结束)"},
    {26, 0, LineKind::Text, R"(return $dQ$, $dK$, $dV$)", R"(返回 $dQ$、$dK$、$dV$)"},
};

void run(Machine& machine, const Problem& p) {
    At at{machine};
    Hbm Q{machine, "Q", Shape{p.n, p.d}, p.br, Role::Input}, O{machine, "O", Shape{p.n, p.dv}, p.br, Role::Input};
    Hbm K{machine, "K", Shape{p.nk, p.d}, p.bc, Role::Input, PerHead::KeyValue};
    Hbm V{machine, "V", Shape{p.nk, p.dv}, p.bc, Role::Input, PerHead::KeyValue};
    Hbm dO{machine, "dO", Gradient, Shape{p.n, p.dv}, p.br, Role::Input};
    Hbm l{machine, "l", Sum, Shape{p.n, 1}, p.br, Role::Input}, m{machine, "m", Maximum, Shape{p.n, 1}, p.br, Role::Input};
    Hbm dQ{machine, "dQ", Gradient, Shape{p.n, p.d}, p.br, Role::Output};
    Hbm dK{machine, "dK", Gradient, Shape{p.nk, p.d}, p.bc, Role::Output, PerHead::KeyValue};
    Hbm dV{machine, "dV", Gradient, Shape{p.nk, p.dv}, p.bc, Role::Output, PerHead::KeyValue};

    at( 5);  dQ.init(0);  dK.init_for_group(0);  dV.init_for_group(0);
    for (int j : at.loop_j(6, K.blocks())) {
        Sram K_j{machine, "K_j"}, V_j{machine, "V_j"}, dK_j{machine, "dK_j", Gradient}, dV_j{machine, "dV_j", Gradient};
        at( 7);  K_j = K.load(j);  V_j = V.load(j);
        at( 8);  dK_j = zeros(machine, K_j.shape());  dV_j = zeros(machine, V_j.shape());
        for (int i : at.loop_i(9, p.first_visible_row_block(j), Q.blocks())) {
            Sram Q_i{machine, "Q_i"}, O_i{machine, "O_i"}, dO_i{machine, "dO_i", Gradient}, dQ_i{machine, "dQ_i", Gradient}, l_i{machine, "l_i", Sum}, m_i{machine, "m_i", Maximum},
                 S_ij{machine, "S_ij", Scores}, P_ij{machine, "P_ij", Weights}, dP_ij{machine, "dP_ij", Gradient}, dS_ij{machine, "dS_ij", Gradient}, D_i{machine, "D_i", RowDot};
            at(10);  Q_i = Q.load(i);  O_i = O.load(i);  dO_i = dO.load(i);  dQ_i = dQ.load(i);  l_i = l.load(i);  m_i = m.load(i);
            at(11);  S_ij = p.scale * (Q_i * T(K_j));
            at(12);  S_ij = mask(S_ij, i, j);
            at(13);  P_ij = inv(diag(l_i)) * exp_diff(S_ij, m_i);
            at(16);  dV_j = dV_j + T(P_ij) * dO_i;
            at(17);  dP_ij = dO_i * T(V_j);
            at(19);  D_i = rowsum(hadamard(dO_i, O_i));
            at(20);  dS_ij = hadamard(P_ij, dP_ij - D_i);
            at(21);  dQ_i = dQ_i + p.scale * (dS_ij * K_j);  dQ.store(i, dQ_i);
            at(22);  dK_j = dK_j + p.scale * (T(dS_ij) * Q_i);
        }
        at(24);  dK.store_or_add_in_group(j, dK_j);  dV.store_or_add_in_group(j, dV_j);
    }
}
// clang-format on

// 7 N d + T_c (5 N d + 2 N) elements per head without a mask, of which 3 N d initialisation.
ClosedForm closed_form(const Problem& p) {
    ClosedForm form;
    const std::int64_t heads = p.total_heads(), bytes = element_bytes(p.dtype), n = p.n, nk = p.nk, d = p.d, dv = p.dv;
    const std::int64_t kv_heads = std::int64_t{p.batch} * p.kv_heads, adding = heads - kv_heads;
    form.hbm["dQ"] = {.read = 0, .write = heads * bytes * n * d, .init = heads * bytes * n * d};
    form.hbm["dK"] = {.read = adding * bytes * nk * d,
                      .write = (heads + kv_heads) * bytes * nk * d,
                      .init = kv_heads * bytes * nk * d};
    form.hbm["dV"] = {.read = adding * bytes * nk * dv,
                      .write = (heads + kv_heads) * bytes * nk * dv,
                      .init = kv_heads * bytes * nk * dv};
    form.hbm["K"].read = heads * bytes * nk * d;
    form.hbm["V"].read = heads * bytes * nk * dv;
    form.flops_other = adding * nk * (d + dv);
    for (int j = 0; j < p.col_blocks(); ++j) {
        const std::int64_t first = p.first_visible_row_block(j), rows = std::max<std::int64_t>(n - first * p.br, 0);
        const std::int64_t tiles = p.row_blocks() - first, keys = std::min(p.bc, p.nk - j * p.bc);
        form.hbm["Q"].read += heads * bytes * rows * d;
        form.hbm["O"].read += heads * bytes * rows * dv;
        form.hbm["dO"].read += heads * bytes * rows * dv;
        form.hbm["dQ"].read += heads * bytes * rows * d;
        form.hbm["dQ"].write += heads * bytes * rows * d;
        form.hbm["l"].read += heads * 4 * rows;
        form.hbm["m"].read += heads * 4 * rows;
        form.flops_matmul += heads * 2 * rows * keys * (3 * d + 2 * dv);
        // scale, subtract, exp, divide by l, subtract D, times P per score; inverse; D; dQ; dK and dV per tile
        form.flops_other += heads * (rows * (6 * keys + 1 + 2 * dv + 2 * d) + tiles * keys * (2 * d + dv));
        form.flops_exp += heads * rows * keys;
    }
    return form;
}

// One thread block for each (batch, head).
constexpr Launch kLaunches[] = {{"dQ, dK, dV", BlockPer::Head}};

}  // namespace

struct Fa1Backward {
    static constexpr Algorithm row{
        .id = "fa1_backward",
        .title = {"FlashAttention-1 backward", "FlashAttention-1 反向传播"},
        .source = "FlashAttention, Algorithm 4",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .mask_tiles = MaskTiles::Blocks,
        .forward = "fa1_forward",
        .yardstick = "standard_backward",
        .launches = kLaunches,
    };
};
template const Algorithm& row_of<Fa1Backward>();

}  // namespace flashstep
