// FlashAttention-2 forward, one tile at a time (FA2 paper, Algorithm 1, section 3.1).
//
// The idea: one thread block per (batch, head, row block i). It keeps Q_i, the running maximum m_i, the running sum l_i
// and the unnormalised O_i on chip, walks over the blocks of K and V once, and corrects what it has by e^(m_old - m_i)
// whenever the maximum grows. S and P exist one tile at a time, in shared memory, and never in HBM. Row blocks do not
// need each other, so they all run in parallel: that is what FlashAttention-2 changed.
//
// First rung: fp32, everything in shared memory, all threads share each product element by element, one thread per row
// does the softmax. Reading K_j and S_ij down their columns meets bank conflicts, which a later rung removes.
//
// HBM bytes, per head (4 bytes an element; c(i) = keys in the tiles that row block i sees, nk without a mask):
//   read Q n d, K sum_i c(i) d, V sum_i c(i) dv; written O n dv, L n. No mask, d = dv: 2nd + n + 2 T_r nk d elements.
//   An additive mask: M sum_i rows(i) c(i), for key padding sum_i c(i).
#pragma once

#include "gpu/families/fa2_forward.h"
#include "gpu/mask_tile.h"

namespace flashstep::gpu {

template <class Tracer>
FS_KERNEL void fa2_forward_1_tile(Global<const float> Q_all,  // [heads, n, d]
                                  Global<const float> K_all,  // [kv heads, nk, d]
                                  Global<const float> V_all,  // [kv heads, nk, dv]
                                  Global<const float> M,      // [mask_rows, nk], added to S; empty: no mask
                                  Global<float> O_all,        // [heads, n, dv]
                                  Global<float> L_all,        // [heads, n], log-sum-exp of each row
                                  AttentionShape p, Tracer probe) {
    const int d = p.d, dv = p.dv, B_r = p.B_r, B_c = p.B_c;
    const int thread = thread_idx().x, threads = block_dim().x;
    const int i = block_idx().x % p.row_blocks(), head = block_idx().x / p.row_blocks();
    const int row0 = i * B_r, rows = p.rows(i);  // the true rows of this block; the last one may be ragged

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
    Shared<float> S_ij = chip.template take<float>("S_ij", B_r * B_c);
    Shared<float> P_ij = chip.template take<float>("P_ij", B_r * B_c);
    Shared<float> O_i = chip.template take<float>("O_i", B_r * dv);
    Shared<float> m_i = chip.template take<float>("m_i", B_r);          // running row maximum
    Shared<float> l_i = chip.template take<float>("l_i", B_r);          // running row sum of e^(S - m_i)
    Shared<float> rescale = chip.template take<float>("rescale", B_r);  // e^(m_old - m_i)

    // Lines 4, 5: load Q_i; rows past the end are zero. O_i = 0, l_i = 0, m_i = -inf.
    for (int e = thread; e < B_r * d; e += threads) Q_i[e] = e < rows * d ? Q[e] : 0.0f;
    for (int e = thread; e < B_r * dv; e += threads) O_i[e] = 0.0f;
    for (int r = thread; r < B_r; r += threads) {
        m_i[r] = minus_infinity();
        l_i[r] = 0.0f;
    }
    sync_block();

    for (int j = 0; j < p.visible_blocks(i); ++j) {  // line 6; tiles that the mask hides wholly are skipped
        const int col0 = j * B_c, cols = p.cols(j);

        // Line 7: load K_j and V_j; keys past the end are zero. With them comes what line 8 adds to the scores.
        for (int e = thread; e < B_c * d; e += threads) K_j[e] = e < cols * d ? K[col0 * d + e] : 0.0f;
        for (int e = thread; e < B_c * dv; e += threads) V_j[e] = e < cols * dv ? V[col0 * dv + e] : 0.0f;
        load_mask_tile(M_ij, M, p, i, j);
        sync_block();

        // Line 8: S_ij = scale Q_i K_j^T + M_ij, and -inf where the mask hides the key or there is none.
        for (int e = thread; e < B_r * B_c; e += threads) {
            const int r = e / B_c, c = e % B_c;
            float sum = 0.0f;
            for (int x = 0; x < d; ++x) sum += Q_i[r * d + x] * K_j[c * d + x];
            const bool seen = c < cols && p.visible(row0 + r, col0 + c);
            S_ij[e] = seen ? add_mask(p.scale * sum, M_ij, p, r, c) : minus_infinity();
            if (r < rows && c < cols) probe.write(Slot::S_ij, head, i, j, e, S_ij[e]);
        }
        sync_block();

        // Line 9: m_i = max(m_old, rowmax(S_ij)), P_ij = e^(S_ij - m_i), l_i = e^(m_old - m_i) l_i + rowsum(P_ij).
        for (int r = thread; r < B_r; r += threads) {
            const float m_old = m_i[r];
            float m = m_old;
            for (int c = 0; c < B_c; ++c) m = max_of(m, S_ij[r * B_c + c]);
            float sum = 0.0f;
            for (int c = 0; c < B_c; ++c) {
                const float P = exp_diff(S_ij[r * B_c + c], m);
                P_ij[r * B_c + c] = P;
                sum += P;
                if (r < rows && c < cols) probe.write(Slot::P_ij, head, i, j, r * B_c + c, P);
            }
            m_i[r] = m;  // stays -inf while the row has seen no key
            rescale[r] = exp_diff(m_old, m);
            l_i[r] = rescale[r] * l_i[r] + sum;
            if (r < rows) probe.write(Slot::m_i, head, i, j, r, m);
            if (r < rows) probe.write(Slot::l_i, head, i, j, r, l_i[r]);
        }
        sync_block();

        // Line 10: O_i = diag(e^(m_old - m_i)) O_i + P_ij V_j. (The paper prints an inverse here; there is none.)
        for (int e = thread; e < B_r * dv; e += threads) {
            const int r = e / dv, x = e % dv;
            float sum = 0.0f;
            for (int c = 0; c < B_c; ++c) sum += P_ij[r * B_c + c] * V_j[c * dv + x];
            O_i[e] = rescale[r] * O_i[e] + sum;
            if (r < rows) probe.write(Slot::O_i, head, i, j, e, O_i[e]);
        }
        sync_block();  // the next tile overwrites K_j, V_j
    }

    // Lines 12 to 15: O_i = diag(l_i)^-1 O_i, L_i = m_i + log(l_i). A row without keys gives O = 0, L = -inf.
    for (int e = thread; e < rows * dv; e += threads) {
        const float l = l_i[e / dv];
        O[e] = l == 0.0f ? 0.0f : O_i[e] / l;
    }
    for (int r = thread; r < rows; r += threads) L[r] = m_i[r] + log_of(l_i[r]);
}

struct Fa2Forward1Tile : Fa2Forward {
    static constexpr std::string_view id = "fa2_forward_1_tile";
    static constexpr Text title{"FlashAttention-2 forward: one block per row block, tiles in shared memory",
                                "FlashAttention-2 前向：每个行块一个 thread block，tile 放在 shared memory 里"};

    // Dynamic shared memory of a block, in bytes.
    static std::int64_t shared_bytes(const AttentionShape& p) {
        const std::int64_t B_r = p.B_r, B_c = p.B_c;
        return shared_view_bytes(B_r * p.d, 4) + shared_view_bytes(B_c * p.d, 4) + shared_view_bytes(B_c * p.dv, 4) +
               shared_view_bytes(p.mask_tile_rows() * B_c, 4) + 2 * shared_view_bytes(B_r * B_c, 4) +
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
                       fa2_forward_1_tile<Tracer>, machine.read("Q"), machine.read("K"), machine.read("V"),
                       mask_view(machine, p), machine.write("O"), machine.write("L"), p, probe);
    }
};

}  // namespace flashstep::gpu
