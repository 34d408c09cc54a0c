// One thread block of FlashAttention-2 whose four warps split the rows of Q_i ("split-Q"; Dao 2023, section 3.3, figure
// 3 right). Warps share K_j and V_j and never exchange a result. Same tiles and same order as warps_split_k.
#include "core/algorithms/bodies.h"
#include "core/algorithms/warps.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    { 1, 0, LineKind::Text, R"(four warps; warp $w$ takes a quarter of the rows of $Q_i$; SRAM is shared, $Q_w$, $S_w$, $\tilde{P}_w$, $\tilde{O}_w$, $m_w$, $l_w$ are in registers)",
                            R"(共四个 warp，warp $w$ 负责 $Q_i$ 四分之一的行；SRAM 由各 warp 共享，$Q_w$、$S_w$、$\tilde{P}_w$、$\tilde{O}_w$、$m_w$、$l_w$ 放在寄存器里)"},
    { 2, 0, LineKind::Loop, R"(for $1 \le i \le T_r$ do)", R"(对 $1 \le i \le T_r$ 循环)"},
    { 3, 1, LineKind::Step, R"(load $Q_i$ from HBM to SRAM)", R"(把 $Q_i$ 从 HBM 加载到 SRAM)"},
    { 4, 1, LineKind::Step, R"(barrier: all of $Q_i$ is there)", R"(barrier：$Q_i$ 已全部就位)"},
    { 5, 1, LineKind::Loop, R"(each warp $w$:)", R"(每个 warp $w$：)"},
    { 6, 2, LineKind::Step, R"($Q_w \leftarrow$ its rows of $Q_i$, $\tilde{O}_w \leftarrow 0$, $l_w \leftarrow 0$, $m_w \leftarrow -\infty$)",
                            R"($Q_w \leftarrow$ $Q_i$ 中归它的行，$\tilde{O}_w \leftarrow 0$，$l_w \leftarrow 0$，$m_w \leftarrow -\infty$)"},
    { 7, 1, LineKind::Loop, R"(for $1 \le j \le T_c$ do)", R"(对 $1 \le j \le T_c$ 循环)"},
    { 8, 2, LineKind::Step, R"(load $K_j$, $V_j$ from HBM to SRAM)", R"(把 $K_j$、$V_j$ 从 HBM 加载到 SRAM)"},
    { 9, 2, LineKind::Step, R"(barrier: all of $K_j$, $V_j$ is there)", R"(barrier：$K_j$、$V_j$ 已全部就位)"},
    {10, 2, LineKind::Loop, R"(each warp $w$:)", R"(每个 warp $w$：)"},
    {11, 3, LineKind::Step, R"($S_w \leftarrow \tau Q_w K_j^\top$)"},
    {12, 3, LineKind::Step, R"($m_w \leftarrow \max(m_{old}, \mathrm{rowmax}(S_w))$, $\tilde{P}_w \leftarrow e^{S_w - m_w}$, $l_w \leftarrow e^{m_{old} - m_w} l_w + \mathrm{rowsum}(\tilde{P}_w)$)"},
    {13, 3, LineKind::Step, R"($\tilde{O}_w \leftarrow \mathrm{diag}(e^{m_{old} - m_w}) \tilde{O}_w + \tilde{P}_w V_j$)"},
    {14, 2, LineKind::Step, R"(barrier: nobody reads $K_j$, $V_j$ any more)",
                            R"(barrier：$K_j$、$V_j$ 不再有 warp 要读)"},
    {15, 1, LineKind::Loop, R"(each warp $w$:)", R"(每个 warp $w$：)"},
    {16, 2, LineKind::Step, R"($\tilde{O}_w \leftarrow \mathrm{diag}(l_w)^{-1} \tilde{O}_w$, $L_w \leftarrow m_w + \log(l_w)$; these are its rows of $O_i$, $L_i$)",
                            R"($\tilde{O}_w \leftarrow \mathrm{diag}(l_w)^{-1} \tilde{O}_w$，$L_w \leftarrow m_w + \log(l_w)$；这就是 $O_i$、$L_i$ 中归它的行)"},
    {17, 1, LineKind::Step, R"(write $O_i$, $L_i$ to HBM)", R"(把 $O_i$、$L_i$ 写入 HBM)"},
    {18, 0, LineKind::Text, R"(end for)", R"(循环结束)"},
};

constexpr const char *kQ[] = {"Q_w1", "Q_w2", "Q_w3", "Q_w4"}, *kO[] = {"O_w1", "O_w2", "O_w3", "O_w4"},
                     *kL[] = {"l_w1", "l_w2", "l_w3", "l_w4"}, *kM[] = {"m_w1", "m_w2", "m_w3", "m_w4"};

struct Warp {
    Registers Q_w, O_w, l_w, m_w;
    Warp(Machine& m, int w) : Q_w{m, kQ[w]}, O_w{m, kO[w]}, l_w{m, kL[w], Sum}, m_w{m, kM[w], Maximum} {}
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
        Registers O_i{m, "O_i"}, L_i{m, "L_i", LogSum};
        Warp warps[kWarps] = {{m, 0}, {m, 1}, {m, 2}, {m, 3}};
        at( 3);  Q_i = Q.load(i);
        const int working = warps_at_work(p.br, Q_i.shape().rows);
        at( 4);  barrier(m);
        for (int w : at.loop_w(5, working)) {
            auto& [Q_w, O_w, l_w, m_w] = warps[w];
            const auto [first, count] = share(w, p.br, Q_i.shape().rows);
            at( 6);  Q_w = Q_i.rows(first, count);  O_w = zeros(m, Shape{count, p.dv});  l_w = zeros(m, rows(Q_w));  m_w = fill(m, rows(Q_w), -kInf);
        }
        for (int j : at.loop_j(7, p.visible_blocks(i))) {
            Sram K_j{m, "K_j"}, V_j{m, "V_j"};
            at( 8);  K_j = K.load(j);  V_j = V.load(j);
            at( 9);  barrier(m);
            for (int w : at.loop_w(10, working)) {
                auto& [Q_w, O_w, l_w, m_w] = warps[w];
                const Part part{share(w, p.br, Q_i.shape().rows).first, Q_w.shape().rows, 0, K_j.shape().rows};
                Registers S_w{m, "S_w", Scores}, P_w{m, "P_w", Weights}, m_old{m, "m_old", Maximum};
                at(11);  S_w = mask(p.scale * (Q_w * T(K_j)), i, j, part);
                at(12);  m_old = m_w;  m_w = max(m_old, rowmax(S_w));  P_w = exp_diff(S_w, m_w);
                         l_w = diag(rescale(m_old, m_w)) * l_w + rowsum(P_w);
                at(13);  O_w = diag(rescale(m_old, m_w)) * O_w + P_w * V_j;
            }
            at(14);  barrier(m);
        }
        for (int w : at.loop_w(15, working)) {
            auto& [Q_w, O_w, l_w, m_w] = warps[w];
            Registers L_w{m, "L_w", LogSum};
            at(16);  O_w = inv(diag(l_w)) * O_w;  L_w = m_w + log(l_w);
                     O_i = w == 0 ? static_cast<Value>(O_w) : stack(O_i, O_w);  L_i = w == 0 ? static_cast<Value>(L_w) : stack(L_i, L_w);
        }
        at(17);  O.store(i, O_i);  L.store(i, L_i);
    }
}
// clang-format on

// HBM, FLOPs: as fa2_forward. SRAM: each warp reads its rows of Q_i once, and all of K_j and V_j for every tile.
ClosedForm closed_form(const Problem& p) {
    ClosedForm form = find_algorithm("fa2_forward")->closed_form(p);
    const std::int64_t heads = p.total_heads(), bytes = element_bytes(p.dtype);
    form.sram_write = form.sram_read = heads * bytes * p.n * p.d;
    for (int i = 0; i < p.row_blocks(); ++i) {
        const std::int64_t tiles = p.visible_blocks(i), keys = std::min<std::int64_t>(tiles * p.bc, p.nk);
        const int rows = std::min(p.br, p.n - i * p.br);
        form.sram_write += heads * bytes * keys * (p.d + p.dv);
        form.sram_read += heads * bytes * keys * (p.d + p.dv) * warps_at_work(p.br, rows);
        form.barriers += heads * (1 + 2 * tiles);
    }
    form.counts_sram = true;
    return form;
}

constexpr Launch kLaunches[] = {{"O, L", BlockPer::RowBlock}};

}  // namespace

struct WarpsSplitQ {
    static constexpr Algorithm row{
        .id = "warps_split_q",
        .title = {"One thread block: four warps split Q", "单个线程块：四个 warp 切分 Q"},
        .source = "FlashAttention-2, section 3.3, figure 3",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .mask_tiles = MaskTiles::WarpRows,
        .yardstick = "standard_attention",
        .launches = kLaunches,
        .warps = kWarps,
    };
};
template const Algorithm& row_of<WarpsSplitQ>();

}  // namespace flashstep
