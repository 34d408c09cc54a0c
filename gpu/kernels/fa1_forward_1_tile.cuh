// FlashAttention-1 forward (FA1 paper, Algorithm 1, section 3.1), with K and V divided over the warps (FA2 paper,
// section 3.3, "split-K").
//
// The idea: one thread block per (batch, head). K_j, V_j are outermost and stay on chip while all row blocks pass by,
// so O_i, l_i and m_i, of which there is one per row block, go through HBM at every (i, j), and O_i is normalised every
// time. What changed from standard attention: S and P exist one tile at a time and never in HBM. What
// FlashAttention-2 changes later: the loops change places, and row blocks no longer wait for each other.
//
// Within a tile each warp owns some of the keys: some columns of S_ij and P_ij, some rows of V_j. A row's maximum, its
// sum and its output then have a part in each warp, and the parts meet in shared memory, behind a block barrier each
// time: four barriers a tile.
//
// HBM bytes, per head (4 bytes an element; r(j) = rows in the tiles that see column block j, n without a mask):
//   initialisation O n dv, l n, m n written; read K nk d, V nk dv; and sum_j r(j) of Q d read, O dv, l, m read and
//   written. An additive mask: M once, tile by tile. No mask, d = dv, nk = n: (3 + 3 T_c) nd + (2 + 4 T_c) n elements.
#pragma once

#include "gpu/families/fa1_forward.h"
#include "gpu/mask_tile.h"

namespace flashstep::gpu {

constexpr int kFa1Warps = 4;

template <class Tracer>
FS_KERNEL void fa1_forward_1_tile(Global<const float> Q_all,  // [heads, n, d]
                                  Global<const float> K_all,  // [kv heads, nk, d]
                                  Global<const float> V_all,  // [kv heads, nk, dv]
                                  Global<const float> M,      // [mask_rows, nk], added to S; empty: no mask
                                  Global<float> O_all,        // [heads, n, dv]
                                  Global<float> l_all,        // [heads, n], sum of e^(S - m) of each row
                                  Global<float> m_all,        // [heads, n], maximum of each row
                                  AttentionShape p, Tracer probe) {
    const int d = p.d, dv = p.dv, B_r = p.B_r, B_c = p.B_c;
    const int thread = thread_idx().x, threads = block_dim().x, warp = thread / 32, lane = thread % 32;
    const int head = block_idx().x;

    const std::int64_t kv = p.kv_head(head), first_row = std::int64_t{head} * p.n;
    const auto Q = slice(Q_all, first_row * d, p.n * d);     // (n x d)
    const auto K = slice(K_all, kv * p.nk * d, p.nk * d);    // (nk x d)
    const auto V = slice(V_all, kv * p.nk * dv, p.nk * dv);  // (nk x dv)
    const auto O = slice(O_all, first_row * dv, p.n * dv);   // (n x dv)
    const auto l = slice(l_all, first_row, p.n);             // (n x 1)
    const auto m = slice(m_all, first_row, p.n);             // (n x 1)

    auto chip = shared_memory();
    Shared<float> Q_i = chip.template take<float>("Q_i", B_r * d);
    Shared<float> K_j = chip.template take<float>("K_j", B_c * d);
    Shared<float> V_j = chip.template take<float>("V_j", B_c * dv);
    Shared<float> M_ij = chip.template take<float>("M_ij", p.mask_tile_rows() * B_c);
    Shared<float> P_ij = chip.template take<float>("P_ij", B_r * B_c);                 // holds S_ij first
    Shared<float> m_part = chip.template take<float>("m_part", kFa1Warps * B_r);       // a warp's maximum of a row
    Shared<float> l_part = chip.template take<float>("l_part", kFa1Warps * B_r);       // its sum
    Shared<float> O_part = chip.template take<float>("O_part", kFa1Warps * B_r * dv);  // its P_ij V_j
    Shared<float> old_share = chip.template take<float>("old_share", B_r);             // l_i e^(m_i - m_new)
    Shared<float> new_share = chip.template take<float>("new_share", B_r);             // e^(m_ij - m_new)
    Shared<float> l_new = chip.template take<float>("l_new", B_r);

    // Line 2: in HBM O = 0, l = 0, m = -inf.
    for (int e = thread; e < p.n * dv; e += threads) O[e] = 0.0f;
    for (int r = thread; r < p.n; r += threads) {
        l[r] = 0.0f;
        m[r] = minus_infinity();
    }

    for (int j = 0; j < p.col_blocks(); ++j) {  // line 5
        const int col0 = j * B_c, cols = p.cols(j);
        // The warp's own keys: [begin, end).
        const int share = (B_c + kFa1Warps - 1) / kFa1Warps, begin = warp * share;
        const int end = begin + share < cols ? begin + share : cols;

        // Line 6: load K_j and V_j.
        for (int e = thread; e < cols * d; e += threads) K_j[e] = K[col0 * d + e];
        for (int e = thread; e < cols * dv; e += threads) V_j[e] = V[col0 * dv + e];

        for (int i = p.first_visible_row_block(j); i < p.row_blocks(); ++i) {  // line 7
            const int row0 = i * B_r, rows = p.rows(i);

            // Line 8: load Q_i, and what line 9 adds to the scores. (O_i, l_i, m_i are loaded where they are used.)
            for (int e = thread; e < rows * d; e += threads) Q_i[e] = Q[row0 * d + e];
            load_mask_tile(M_ij, M, p, i, j);
            sync_block();

            // Line 9: S_ij = scale Q_i K_j^T + M_ij, -inf where the mask hides the key. Each warp its keys.
            for (int e = lane; e < rows * (end - begin); e += 32) {
                const int r = e / (end - begin), c = begin + e % (end - begin);
                float S = 0.0f;
                for (int x = 0; x < d; ++x) S += Q_i[r * d + x] * K_j[c * d + x];
                S = p.visible(row0 + r, col0 + c) ? add_mask(p.scale * S, M_ij, p, r, c) : minus_infinity();
                P_ij[r * B_c + c] = S;
                probe.write(Slot::S_ij, head, i, j, r * B_c + c, S);
            }
            sync_warp();

            // Line 10: m_ij = rowmax(S_ij), P_ij = e^(S_ij - m_ij), l_ij = rowsum(P_ij). A lane takes a row of its
            // warp's keys, and gets the maximum of the others through shared memory.
            for (int r = lane; r < rows; r += 32) {
                float part = minus_infinity();
                for (int c = begin; c < end; ++c) part = max_of(part, P_ij[r * B_c + c]);
                m_part[warp * B_r + r] = part;
            }
            sync_block();
            for (int r = lane; r < rows; r += 32) {
                float m_ij = minus_infinity();
                for (int w = 0; w < kFa1Warps; ++w) m_ij = max_of(m_ij, m_part[w * B_r + r]);
                float sum = 0.0f;
                for (int c = begin; c < end; ++c) {
                    const float P = exp_diff(P_ij[r * B_c + c], m_ij);
                    P_ij[r * B_c + c] = P;
                    sum += P;
                    probe.write(Slot::P_ij, head, i, j, r * B_c + c, P);
                }
                l_part[warp * B_r + r] = sum;
            }
            sync_warp();

            // Line 12, its product: P_ij V_j, each warp the part of its keys.
            for (int e = lane; e < rows * dv; e += 32) {
                float sum = 0.0f;
                for (int c = begin; c < end; ++c) sum += P_ij[e / dv * B_c + c] * V_j[c * dv + e % dv];
                O_part[warp * B_r * dv + e] = sum;
            }
            sync_block();

            // Lines 11, 13: m_new = max(m_i, m_ij), l_new = e^(m_i - m_new) l_i + e^(m_ij - m_new) l_ij, both to HBM.
            for (int r = thread; r < rows; r += threads) {
                float m_ij = minus_infinity(), l_ij = 0.0f;
                for (int w = 0; w < kFa1Warps; ++w) {
                    m_ij = max_of(m_ij, m_part[w * B_r + r]);
                    l_ij += l_part[w * B_r + r];
                }
                const float m_i = m[row0 + r], m_new = max_of(m_i, m_ij);
                const float kept = exp_diff(m_i, m_new) * l[row0 + r], taken = exp_diff(m_ij, m_new);
                const float sum = kept + taken * l_ij;
                old_share[r] = kept;
                new_share[r] = taken;
                l_new[r] = sum;
                l[row0 + r] = sum;
                m[row0 + r] = m_new;
                probe.write(Slot::m_ij, head, i, j, r, m_ij);
                probe.write(Slot::l_ij, head, i, j, r, l_ij);
                probe.write(Slot::m_new, head, i, j, r, m_new);
                probe.write(Slot::l_new, head, i, j, r, sum);
            }
            sync_block();

            // Line 12: O_i = diag(l_new)^-1 (diag(l_i) e^(m_i - m_new) O_i + e^(m_ij - m_new) P_ij V_j), to HBM.
            for (int e = thread; e < rows * dv; e += threads) {
                const int r = e / dv;
                float sum = 0.0f;
                for (int w = 0; w < kFa1Warps; ++w) sum += O_part[w * B_r * dv + e];
                sum = old_share[r] * O[row0 * dv + e] + new_share[r] * sum;
                sum = l_new[r] == 0.0f ? 0.0f : sum / l_new[r];  // a row that has seen no key stays 0
                O[row0 * dv + e] = sum;
                probe.write(Slot::O_i, head, i, j, e, sum);
            }
        }
    }
}

struct Fa1Forward1Tile : Fa1Forward {
    static constexpr std::string_view id = "fa1_forward_1_tile";
    static constexpr Text title{"FlashAttention-1 forward: K and V outermost, keys over warps",
                                "FlashAttention-1 前向：外层循环是 K 和 V，key 分给各个 warp"};
    static constexpr auto targets = kAllTargets;

    // Dynamic shared memory of a block, in bytes.
    static std::int64_t shared_bytes(const AttentionShape& p) {
        const std::int64_t B_r = p.B_r, B_c = p.B_c;
        return shared_view_bytes(B_r * p.d, 4) + shared_view_bytes(B_c * p.d, 4) + shared_view_bytes(B_c * p.dv, 4) +
               shared_view_bytes(p.mask_tile_rows() * B_c, 4) + shared_view_bytes(B_r * B_c, 4) +
               2 * shared_view_bytes(kFa1Warps * B_r, 4) + shared_view_bytes(kFa1Warps * B_r * p.dv, 4) +
               3 * shared_view_bytes(B_r, 4);
    }

    // The launch, the same for the executor and for a device.
    template <class Machine, class Tracer>
    static void launch(Machine& machine, const AttentionShape& p, Tracer probe) {
        machine.launch(Launch{.name = id,
                              .grid = {p.total_heads(), 1, 1},
                              .block = {32 * kFa1Warps, 1, 1},
                              .shared_bytes = shared_bytes(p),
                              .limit = SharedLimit::OptIn},
                       fa1_forward_1_tile<Tracer>, machine.read("Q"), machine.read("K"), machine.read("V"),
                       mask_view(machine, p), machine.write("O"), machine.write("l"), machine.write("m"), p, probe);
    }
};

}  // namespace flashstep::gpu
