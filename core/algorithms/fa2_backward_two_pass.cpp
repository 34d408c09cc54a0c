// FlashAttention-2 backward in two passes: dQ row block by row block, then dK and dV column block by column block. No
// atomic adds, so that the result is the same every time; S and dP are computed twice (7 matmuls instead of 5).
#include "core/algorithms/bodies.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    { 1, 0, LineKind::Loop, R"(for $1 \le i \le T_r$: $D_i \leftarrow \mathrm{rowsum}(dO_i \circ O_i)$, write $D_i$ to HBM)",
                            R"(对 $1 \le i \le T_r$ 循环：$D_i \leftarrow \mathrm{rowsum}(dO_i \circ O_i)$，把 $D_i$ 写入 HBM)"},
    { 2, 0, LineKind::Loop, R"(for $1 \le i \le T_r$ do (first pass: $dQ$))",
                            R"(对 $1 \le i \le T_r$ 循环（第一趟：$dQ$）)"},
    { 3, 1, LineKind::Step, R"(load $Q_i$, $dO_i$, $L_i$, $D_i$; $dQ_i \leftarrow 0$)",
                            R"(加载 $Q_i$、$dO_i$、$L_i$、$D_i$；$dQ_i \leftarrow 0$)"},
    { 4, 1, LineKind::Loop, R"(for $1 \le j \le T_c$ do)", R"(对 $1 \le j \le T_c$ 循环)"},
    { 5, 2, LineKind::Step, R"(load $K_j$, $V_j$)", R"(加载 $K_j$、$V_j$)"},
    { 6, 2, LineKind::Step, R"($S_{ij} \leftarrow \tau Q_i K_j^\top$, $P_{ij} \leftarrow e^{S_{ij} - L_i}$)"},
    { 7, 2, LineKind::Step, R"($dP_{ij} \leftarrow dO_i V_j^\top$, $dS_{ij} \leftarrow P_{ij} \circ (dP_{ij} - D_i)$)"},
    { 8, 2, LineKind::Step, R"($dQ_i \leftarrow dQ_i + \tau dS_{ij} K_j$)"},
    { 9, 1, LineKind::Step, R"(write $dQ_i$ to HBM)", R"(把 $dQ_i$ 写入 HBM)"},
    {10, 0, LineKind::Loop, R"(for $1 \le j \le T_c$ do (second pass: $dK$, $dV$))",
                            R"(对 $1 \le j \le T_c$ 循环（第二趟：$dK$、$dV$）)"},
    {11, 1, LineKind::Step, R"(load $K_j$, $V_j$; $dK_j \leftarrow 0$, $dV_j \leftarrow 0$)",
                            R"(加载 $K_j$、$V_j$；$dK_j \leftarrow 0$，$dV_j \leftarrow 0$)"},
    {12, 1, LineKind::Loop, R"(for $1 \le i \le T_r$ do)", R"(对 $1 \le i \le T_r$ 循环)"},
    {13, 2, LineKind::Step, R"(load $Q_i$, $dO_i$, $L_i$, $D_i$)", R"(加载 $Q_i$、$dO_i$、$L_i$、$D_i$)"},
    {14, 2, LineKind::Step, R"($S_{ij} \leftarrow \tau Q_i K_j^\top$, $P_{ij} \leftarrow e^{S_{ij} - L_i}$)"},
    {15, 2, LineKind::Step, R"($dV_j \leftarrow dV_j + P_{ij}^\top dO_i$)"},
    {16, 2, LineKind::Step, R"($dP_{ij} \leftarrow dO_i V_j^\top$, $dS_{ij} \leftarrow P_{ij} \circ (dP_{ij} - D_i)$)"},
    {17, 2, LineKind::Step, R"($dK_j \leftarrow dK_j + \tau dS_{ij}^\top Q_i$)"},
    {18, 1, LineKind::Step, R"(write $dK_j$, $dV_j$ to HBM)", R"(把 $dK_j$、$dV_j$ 写入 HBM)"},
    {19, 0, LineKind::Text, R"(return $dQ$, $dK$, $dV$)", R"(返回 $dQ$、$dK$、$dV$)"},
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

    for (int i : at.loop_i(1, Q.blocks())) {
        Sram O_i{m, "O_i"}, dO_i{m, "dO_i", Gradient}, D_i{m, "D_i", RowDot};
        O_i = O.load(i);  dO_i = dO.load(i);  D_i = rowsum(hadamard(dO_i, O_i));  D.store(i, D_i);
    }
    for (int i : at.loop_i(2, Q.blocks())) {
        Sram Q_i{m, "Q_i"}, dO_i{m, "dO_i", Gradient}, L_i{m, "L_i", LogSum}, D_i{m, "D_i", RowDot}, dQ_i{m, "dQ_i", Gradient};
        at( 3);  Q_i = Q.load(i);  dO_i = dO.load(i);  L_i = L.load(i);  D_i = D.load(i);  dQ_i = zeros(m, Q_i.shape());
        for (int j : at.loop_j(4, p.visible_blocks(i))) {
            Sram K_j{m, "K_j"}, V_j{m, "V_j"}, S_ij{m, "S_ij", Scores}, P_ij{m, "P_ij", Weights}, dP_ij{m, "dP_ij", Gradient}, dS_ij{m, "dS_ij", Gradient};
            at( 5);  K_j = K.load(j);  V_j = V.load(j);
            at( 6);  S_ij = mask(p.score_scale() * (Q_i * T(K_j)), i, j);  P_ij = exp_diff(S_ij, in_base(L_i));
            at( 7);  dP_ij = dO_i * T(V_j);  dS_ij = hadamard(P_ij, dP_ij - D_i);
            at( 8);  dQ_i = dQ_i + p.scale * (dS_ij * K_j);
        }
        at( 9);  dQ.store(i, dQ_i);
    }
    for (int j : at.loop_j(10, K.blocks())) {
        Sram K_j{m, "K_j"}, V_j{m, "V_j"}, dK_j{m, "dK_j", Gradient}, dV_j{m, "dV_j", Gradient};
        at(11);  K_j = K.load(j);  V_j = V.load(j);  dK_j = zeros(m, K_j.shape());  dV_j = zeros(m, V_j.shape());
        for (int i : at.loop_i(12, p.first_visible_row_block(j), Q.blocks())) {
            Sram Q_i{m, "Q_i"}, dO_i{m, "dO_i", Gradient}, L_i{m, "L_i", LogSum}, D_i{m, "D_i", RowDot}, S_ij{m, "S_ij", Scores}, P_ij{m, "P_ij", Weights},
                 dP_ij{m, "dP_ij", Gradient}, dS_ij{m, "dS_ij", Gradient};
            at(13);  Q_i = Q.load(i);  dO_i = dO.load(i);  L_i = L.load(i);  D_i = D.load(i);
            at(14);  S_ij = mask(p.score_scale() * (Q_i * T(K_j)), i, j);  P_ij = exp_diff(S_ij, in_base(L_i));
            at(15);  dV_j = dV_j + T(P_ij) * dO_i;
            at(16);  dP_ij = dO_i * T(V_j);  dS_ij = hadamard(P_ij, dP_ij - D_i);
            at(17);  dK_j = dK_j + p.scale * (T(dS_ij) * Q_i);
        }
        at(18);  dK.store_or_add_in_group(j, dK_j);  dV.store_or_add_in_group(j, dV_j);
    }
}
// clang-format on

// (9 + 2 T_r + 2 T_c) N d + (3 + 2 T_c) N elements per head without a mask.
ClosedForm closed_form(const Problem& p) {
    ClosedForm form;
    const std::int64_t heads = p.total_heads(), bytes = element_bytes(p.dtype), n = p.n, nk = p.nk, d = p.d, dv = p.dv;
    const std::int64_t adding = heads - std::int64_t{p.batch} * p.kv_heads;
    form.hbm["O"].read = heads * bytes * n * dv;
    form.hbm["dO"].read = heads * bytes * 2 * n * dv;
    form.hbm["Q"].read = heads * bytes * n * d;
    form.hbm["L"].read = heads * 4 * n;
    form.hbm["D"] = {.read = heads * 4 * n, .write = heads * 4 * n};
    form.hbm["dQ"].write = heads * bytes * n * d;
    form.hbm["dK"] = {.read = adding * bytes * nk * d, .write = heads * bytes * nk * d};
    form.hbm["dV"] = {.read = adding * bytes * nk * dv, .write = heads * bytes * nk * dv};
    form.hbm["K"].read = heads * bytes * nk * d;
    form.hbm["V"].read = heads * bytes * nk * dv;
    form.flops_other = heads * n * 2 * dv + adding * nk * (d + dv);
    for (int i = 0; i < p.row_blocks(); ++i) {
        const std::int64_t tiles = p.visible_blocks(i), keys = std::min<std::int64_t>(tiles * p.bc, p.nk);
        const std::int64_t rows = std::min(p.br, p.n - i * p.br);
        form.hbm["K"].read += heads * bytes * keys * d;
        form.hbm["V"].read += heads * bytes * keys * dv;
        form.flops_matmul += heads * 2 * rows * keys * (2 * d + dv);
        form.flops_other += heads * rows * (5 * keys + tiles * (2 * d + (p.base2 ? 1 : 0)));
        form.flops_exp += heads * rows * keys;
    }
    for (int j = 0; j < p.col_blocks(); ++j) {
        const std::int64_t first = p.first_visible_row_block(j), rows = std::max<std::int64_t>(n - first * p.br, 0);
        const std::int64_t tiles = p.row_blocks() - first, keys = std::min(p.bc, p.nk - j * p.bc);
        form.hbm["Q"].read += heads * bytes * rows * d;
        form.hbm["dO"].read += heads * bytes * rows * dv;
        form.hbm["L"].read += heads * 4 * rows;
        form.hbm["D"].read += heads * 4 * rows;
        form.flops_matmul += heads * 2 * rows * keys * (2 * d + 2 * dv);
        form.flops_other += heads * (rows * (5 * keys + (p.base2 ? 1 : 0)) + tiles * keys * (2 * d + dv));
        form.flops_exp += heads * rows * keys;
    }
    return form;
}

// The pass that forms D from O and dO is left out: a pass over rows, without tiles.
constexpr Launch kLaunches[] = {{"dK, dV", BlockPer::ColumnBlock}, {"dQ", BlockPer::RowBlock}};

}  // namespace

struct Fa2BackwardTwoPass {
    static constexpr Algorithm row{
        .id = "fa2_backward_two_pass",
        .title = {"FlashAttention-2 backward, two passes", "FlashAttention-2 反向传播，两趟"},
        .source = "deterministic form of Algorithm 2",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .mask_tiles = MaskTiles::Blocks,
        .mask_passes = 2,
        .forward = "fa2_forward",
        .yardstick = "standard_backward",
        .launches = kLaunches,
        .base2 = true,
    };
};
template const Algorithm& row_of<Fa2BackwardTwoPass>();

}  // namespace flashstep
