// FlashAttention-2 forward with the rows divided over the warps (FA2 paper, section 3.3, "split-Q").
//
// The idea: each warp owns some rows of Q_i, and with them those rows of S_ij, P_ij, O_i and of m_i, l_i. It can do
// lines 8 to 10 for its rows alone: the maximum and the sum of a row are found by shuffles between the lanes of one
// warp, and no other warp needs them. What changed from fa2_forward_1_tile: four block barriers a tile become two, both
// about K_j and V_j, which all warps read; P_ij overwrites S_ij in place, as each lane needs only what it wrote itself;
// and all lanes take part in the softmax, not one thread per row.
//
// HBM bytes: those of fa2_forward_1_tile, which are the algorithm's.
#pragma once

#include "gpu/families/fa2_forward.h"
#include "gpu/mask_tile.h"

namespace flashstep::gpu {

template <class Tracer>
FS_KERNEL void fa2_forward_2_warps(Global<const float> Q_all,  // [heads, n, d]
                                   Global<const float> K_all,  // [kv heads, nk, d]
                                   Global<const float> V_all,  // [kv heads, nk, dv]
                                   Global<const float> M,      // [mask_rows, nk], added to S; empty: no mask
                                   Global<float> O_all,        // [heads, n, dv]
                                   Global<float> L_all,        // [heads, n], log-sum-exp of each row
                                   AttentionShape p, Tracer probe) {
    const int d = p.d, dv = p.dv, B_r = p.B_r, B_c = p.B_c;
    const int thread = thread_idx().x, threads = block_dim().x, lane = thread % 32;
    const int i = block_idx().x % p.row_blocks(), head = block_idx().x / p.row_blocks();
    const int row0 = i * B_r, rows = p.rows(i);  // the true rows of this block; the last one may be ragged
    // The warp's own rows: [begin, end).
    const int share = (B_r + threads / 32 - 1) / (threads / 32), begin = thread / 32 * share;
    const int end = begin + share < rows ? begin + share : rows;

    const std::int64_t kv = p.kv_head(head);  // 64 bits: heads * n * d may exceed 2^31
    const auto Q = slice(Q_all, (std::int64_t{head} * p.n + row0) * d, rows * d);    // (rows x d)
    const auto K = slice(K_all, kv * p.nk * d, p.nk * d);                            // (nk x d)
    const auto V = slice(V_all, kv * p.nk * dv, p.nk * dv);                          // (nk x dv)
    const auto O = slice(O_all, (std::int64_t{head} * p.n + row0) * dv, rows * dv);  // (rows x dv)
    const auto L = slice(L_all, std::int64_t{head} * p.n + row0, rows);              // (rows x 1)

    auto chip = shared_memory();
    Shared<float> Q_i = chip.template take<float>("Q_i", B_r * d);
    Shared<float> K_j = chip.template take<float>("K_j", B_c * d);
    Shared<float> V_j = chip.template take<float>("V_j", B_c * dv);
    Shared<float> M_ij = chip.template take<float>("M_ij", p.mask_tile_rows() * B_c);
    Shared<float> P_ij = chip.template take<float>("P_ij", B_r * B_c);  // holds S_ij first
    Shared<float> O_i = chip.template take<float>("O_i", B_r * dv);
    Shared<float> m_i = chip.template take<float>("m_i", B_r);          // running row maximum; lane 0's
    Shared<float> l_i = chip.template take<float>("l_i", B_r);          // running row sum of e^(S - m_i); lane 0 writes
    Shared<float> rescale = chip.template take<float>("rescale", B_r);  // e^(m_old - m_i); lane 0 writes

    // Lines 4, 5: load Q_i, together. O_i = 0, l_i = 0, m_i = -inf, each warp its rows.
    for (int e = thread; e < rows * d; e += threads) Q_i[e] = Q[e];
    for (int r = begin; r < end; ++r) {
        for (int x = lane; x < dv; x += 32) O_i[r * dv + x] = 0.0f;
        if (lane == 0) m_i[r] = minus_infinity();
        if (lane == 0) l_i[r] = 0.0f;
    }
    sync_warp();

    for (int j = 0; j < p.visible_blocks(i); ++j) {  // line 6; tiles that the mask hides wholly are skipped
        const int col0 = j * B_c, cols = p.cols(j);
        sync_block();  // all warps are done with the last K_j, V_j

        // Line 7: load K_j and V_j, together. With them comes what line 8 adds to the scores.
        for (int e = thread; e < cols * d; e += threads) K_j[e] = K[col0 * d + e];
        for (int e = thread; e < cols * dv; e += threads) V_j[e] = V[col0 * dv + e];
        load_mask_tile(M_ij, M, p, i, j);
        sync_block();

        for (int r = begin; r < end; ++r) {
            // Line 8: a row of S_ij = scale Q_i K_j^T + M_ij, -inf where the mask hides the key. A lane takes every
            // 32nd key.
            float m = minus_infinity();
            float m_old = minus_infinity();
            if (lane == 0) m = m_old = m_i[r];
            for (int c = lane; c < cols; c += 32) {
                float sum = 0.0f;
                for (int x = 0; x < d; ++x) sum += Q_i[r * d + x] * K_j[c * d + x];
                const float S =
                    p.visible(row0 + r, col0 + c) ? add_mask(p.scale * sum, M_ij, p, r, c) : minus_infinity();
                P_ij[r * B_c + c] = S;
                m = max_of(m, S);
                probe.write(Slot::S_ij, head, i, j, r * B_c + c, S);
            }

            // Line 9: m_i = max(m_old, rowmax(S_ij)), P_ij = e^(S_ij - m_i), l_i = e^(m_old - m_i) l_i +
            // rowsum(P_ij). After the shuffles every lane has the maximum and the sum of all 32.
            for (int mask = 16; mask > 0; mask /= 2) m = max_of(m, shuffle_xor(m, mask));
            float sum = 0.0f;
            for (int c = lane; c < cols; c += 32) {
                const float P = exp_diff(P_ij[r * B_c + c], m);
                P_ij[r * B_c + c] = P;
                sum += P;
                probe.write(Slot::P_ij, head, i, j, r * B_c + c, P);
            }
            for (int mask = 16; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
            if (lane == 0) {
                const float correction = exp_diff(m_old, m);
                m_i[r] = m;  // stays -inf while the row has seen no key
                rescale[r] = correction;
                sum += correction * l_i[r];
                l_i[r] = sum;
                probe.write(Slot::m_i, head, i, j, r, m);
                probe.write(Slot::l_i, head, i, j, r, sum);
            }
        }
        sync_warp();  // a lane's columns of O_i need all of P_ij's row

        // Line 10: O_i = diag(e^(m_old - m_i)) O_i + P_ij V_j. (The paper prints an inverse here; there is none.)
        for (int r = begin; r < end; ++r) {
            for (int x = lane; x < dv; x += 32) {
                float sum = 0.0f;
                for (int c = 0; c < cols; ++c) sum += P_ij[r * B_c + c] * V_j[c * dv + x];
                sum += rescale[r] * O_i[r * dv + x];
                O_i[r * dv + x] = sum;
                probe.write(Slot::O_i, head, i, j, r * dv + x, sum);
            }
        }
    }

    // Lines 12 to 15: O_i = diag(l_i)^-1 O_i, L_i = m_i + log(l_i). A row without keys gives O = 0, L = -inf.
    for (int r = begin; r < end; ++r) {
        const float l = l_i[r];
        for (int x = lane; x < dv; x += 32) O[r * dv + x] = l == 0.0f ? 0.0f : O_i[r * dv + x] / l;
        if (lane == 0) L[r] = m_i[r] + log_of(l);
    }
}

struct Fa2Forward2Warps : Fa2Forward {
    static constexpr std::string_view id = "fa2_forward_2_warps";
    static constexpr Text title{"FlashAttention-2 forward: rows over warps, maximum and sum by shuffles",
                                "FlashAttention-2 前向：行分给各个 warp，用 shuffle 求最大值与和"};

    // Dynamic shared memory of a block, in bytes.
    static std::int64_t shared_bytes(const AttentionShape& p) {
        const std::int64_t B_r = p.B_r, B_c = p.B_c;
        return shared_view_bytes(B_r * p.d, 4) + shared_view_bytes(B_c * p.d, 4) + shared_view_bytes(B_c * p.dv, 4) +
               shared_view_bytes(p.mask_tile_rows() * B_c, 4) + shared_view_bytes(B_r * B_c, 4) +
               shared_view_bytes(B_r * p.dv, 4) + 3 * shared_view_bytes(B_r, 4);
    }

    // The launch, the same for the executor and for a device: 4 warps per block.
    template <class Machine, class Tracer>
    static void launch(Machine& machine, const AttentionShape& p, Tracer probe) {
        machine.launch(Launch{.name = id,
                              .grid = {p.total_heads() * p.row_blocks(), 1, 1},
                              .block = {128, 1, 1},
                              .shared_bytes = shared_bytes(p),
                              .limit = SharedLimit::OptIn},
                       fa2_forward_2_warps<Tracer>, machine.read("Q"), machine.read("K"), machine.read("V"),
                       mask_view(machine, p), machine.write("O"), machine.write("L"), p, probe);
    }
};

}  // namespace flashstep::gpu
