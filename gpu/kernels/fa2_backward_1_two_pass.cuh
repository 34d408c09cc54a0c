// FlashAttention-2 backward in two passes, without atomics (FA2 paper, Algorithm 2, taken apart so that no two thread
// blocks write the same element).
//
// The idea: S and P are not kept from the forward pass, they are computed again from Q, K and the log-sum-exp L. dQ
// sums over keys, dK and dV sum over queries, so they get a pass each: one thread block per row block i walks over the
// tiles j and keeps dQ_i on chip; one per column block j walks over i and keeps dK_j and dV_j. Every sum has one owner
// and a fixed order: the same bits every time. The price is S and dP computed twice, seven products a tile pair instead
// of five. A launch before them computes D = rowsum(dO o O), which both need.
//
// Heads that share K and V are taken one after another by the block that owns dK_j and dV_j: the first stores, the
// others add. (It loads K_j and V_j again for each of them, as the algorithm does.)
//
// HBM bytes, per head (4 bytes an element; c(i) = keys in the tiles that row block i sees, r(j) = rows in the tiles
// that see column block j):
//   D pass: read O n dv, dO n dv, written D n. First pass: read Q n d, dO n dv, L n, D n, K sum_i c(i) d,
//   V sum_i c(i) dv, written dQ n d. Second pass: read K nk d, V nk dv, and sum_j r(j) of Q d, dO dv, L, D; written dK
//   nk d, dV nk dv, which all but the first head of a group also read. An additive mask: M twice, tile by tile.
#pragma once

#include "gpu/backward_columns.h"
#include "gpu/families/fa2_backward.h"
#include "gpu/mask_tile.h"

namespace flashstep::gpu {

// Line 1: D = rowsum(dO o O). One thread per row.
FS_KERNEL void fa2_backward_1_two_pass_row_sums(Global<const float> O,   // [heads, n, dv]
                                                Global<const float> dO,  // [heads, n, dv]
                                                Global<float> D,         // [heads, n]
                                                AttentionShape p) {
    const std::int64_t row = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;  // of all heads
    if (row >= std::int64_t{p.total_heads()} * p.n) return;
    float sum = 0.0f;
    for (int x = 0; x < p.dv; ++x) sum += dO[row * p.dv + x] * O[row * p.dv + x];
    D[row] = sum;
}

// The first pass: dQ. One thread block per (batch, head, row block i).
template <class Tracer>
FS_KERNEL void fa2_backward_1_two_pass_rows(Global<const float> Q_all,   // [heads, n, d]
                                            Global<const float> K_all,   // [kv heads, nk, d]
                                            Global<const float> V_all,   // [kv heads, nk, dv]
                                            Global<const float> M,       // [mask_rows, nk]; empty: no mask
                                            Global<const float> dO_all,  // [heads, n, dv]
                                            Global<const float> L_all,   // [heads, n]
                                            Global<const float> D_all,   // [heads, n]
                                            Global<float> dQ_all,        // [heads, n, d]
                                            AttentionShape p, Tracer probe) {
    const int d = p.d, dv = p.dv, B_r = p.B_r, B_c = p.B_c;
    const int thread = thread_idx().x, threads = block_dim().x;
    const int i = block_idx().x % p.row_blocks(), head = block_idx().x / p.row_blocks();
    const int row0 = i * B_r, rows = p.rows(i);

    const std::int64_t kv = p.kv_head(head), first_row = std::int64_t{head} * p.n + row0;
    const auto Q = slice(Q_all, first_row * d, rows * d);      // (rows x d)
    const auto K = slice(K_all, kv * p.nk * d, p.nk * d);      // (nk x d)
    const auto V = slice(V_all, kv * p.nk * dv, p.nk * dv);    // (nk x dv)
    const auto dO = slice(dO_all, first_row * dv, rows * dv);  // (rows x dv)
    const auto dQ = slice(dQ_all, first_row * d, rows * d);    // (rows x d)

    auto chip = shared_memory();
    Shared<float> Q_i = chip.template take<float>("Q_i", B_r * d);
    Shared<float> dO_i = chip.template take<float>("dO_i", B_r * dv);
    Shared<float> L_i = chip.template take<float>("L_i", B_r);
    Shared<float> D_i = chip.template take<float>("D_i", B_r);
    Shared<float> dQ_i = chip.template take<float>("dQ_i", B_r * d);
    Shared<float> K_j = chip.template take<float>("K_j", B_c * d);
    Shared<float> V_j = chip.template take<float>("V_j", B_c * dv);
    Shared<float> M_ij = chip.template take<float>("M_ij", p.mask_tile_rows() * B_c);
    Shared<float> dS_ij = chip.template take<float>("dS_ij", B_r * B_c);

    // Line 3: load Q_i, dO_i, L_i, D_i; dQ_i = 0.
    for (int e = thread; e < rows * d; e += threads) {
        Q_i[e] = Q[e];
        dQ_i[e] = 0.0f;
    }
    for (int e = thread; e < rows * dv; e += threads) dO_i[e] = dO[e];
    for (int r = thread; r < rows; r += threads) {
        L_i[r] = L_all[first_row + r];
        D_i[r] = D_all[first_row + r];
    }

    for (int j = 0; j < p.visible_blocks(i); ++j) {  // line 4; tiles that the mask hides wholly are skipped
        const int col0 = j * B_c, cols = p.cols(j);

        // Line 5: load K_j and V_j. With them comes what line 6 adds to the scores.
        for (int e = thread; e < cols * d; e += threads) K_j[e] = K[col0 * d + e];
        for (int e = thread; e < cols * dv; e += threads) V_j[e] = V[col0 * dv + e];
        load_mask_tile(M_ij, M, p, i, j);
        sync_block();

        for (int e = thread; e < rows * cols; e += threads) {
            const int r = e / cols, c = e % cols;
            // Line 6: S_ij = scale Q_i K_j^T, -inf where the mask hides the key; P_ij = e^(S_ij - L_i).
            float S = 0.0f;
            for (int x = 0; x < d; ++x) S += Q_i[r * d + x] * K_j[c * d + x];
            S = p.visible(row0 + r, col0 + c) ? add_mask(p.scale * S, M_ij, p, r, c) : minus_infinity();
            const float P = exp_diff(S, L_i[r]);
            // Line 7: dP_ij = dO_i V_j^T, dS_ij = P_ij o (dP_ij - D_i).
            float dP = 0.0f;
            for (int x = 0; x < dv; ++x) dP += dO_i[r * dv + x] * V_j[c * dv + x];
            dS_ij[r * B_c + c] = P * (dP - D_i[r]);
        }
        sync_block();

        // Line 8: dQ_i += scale dS_ij K_j.
        for (int e = thread; e < rows * d; e += threads) {
            const int r = e / d, x = e % d;
            float sum = 0.0f;
            for (int c = 0; c < cols; ++c) sum += dS_ij[r * B_c + c] * K_j[c * d + x];
            sum = dQ_i[e] + p.scale * sum;
            dQ_i[e] = sum;
            probe.write(Slot::dQ_i, head, i, j, e, sum);
        }
        sync_block();  // the next tile overwrites K_j, V_j, dS_ij
    }

    // Line 9: write dQ_i. A thread writes what it summed up itself.
    for (int e = thread; e < rows * d; e += threads) dQ[e] = dQ_i[e];
}

// The second pass, lines 10 to 18: dK and dV. One thread block per (batch, head of K and V, column block j), which
// walks over the row blocks i.
template <class Tracer>
FS_KERNEL void fa2_backward_1_two_pass_columns(Global<const float> Q_all,   // [heads, n, d]
                                               Global<const float> K_all,   // [kv heads, nk, d]
                                               Global<const float> V_all,   // [kv heads, nk, dv]
                                               Global<const float> M,       // [mask_rows, nk]; empty: no mask
                                               Global<const float> dO_all,  // [heads, n, dv]
                                               Global<const float> L_all,   // [heads, n]
                                               Global<const float> D_all,   // [heads, n]
                                               Global<float> dK_all,        // [kv heads, nk, d]
                                               Global<float> dV_all,        // [kv heads, nk, dv]
                                               AttentionShape p, Tracer probe) {
    backward_columns(Q_all, K_all, V_all, M, dO_all, L_all, D_all, dK_all, dV_all, p, probe,
                     [](const ColumnTile&) {});  // dQ has a pass of its own
}

struct Fa2Backward1TwoPass : Fa2BackwardTwoPass {
    static constexpr std::string_view id = "fa2_backward_1_two_pass";
    static constexpr Text title{"FlashAttention-2 backward: dQ and dK, dV in a pass each, no atomics",
                                "FlashAttention-2 反向：dQ 走一遍，dK、dV 走一遍，不用原子操作"};

    // Dynamic shared memory of a block, in bytes: of the pass over rows, and the most of both.
    static std::int64_t rows_shared_bytes(const AttentionShape& p) {
        const std::int64_t B_r = p.B_r, B_c = p.B_c;
        return 2 * shared_view_bytes(B_r * p.d, 4) + shared_view_bytes(B_r * p.dv, 4) + 2 * shared_view_bytes(B_r, 4) +
               shared_view_bytes(B_c * p.d, 4) + shared_view_bytes(B_c * p.dv, 4) +
               shared_view_bytes(p.mask_tile_rows() * B_c, 4) + shared_view_bytes(B_r * B_c, 4);
    }
    static std::int64_t shared_bytes(const AttentionShape& p) {
        return std::max(rows_shared_bytes(p), backward_columns_shared_bytes(p));
    }

    // The launches, the same for the executor and for a device.
    template <class Machine, class Tracer>
    static void launch(Machine& machine, const AttentionShape& p, Tracer probe) {
        const std::int64_t rows = std::int64_t{p.total_heads()} * p.n;
        machine.launch(Launch{.name = "fa2_backward_1_two_pass_row_sums",
                              .grid = {static_cast<int>((rows + 127) / 128), 1, 1},
                              .block = {128, 1, 1}},
                       fa2_backward_1_two_pass_row_sums, machine.read("O"), machine.read("dO"), machine.write("D"), p);
        machine.launch(Launch{.name = "fa2_backward_1_two_pass_rows",
                              .grid = {p.total_heads() * p.row_blocks(), 1, 1},
                              .block = {128, 1, 1},
                              .shared_bytes = rows_shared_bytes(p),
                              .limit = SharedLimit::OptIn},
                       fa2_backward_1_two_pass_rows<Tracer>, machine.read("Q"), machine.read("K"), machine.read("V"),
                       mask_view(machine, p), machine.read("dO"), machine.read("L"), machine.read("D"),
                       machine.write("dQ"), p, probe);
        machine.launch(Launch{.name = "fa2_backward_1_two_pass_columns",
                              .grid = {p.batch * p.kv_heads * p.col_blocks(), 1, 1},
                              .block = {128, 1, 1},
                              .shared_bytes = backward_columns_shared_bytes(p),
                              .limit = SharedLimit::OptIn},
                       fa2_backward_1_two_pass_columns<Tracer>, machine.read("Q"), machine.read("K"), machine.read("V"),
                       mask_view(machine, p), machine.read("dO"), machine.read("L"), machine.read("D"),
                       machine.write("dK"), machine.write("dV"), p, probe);
    }
};

}  // namespace flashstep::gpu
