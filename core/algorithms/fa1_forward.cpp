// FlashAttention, Algorithm 1: forward pass with K, V outermost (Dao et al. 2022, section 3.1). O is kept normalised,
// and O, l, m go through HBM at every (i, j).
#include "core/algorithms/bodies.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    { 1, 0, LineKind::Text, R"(set block sizes $B_c$, $B_r$)", R"(设定分块大小 $B_c$、$B_r$)"},
    { 2, 0, LineKind::Step, R"(in HBM: $O \leftarrow 0$, $l \leftarrow 0$, $m \leftarrow -\infty$)",
                            R"(HBM 中：$O \leftarrow 0$，$l \leftarrow 0$，$m \leftarrow -\infty$)"},
    { 3, 0, LineKind::Text, R"(divide $Q$ into $T_r$ blocks, $K$ and $V$ into $T_c$ blocks)",
                            R"(把 $Q$ 分成 $T_r$ 块，$K$、$V$ 分成 $T_c$ 块)"},
    { 4, 0, LineKind::Text, R"(divide $O$, $l$, $m$ into $T_r$ blocks)", R"(把 $O$、$l$、$m$ 分成 $T_r$ 块)"},
    { 5, 0, LineKind::Loop, R"(for $1 \le j \le T_c$ do)", R"(对 $1 \le j \le T_c$ 循环)"},
    { 6, 1, LineKind::Step, R"(load $K_j$, $V_j$ from HBM to SRAM)", R"(把 $K_j$、$V_j$ 从 HBM 加载到 SRAM)"},
    { 7, 1, LineKind::Loop, R"(for $1 \le i \le T_r$ do)", R"(对 $1 \le i \le T_r$ 循环)"},
    { 8, 2, LineKind::Step, R"(load $Q_i$, $O_i$, $l_i$, $m_i$ from HBM to SRAM)",
                            R"(把 $Q_i$、$O_i$、$l_i$、$m_i$ 从 HBM 加载到 SRAM)"},
    { 9, 2, LineKind::Step, R"($S_{ij} \leftarrow \tau Q_i K_j^\top$)"},
    {10, 2, LineKind::Step, R"($\tilde{m}_{ij} \leftarrow \mathrm{rowmax}(S_{ij})$, $\tilde{P}_{ij} \leftarrow e^{S_{ij} - \tilde{m}_{ij}}$, $\tilde{l}_{ij} \leftarrow \mathrm{rowsum}(\tilde{P}_{ij})$)"},
    {11, 2, LineKind::Step, R"($m_{new} \leftarrow \max(m_i, \tilde{m}_{ij})$, $l_{new} \leftarrow e^{m_i - m_{new}} l_i + e^{\tilde{m}_{ij} - m_{new}} \tilde{l}_{ij}$)"},
    {12, 2, LineKind::Step, R"(write $O_i \leftarrow \mathrm{diag}(l_{new})^{-1} (\mathrm{diag}(l_i) e^{m_i - m_{new}} O_i + e^{\tilde{m}_{ij} - m_{new}} \tilde{P}_{ij} V_j)$ to HBM)",
                            R"(把 $O_i \leftarrow \mathrm{diag}(l_{new})^{-1} (\mathrm{diag}(l_i) e^{m_i - m_{new}} O_i + e^{\tilde{m}_{ij} - m_{new}} \tilde{P}_{ij} V_j)$ 写入 HBM)"},
    {13, 2, LineKind::Step, R"(write $l_i \leftarrow l_{new}$, $m_i \leftarrow m_{new}$ to HBM)",
                            R"(把 $l_i \leftarrow l_{new}$、$m_i \leftarrow m_{new}$ 写入 HBM)"},
    {14, 1, LineKind::Text, R"(end for)", R"(循环结束)"},
    {15, 0, LineKind::Text, R"(end for)", R"(循环结束)"},
    {16, 0, LineKind::Text, R"(return $O$)", R"(返回 $O$)"},
};

void run(Machine& machine, const Problem& p) {
    At at{machine};
    Hbm Q{machine, "Q", Shape{p.n, p.d}, p.br, Role::Input};
    Hbm K{machine, "K", Shape{p.nk, p.d}, p.bc, Role::Input, PerHead::KeyValue};
    Hbm V{machine, "V", Shape{p.nk, p.dv}, p.bc, Role::Input, PerHead::KeyValue};
    Hbm O{machine, "O", Shape{p.n, p.dv}, p.br, Role::Output};
    Hbm l{machine, "l", Sum, Shape{p.n, 1}, p.br, Role::Extra}, m{machine, "m", Maximum, Shape{p.n, 1}, p.br, Role::Extra};

    at( 2);  O.init(0);  l.init(0);  m.init(-kInf);
    for (int j : at.loop_j(5, K.blocks())) {
        Sram K_j{machine, "K_j"}, V_j{machine, "V_j"};
        at( 6);  K_j = K.load(j);  V_j = V.load(j);
        for (int i : at.loop_i(7, p.first_visible_row_block(j), Q.blocks())) {
            Sram Q_i{machine, "Q_i"}, O_i{machine, "O_i"}, l_i{machine, "l_i", Sum}, m_i{machine, "m_i", Maximum}, S_ij{machine, "S_ij", Scores},
                 m_ij{machine, "m_ij", Maximum}, P_ij{machine, "P_ij", Weights}, l_ij{machine, "l_ij", Sum}, m_new{machine, "m_new", Maximum}, l_new{machine, "l_new", Sum};
            at( 8);  Q_i = Q.load(i);  O_i = O.load(i);  l_i = l.load(i);  m_i = m.load(i);
            at( 9);  S_ij = mask(p.scale * (Q_i * T(K_j)), i, j);
            at(10);  m_ij = rowmax(S_ij);  P_ij = exp_diff(S_ij, m_ij);  l_ij = rowsum(P_ij);
            at(11);  m_new = max(m_i, m_ij);  l_new = diag(rescale(m_i, m_new)) * l_i + diag(rescale(m_ij, m_new)) * l_ij;
            at(12);  O_i = inv(diag(l_new)) * (diag(l_i) * (diag(rescale(m_i, m_new)) * O_i) + diag(rescale(m_ij, m_new)) * (P_ij * V_j));
                     O.store(i, O_i);
            at(13);  l.store(i, l_new);  m.store(i, m_new);
        }
    }
}
// clang-format on

// (3 + 3 T_c) N d + (2 + 4 T_c) N elements per head without a mask, of which N d + 2 N initialisation.
ClosedForm closed_form(const Problem& p) {
    ClosedForm form;
    const std::int64_t heads = p.total_heads(), bytes = element_bytes(p.dtype), n = p.n, nk = p.nk, d = p.d, dv = p.dv;
    form.hbm["O"] = {.read = 0, .write = heads * bytes * n * dv, .init = heads * bytes * n * dv};
    form.hbm["l"] = form.hbm["m"] = {.read = 0, .write = heads * 4 * n, .init = heads * 4 * n};
    form.hbm["K"].read = heads * bytes * nk * d;
    form.hbm["V"].read = heads * bytes * nk * dv;
    for (int j = 0; j < p.col_blocks(); ++j) {
        const std::int64_t rows = std::max(p.n - p.first_visible_row_block(j) * p.br, 0),
                           keys = std::min(p.bc, p.nk - j * p.bc);
        form.hbm["Q"].read += heads * bytes * rows * d;
        form.hbm["O"].read += heads * bytes * rows * dv;
        form.hbm["O"].write += heads * bytes * rows * dv;
        for (const char* statistic : {"l", "m"}) {
            form.hbm[statistic].read += heads * 4 * rows;
            form.hbm[statistic].write += heads * 4 * rows;
        }
        form.flops_matmul += heads * 2 * rows * keys * (d + dv);
        // scale, rowmax, subtract, exp, rowsum per score; max, two rescalings and l_new; inverse, two rescalings and
        // O_i
        form.flops_other += heads * rows * (5 * keys + 1 + 4 + 3 + 1 + 4 + 5 * dv);
        form.flops_exp += heads * rows * (keys + 4);
    }
    return form;
}

// One thread block for each (batch, head): FlashAttention-2 is the first that cuts finer (Dao 2023, section 3.2).
constexpr Launch kLaunches[] = {{"O, l, m", BlockPer::Head}};

}  // namespace

struct Fa1Forward {
    static constexpr Algorithm row{
        .id = "fa1_forward",
        .title = {"FlashAttention-1 forward", "FlashAttention-1 前向传播"},
        .source = "FlashAttention, Algorithm 1",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .mask_tiles = MaskTiles::Blocks,
        .yardstick = "standard_attention",
        .launches = kLaunches,
    };
};
template const Algorithm& row_of<Fa1Forward>();

}  // namespace flashstep
