// FlashAttention-2, Algorithm 2: backward pass from O and L, with D computed once and dQ by atomic adds (Dao 2023,
// section 3.1.2). The printed reload of O_i and the second load of dQ_i are left out: D already holds what O_i is for.
#include "core/algorithms/bodies.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    { 1, 0, LineKind::Text, R"(divide $Q$ into $T_r$ blocks, $K$ and $V$ into $T_c$ blocks)",
                            R"(把 $Q$ 分成 $T_r$ 块，$K$、$V$ 分成 $T_c$ 块)"},
    { 2, 0, LineKind::Text, R"(divide $O$, $dO$, $L$ into $T_r$ blocks)", R"(把 $O$、$dO$、$L$ 分成 $T_r$ 块)"},
    { 3, 0, LineKind::Step, R"(in HBM: $dQ \leftarrow 0$; divide $dQ$, $dK$, $dV$)",
                            R"(HBM 中：$dQ \leftarrow 0$；把 $dQ$、$dK$、$dV$ 分块)"},
    { 4, 0, LineKind::Loop, R"(for $1 \le i \le T_r$: $D_i \leftarrow \mathrm{rowsum}(dO_i \circ O_i)$, write $D_i$ to HBM)",
                            R"(对 $1 \le i \le T_r$ 循环：$D_i \leftarrow \mathrm{rowsum}(dO_i \circ O_i)$，把 $D_i$ 写入 HBM)"},
    { 5, 0, LineKind::Loop, R"(for $1 \le j \le T_c$ do)", R"(对 $1 \le j \le T_c$ 循环)"},
    { 6, 1, LineKind::Step, R"(load $K_j$, $V_j$ from HBM to SRAM)", R"(把 $K_j$、$V_j$ 从 HBM 加载到 SRAM)"},
    { 7, 1, LineKind::Step, R"(on chip: $dK_j \leftarrow 0$, $dV_j \leftarrow 0$)",
                            R"(片上：$dK_j \leftarrow 0$，$dV_j \leftarrow 0$)"},
    { 8, 1, LineKind::Loop, R"(for $1 \le i \le T_r$ do)", R"(对 $1 \le i \le T_r$ 循环)"},
    { 9, 2, LineKind::Step, R"(load $Q_i$, $dO_i$, $L_i$, $D_i$ from HBM to SRAM)",
                            R"(把 $Q_i$、$dO_i$、$L_i$、$D_i$ 从 HBM 加载到 SRAM)"},
    {10, 2, LineKind::Step, R"($S_{ij} \leftarrow \tau Q_i K_j^\top$)"},
    {11, 2, LineKind::Step, R"($P_{ij} \leftarrow e^{S_{ij} - L_i}$)"},
    {12, 2, LineKind::Step, R"($dV_j \leftarrow dV_j + P_{ij}^\top dO_i$)"},
    {13, 2, LineKind::Step, R"($dP_{ij} \leftarrow dO_i V_j^\top$)"},
    {14, 2, LineKind::Step, R"($dS_{ij} \leftarrow P_{ij} \circ (dP_{ij} - D_i)$)"},
    {15, 2, LineKind::Step, R"(in HBM, by atomic adds: $dQ_i \leftarrow dQ_i + \tau dS_{ij} K_j$)",
                            R"(在 HBM 中用原子加累加：$dQ_i \leftarrow dQ_i + \tau dS_{ij} K_j$)"},
    {16, 2, LineKind::Step, R"($dK_j \leftarrow dK_j + \tau dS_{ij}^\top Q_i$)"},
    {17, 1, LineKind::Text, R"(end for)", R"(循环结束)"},
    {18, 1, LineKind::Step, R"(write $dK_j$, $dV_j$ to HBM)", R"(把 $dK_j$、$dV_j$ 写入 HBM)"},
    {19, 0, LineKind::Text, R"(end for)", R"(循环结束)"},
    {20, 0, LineKind::Text, R"(return $dQ$, $dK$, $dV$)", R"(返回 $dQ$、$dK$、$dV$)"},
};

void run(Machine& m, const Problem& p) {
    At at{m};
    Hbm Q{m, "Q", Shape{p.n, p.d}, p.br, Role::Input}, O{m, "O", Shape{p.n, p.dv}, p.br, Role::Input};
    Hbm K{m, "K", Shape{p.nk, p.d}, p.bc, Role::Input, PerHead::KeyValue};
    Hbm V{m, "V", Shape{p.nk, p.dv}, p.bc, Role::Input, PerHead::KeyValue};
    Hbm dO{m, "dO", Gradient, Shape{p.n, p.dv}, p.br, Role::Input}, L{m, "L", LogSum, Shape{p.n, 1}, p.br, Role::Input};
    Hbm D{m, "D", RowDot, Shape{p.n, 1}, p.br, Role::Extra};
    Hbm dQ{m, "dQ", Gradient, Shape{p.n, p.d}, p.br, Role::Output};
    Hbm dK{m, "dK", Gradient, Shape{p.nk, p.d}, p.bc, Role::Output, PerHead::KeyValue};
    Hbm dV{m, "dV", Gradient, Shape{p.nk, p.dv}, p.bc, Role::Output, PerHead::KeyValue};

    at( 3);  dQ.init(0);
    for (int i : at.loop_i(4, Q.blocks())) {
        Sram O_i{m, "O_i"}, dO_i{m, "dO_i", Gradient}, D_i{m, "D_i", RowDot};
        O_i = O.load(i);  dO_i = dO.load(i);  D_i = rowsum(hadamard(dO_i, O_i));  D.store(i, D_i);
    }
    for (int j : at.loop_j(5, K.blocks())) {
        Sram K_j{m, "K_j"}, V_j{m, "V_j"}, dK_j{m, "dK_j", Gradient}, dV_j{m, "dV_j", Gradient};
        at( 6);  K_j = K.load(j);  V_j = V.load(j);
        at( 7);  dK_j = zeros(m, K_j.shape());  dV_j = zeros(m, V_j.shape());
        for (int i : at.loop_i(8, p.first_visible_row_block(j), Q.blocks())) {
            Sram Q_i{m, "Q_i"}, dO_i{m, "dO_i", Gradient}, L_i{m, "L_i", LogSum}, D_i{m, "D_i", RowDot}, S_ij{m, "S_ij", Scores}, P_ij{m, "P_ij", Weights},
                 dP_ij{m, "dP_ij", Gradient}, dS_ij{m, "dS_ij", Gradient}, dQ_ij{m, "dQ_ij", Gradient};
            at( 9);  Q_i = Q.load(i);  dO_i = dO.load(i);  L_i = L.load(i);  D_i = D.load(i);
            at(10);  S_ij = mask(p.score_scale() * (Q_i * T(K_j)), i, j);
            at(11);  P_ij = exp_diff(S_ij, in_base(L_i));
            at(12);  dV_j = dV_j + T(P_ij) * dO_i;
            at(13);  dP_ij = dO_i * T(V_j);
            at(14);  dS_ij = hadamard(P_ij, dP_ij - D_i);
            at(15);  dQ_ij = p.scale * (dS_ij * K_j);  dQ.atomic_add(i, dQ_ij);
            at(16);  dK_j = dK_j + p.scale * (T(dS_ij) * Q_i);
        }
        at(18);  dK.store_or_add_in_group(j, dK_j);  dV.store_or_add_in_group(j, dV_j);
    }
}
// clang-format on

// (7 + 4 T_c) N d + (1 + 2 T_c) N elements per head without a mask, of which N d initialisation.
ClosedForm closed_form(const Problem& p) {
    ClosedForm form;
    const std::int64_t heads = p.total_heads(), bytes = element_bytes(p.dtype), n = p.n, nk = p.nk, d = p.d, dv = p.dv;
    const std::int64_t adding = heads - std::int64_t{p.batch} * p.kv_heads;
    form.hbm["O"].read = form.hbm["dO"].read = heads * bytes * n * dv;
    form.hbm["D"].write = heads * 4 * n;
    form.hbm["dQ"] = {.read = 0, .write = heads * bytes * n * d, .init = heads * bytes * n * d};
    form.hbm["dK"] = {.read = adding * bytes * nk * d, .write = heads * bytes * nk * d};
    form.hbm["dV"] = {.read = adding * bytes * nk * dv, .write = heads * bytes * nk * dv};
    form.hbm["K"].read = heads * bytes * nk * d;
    form.hbm["V"].read = heads * bytes * nk * dv;
    form.flops_other = heads * n * 2 * dv + adding * nk * (d + dv);
    for (int j = 0; j < p.col_blocks(); ++j) {
        const std::int64_t first = p.first_visible_row_block(j), rows = std::max<std::int64_t>(n - first * p.br, 0);
        const std::int64_t tiles = p.row_blocks() - first, keys = std::min(p.bc, p.nk - j * p.bc);
        form.hbm["Q"].read += heads * bytes * rows * d;
        form.hbm["dO"].read += heads * bytes * rows * dv;
        form.hbm["L"].read += heads * 4 * rows;
        form.hbm["D"].read += heads * 4 * rows;
        form.hbm["dQ"].read += heads * bytes * rows * d;
        form.hbm["dQ"].write += heads * bytes * rows * d;
        form.flops_matmul += heads * 2 * rows * keys * (3 * d + 2 * dv);
        // scale, subtract, exp, subtract D, times P per score; dQ; dK and dV per tile
        form.flops_other += heads * (rows * (5 * keys + 2 * d + (p.base2 ? 1 : 0)) + tiles * keys * (2 * d + dv));
        form.flops_exp += heads * rows * keys;
    }
    return form;
}

// The pass that forms D from O and dO is left out: a pass over rows, without tiles.
constexpr Launch kLaunches[] = {{"dQ, dK, dV", BlockPer::ColumnBlock}};

}  // namespace

struct Fa2Backward {
    static constexpr Algorithm row{
        .id = "fa2_backward",
        .title = {"FlashAttention-2 backward", "FlashAttention-2 反向传播"},
        .source = "FlashAttention-2, Algorithm 2",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .mask_tiles = MaskTiles::Blocks,
        .forward = "fa2_forward",
        .yardstick = "standard_backward",
        .launches = kLaunches,
        .base2 = true,
    };
};
template const Algorithm& row_of<Fa2Backward>();

}  // namespace flashstep
