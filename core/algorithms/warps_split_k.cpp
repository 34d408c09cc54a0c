// One thread block whose four warps split the keys of K_j and V_j, as FlashAttention-1 does it ("split-K"; Dao 2023,
// section 3.3, figure 3 left). Every warp has a partial result for all rows of Q_i, so that the four have to meet in
// SRAM. The tiles and their order are those of warps_split_q, so that nothing but the split differs. The first paper's
// code also exchanges the maxima before the exponentials, at the price of one more barrier.
#include "core/algorithms/bodies.h"
#include "core/algorithms/warps.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    { 1, 0, LineKind::Text, R"(four warps; warp $w$ takes a quarter of the keys of $K_j$, $V_j$; SRAM is shared, $S_w$, $\tilde{P}_w$, $\tilde{O}_i$, $m_i$, $l_i$ are in registers)",
                            R"(共四个 warp，warp $w$ 负责 $K_j$、$V_j$ 四分之一的 key；SRAM 由各 warp 共享，$S_w$、$\tilde{P}_w$、$\tilde{O}_i$、$m_i$、$l_i$ 放在寄存器里)"},
    { 2, 0, LineKind::Loop, R"(for $1 \le i \le T_r$ do)", R"(对 $1 \le i \le T_r$ 循环)"},
    { 3, 1, LineKind::Step, R"(load $Q_i$ from HBM to SRAM)", R"(把 $Q_i$ 从 HBM 加载到 SRAM)"},
    { 4, 1, LineKind::Step, R"($\tilde{O}_i \leftarrow 0$, $l_i \leftarrow 0$, $m_i \leftarrow -\infty$; each warp keeps a quarter of the rows)",
                            R"($\tilde{O}_i \leftarrow 0$，$l_i \leftarrow 0$，$m_i \leftarrow -\infty$；每个 warp 保存四分之一的行)"},
    { 5, 1, LineKind::Loop, R"(for $1 \le j \le T_c$ do)", R"(对 $1 \le j \le T_c$ 循环)"},
    { 6, 2, LineKind::Step, R"(load $K_j$, $V_j$ from HBM to SRAM)", R"(把 $K_j$、$V_j$ 从 HBM 加载到 SRAM)"},
    { 7, 2, LineKind::Step, R"(barrier: all of $Q_i$, $K_j$, $V_j$ is there)",
                            R"(barrier：$Q_i$、$K_j$、$V_j$ 已全部就位)"},
    { 8, 2, LineKind::Loop, R"(each warp $w$:)", R"(每个 warp $w$：)"},
    { 9, 3, LineKind::Step, R"($S_w \leftarrow \tau Q_i K_w^\top$ with its rows $K_w$ of $K_j$)",
                            R"($S_w \leftarrow \tau Q_i K_w^\top$，$K_w$ 是 $K_j$ 中归它的行)"},
    {10, 3, LineKind::Step, R"($m_w \leftarrow \mathrm{rowmax}(S_w)$, $\tilde{P}_w \leftarrow e^{S_w - m_w}$, $l_w \leftarrow \mathrm{rowsum}(\tilde{P}_w)$; write $m_w$, $l_w$ to SRAM)",
                            R"($m_w \leftarrow \mathrm{rowmax}(S_w)$，$\tilde{P}_w \leftarrow e^{S_w - m_w}$，$l_w \leftarrow \mathrm{rowsum}(\tilde{P}_w)$；把 $m_w$、$l_w$ 写入 SRAM)"},
    {11, 3, LineKind::Step, R"($\tilde{O}_w \leftarrow \tilde{P}_w V_w$ with its rows $V_w$ of $V_j$; write $\tilde{O}_w$ to SRAM)",
                            R"($\tilde{O}_w \leftarrow \tilde{P}_w V_w$，$V_w$ 是 $V_j$ 中归它的行；把 $\tilde{O}_w$ 写入 SRAM)"},
    {12, 2, LineKind::Step, R"(barrier: all partial results are there)", R"(barrier：所有部分结果都已写好)"},
    {13, 2, LineKind::Step, R"($m_i \leftarrow \max(m_{old}, \max_w m_w)$, $l_i \leftarrow e^{m_{old} - m_i} l_i + \sum_w e^{m_w - m_i} l_w$)"},
    {14, 2, LineKind::Step, R"($\tilde{O}_i \leftarrow \mathrm{diag}(e^{m_{old} - m_i}) \tilde{O}_i + \sum_w \mathrm{diag}(e^{m_w - m_i}) \tilde{O}_w$)"},
    {15, 2, LineKind::Step, R"(barrier: nobody reads these tiles any more)", R"(barrier：这些 tile 不再有 warp 要读)"},
    {16, 1, LineKind::Step, R"($O_i \leftarrow \mathrm{diag}(l_i)^{-1} \tilde{O}_i$, $L_i \leftarrow m_i + \log(l_i)$)"},
    {17, 1, LineKind::Step, R"(write $O_i$, $L_i$ to HBM)", R"(把 $O_i$、$L_i$ 写入 HBM)"},
    {18, 0, LineKind::Text, R"(end for)", R"(循环结束)"},
};

constexpr const char *kO[] = {"O_w1", "O_w2", "O_w3", "O_w4"}, *kL[] = {"l_w1", "l_w2", "l_w3", "l_w4"},
                     *kM[] = {"m_w1", "m_w2", "m_w3", "m_w4"};

// What a warp leaves in SRAM for the others.
struct Partial {
    Sram O_w, l_w, m_w;
    Partial(Machine& m, int w) : O_w{m, kO[w]}, l_w{m, kL[w], Sum}, m_w{m, kM[w], Maximum} {}
};

void run(Machine& m, const Problem& p) {
    At at{m};
    Hbm Q{m, "Q", Shape{p.n, p.d}, p.br, Role::Input};
    Hbm K{m, "K", Shape{p.nk, p.d}, p.bc, Role::Input, PerHead::KeyValue};
    Hbm V{m, "V", Shape{p.nk, p.dv}, p.bc, Role::Input, PerHead::KeyValue};
    Hbm O{m, "O", Shape{p.n, p.dv}, p.br, Role::Output};
    Hbm L{m, "L", LogSum, Shape{p.n, 1}, p.br, Role::Extra};

    for (int i : at.loop_i(2, Q.blocks())) {
        Sram Q_i{m, "Q_i"};
        Registers O_i{m, "O_i"}, l_i{m, "l_i", Sum}, m_i{m, "m_i", Maximum}, L_i{m, "L_i", LogSum};
        at( 3);  Q_i = Q.load(i);
        at( 4);  O_i = zeros(m, Shape{rows(Q_i).rows, p.dv});  l_i = zeros(m, rows(Q_i));  m_i = fill(m, rows(Q_i), -kInf);
        for (int j : at.loop_j(5, p.visible_blocks(i))) {
            Sram K_j{m, "K_j"}, V_j{m, "V_j"};
            Partial of_warp[kWarps] = {{m, 0}, {m, 1}, {m, 2}, {m, 3}};
            Registers m_old{m, "m_old", Maximum};
            at( 6);  K_j = K.load(j);  V_j = V.load(j);
            const int keys = K_j.shape().rows, working = warps_at_work(p.bc, keys);
            at( 7);  barrier(m);
            for (int w : at.loop_w(8, working)) {
                auto& [O_w, l_w, m_w] = of_warp[w];
                const auto [first, count] = share(w, p.bc, keys);
                Registers S_w{m, "S_w", Scores}, P_w{m, "P_w", Weights}, max_w{m, "max_w", Maximum};
                at( 9);  S_w = mask(p.scale * (Q_i * T(K_j.rows(first, count))), i, j, Part{0, rows(Q_i).rows, first, count});
                at(10);  max_w = rowmax(S_w);  P_w = exp_diff(S_w, max_w);  m_w = max_w;  l_w = rowsum(P_w);
                at(11);  O_w = P_w * V_j.rows(first, count);
            }
            at(12);  barrier(m);
            at(13);  m_old = m_i;
                     for (int w = 0; w < working; ++w) m_i = max(m_i, of_warp[w].m_w);
                     l_i = diag(rescale(m_old, m_i)) * l_i;
                     for (int w = 0; w < working; ++w) l_i = l_i + diag(rescale(of_warp[w].m_w, m_i)) * of_warp[w].l_w;
            at(14);  O_i = diag(rescale(m_old, m_i)) * O_i;
                     for (int w = 0; w < working; ++w) O_i = O_i + diag(rescale(of_warp[w].m_w, m_i)) * of_warp[w].O_w;
            at(15);  barrier(m);
        }
        at(16);  O_i = inv(diag(l_i)) * O_i;  L_i = m_i + log(l_i);
        at(17);  O.store(i, O_i);  L.store(i, L_i);
    }
}
// clang-format on

// HBM: as fa2_forward. SRAM: every warp reads all of Q_i and its part of K_j and V_j for every tile, and hands its
// partial O (B_r x d_v), l and m on: one write and one read each, two more of m for the rescaling.
ClosedForm closed_form(const Problem& p) {
    ClosedForm form = find_algorithm("fa2_forward")->closed_form(p);
    const std::int64_t heads = p.total_heads(), bytes = element_bytes(p.dtype), d = p.d, dv = p.dv;
    form.flops_other = heads * p.n * (1 + dv + 2);
    form.flops_exp = 0;
    form.sram_write = heads * bytes * p.n * d;
    for (int i = 0; i < p.row_blocks(); ++i) {
        const std::int64_t rows = std::min(p.br, p.n - i * p.br);
        for (int j = 0; j < p.visible_blocks(i); ++j) {
            const std::int64_t keys = std::min(p.bc, p.nk - j * p.bc),
                               warps = warps_at_work(p.bc, static_cast<int>(keys));
            form.sram_write += heads * (bytes * (keys * (d + dv) + warps * rows * dv) + 4 * warps * rows * 2);
            form.sram_read +=
                heads * (bytes * (warps * rows * d + keys * (d + dv) + warps * rows * dv) + 4 * warps * rows * 4);
            form.barriers += heads * 3;
            // scale, rowmax, subtract, exp, rowsum per score; per row and warp: max, two rescalings, l and O scaled and
            // added; per row: two rescalings, l and O scaled
            form.flops_other += heads * rows * (5 * keys + warps * (1 + 4 + 2 + 2 * dv) + 4 + 1 + dv);
            form.flops_exp += heads * rows * (keys + 2 * warps + 2);
        }
    }
    form.counts_sram = true;
    return form;
}

constexpr Launch kLaunches[] = {{"O, L", BlockPer::RowBlock}};

}  // namespace

struct WarpsSplitK {
    static constexpr Algorithm row{
        .id = "warps_split_k",
        .title = {"One thread block: four warps split K and V", "单个线程块：四个 warp 切分 K、V"},
        .source = "FlashAttention-2, section 3.3, figure 3",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .mask_tiles = MaskTiles::Blocks,
        .yardstick = "standard_attention",
        .launches = kLaunches,
        .warps = kWarps,
    };
};
template const Algorithm& row_of<WarpsSplitK>();

}  // namespace flashstep
