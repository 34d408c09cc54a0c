// FlashAttention-2 backward on tensor cores, in two passes (FA2 paper, Algorithm 2, taken apart as in 1_two_pass).
//
// The idea: all seven products of a tile pair are mma instructions, and each operand lies in shared memory only once.
// The pass over rows holds S (queries x keys) as the forward pass does: a warp owns 16 queries, and dS, rounded to 16
// bits, is the left operand of dS K. The pass over columns holds S^T: a warp owns 16 keys, so that P^T and dS^T are
// left operands as they stand, and dV += P^T dO, dK += dS^T Q need no exchange between warps. K_j is then read as rows
// for S^T and as columns for dQ: ldmatrix transposes on the way.
//
// From the rungs before: 16-bit elements and tensor cores; no atomics (2_atomic), every sum has one owner and one
// order.
//
// Head dimensions up to 128 are padded on chip to 64 or 128 with zeros. B_r = B_c = 64. HBM bytes: those of 1_two_pass,
// with 2 bytes an element of a matrix and 4 of L and D. Heads that share K and V are taken one after another by the
// block that owns dK_j and dV_j: the first stores, the others add to what is there, rounded each time.
#pragma once

#include "gpu/families/fa2_backward.h"
#include "gpu/tensor_tile.h"

namespace flashstep::gpu {

// Line 1: D = rowsum(dO o O). One thread per row.
template <class T>
FS_KERNEL void fa2_backward_3_mma_row_sums(Global<const T> O,   // [heads, n, dv]
                                           Global<const T> dO,  // [heads, n, dv]
                                           Global<float> D,     // [heads, n]
                                           AttentionShape p) {
    const std::int64_t row = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;  // of all heads
    if (row >= std::int64_t{p.total_heads()} * p.n) return;
    float sum = 0.0f;
    for (int x = 0; x < p.dv; ++x) sum += to_float(dO[row * p.dv + x]) * to_float(O[row * p.dv + x]);
    D[row] = sum;
}

// The statistics of a row block, zero past its end.
template <class Tile, class From>
FS_DEVICE void load_statistic(const Tile& tile, const From& from, int rows) {
    for (int r = thread_idx().x; r < 64; r += block_dim().x) tile[r] = r < rows ? from[r] : 0.0f;
}

// The first pass: dQ. One thread block per (batch, head, row block i), 16 rows a warp.
template <class Tracer, class T = Half, int kD = 64>
FS_KERNEL void fa2_backward_3_mma_rows(Global<const T> Q_all,      // [heads, n, d]
                                       Global<const T> K_all,      // [kv heads, nk, d]
                                       Global<const T> V_all,      // [kv heads, nk, dv]
                                       Global<const T> dO_all,     // [heads, n, dv]
                                       Global<const float> L_all,  // [heads, n]
                                       Global<const float> D_all,  // [heads, n]
                                       Global<T> dQ_all,           // [heads, n, d]
                                       AttentionShape p, Tracer probe) {
    constexpr int kB = 64;
    constexpr Swizzle kLayout = Swizzle::Xor;
    const int i = block_idx().x % p.row_blocks(), head = block_idx().x / p.row_blocks();
    const int row0 = i * kB, rows = p.rows(i), warp_row = thread_idx().x / kWarpLanes * 16;
    const std::int64_t first_row = std::int64_t{head} * p.n + row0, first_key = std::int64_t{p.kv_head(head)} * p.nk;

    auto chip = shared_memory();
    const Shared<T> Q_i = chip.template take<T>("Q_i", kB * kD);
    const Shared<T> dO_i = chip.template take<T>("dO_i", kB * kD);
    const Shared<T> K_j = chip.template take<T>("K_j", kB * kD);
    const Shared<T> V_j = chip.template take<T>("V_j", kB * kD);
    const Shared<float> L_i = chip.template take<float>("L_i", kB);
    const Shared<float> D_i = chip.template take<float>("D_i", kB);

    // Line 3: load Q_i, dO_i, L_i, D_i; dQ_i = 0.
    load_tile<kLayout, kB, kD>(Q_i, slice(Q_all, first_row * p.d, rows * p.d), rows, p.d);
    load_tile<kLayout, kB, kD>(dO_i, slice(dO_all, first_row * p.dv, rows * p.dv), rows, p.dv);
    load_statistic(L_i, slice(L_all, first_row, rows), rows);
    load_statistic(D_i, slice(D_all, first_row, rows), rows);
    float dQ[kD / 8][4] = {};  // without the scale

    for (int j = 0; j < p.visible_blocks(i); ++j) {  // line 4; tiles that the mask hides wholly are skipped
        const int col0 = j * kB, cols = p.cols(j);
        load_tile<kLayout, kB, kD>(K_j, slice(K_all, (first_key + col0) * p.d, cols * p.d), cols, p.d);  // line 5
        load_tile<kLayout, kB, kD>(V_j, slice(V_all, (first_key + col0) * p.dv, cols * p.dv), cols, p.dv);
        sync_block();

        float dS[kB / 8][4] = {}, dP[kB / 8][4] = {};
        for (int k = 0; k < kD; k += 16) {
            std::uint32_t a[4];
            load_left<kLayout, kD>(a, Q_i, warp_row, k);
            multiply_transposed<kLayout, kD, T>(dS, a, K_j, k);  // line 6: S
            load_left<kLayout, kD>(a, dO_i, warp_row, k);
            multiply_transposed<kLayout, kD, T>(dP, a, V_j, k);  // line 7
        }
        for (int n = 0; n < kB / 8; ++n) {
            for (int e = 0; e < 4; ++e) {
                const int r = warp_row + fragment_row(e), c = fragment_col(n, e);
                const bool seen = c < cols && p.visible(row0 + r, col0 + c);
                const float P = exp_diff(seen ? p.scale * dS[n][e] : minus_infinity(), L_i[r]);
                dS[n][e] = P * (dP[n][e] - D_i[r]);
            }
        }
        multiply<kLayout, kD, T>(dQ, dS, K_j);  // line 8
        probe.write(Slot::dQ_i, head, i, j, dQ, warp_row, rows, p.d, p.d, p.scale);
        sync_block();  // the next tile overwrites K_j, V_j
    }
    const auto out = slice(dQ_all, first_row * p.d, rows * p.d);
    store_result<T, kD>(out, dQ, {p.scale, p.scale}, Stored::New, warp_row, rows, p.d);  // line 9
}

// The second pass: dK and dV. One thread block per (batch, head of K and V, column block j), 16 keys a warp.
template <class Tracer, class T = Half, int kD = 64>
FS_KERNEL void fa2_backward_3_mma_columns(Global<const T> Q_all,      // [heads, n, d]
                                          Global<const T> K_all,      // [kv heads, nk, d]
                                          Global<const T> V_all,      // [kv heads, nk, dv]
                                          Global<const T> dO_all,     // [heads, n, dv]
                                          Global<const float> L_all,  // [heads, n]
                                          Global<const float> D_all,  // [heads, n]
                                          Global<T> dK_all,           // [kv heads, nk, d]
                                          Global<T> dV_all,           // [kv heads, nk, dv]
                                          AttentionShape p, Tracer probe) {
    constexpr int kB = 64;                     // queries of a tile
    constexpr int kPart = kD == 64 ? 32 : 16;  // of what a warp holds at a time: dK_j and dV_j fill its registers
    constexpr Swizzle kLayout = Swizzle::Xor;
    const int j = block_idx().x % p.col_blocks(), kv = block_idx().x / p.col_blocks();
    const int col0 = j * kB, cols = p.cols(j), warp_key = thread_idx().x / kWarpLanes * 16;
    const std::int64_t first_key = std::int64_t{kv} * p.nk + col0;

    auto chip = shared_memory();
    const Shared<T> K_j = chip.template take<T>("K_j", kB * kD);
    const Shared<T> V_j = chip.template take<T>("V_j", kB * kD);
    const Shared<T> Q_i = chip.template take<T>("Q_i", kB * kD);
    const Shared<T> dO_i = chip.template take<T>("dO_i", kB * kD);
    const Shared<float> L_i = chip.template take<float>("L_i", kB);
    const Shared<float> D_i = chip.template take<float>("D_i", kB);

    for (int member = 0; member < p.group(); ++member) {  // the query heads that read this head of K and V
        const int head = kv * p.group() + member;
        // Line 11: load K_j, V_j (again for each head, as the algorithm does); dK_j = 0, dV_j = 0.
        load_tile<kLayout, kB, kD>(K_j, slice(K_all, first_key * p.d, cols * p.d), cols, p.d);
        load_tile<kLayout, kB, kD>(V_j, slice(V_all, first_key * p.dv, cols * p.dv), cols, p.dv);
        float dK[kD / 8][4] = {}, dV[kD / 8][4] = {};  // dK without the scale

        for (int i = p.first_visible_row_block(j); i < p.row_blocks(); ++i) {  // line 12
            const int row0 = i * kB, rows = p.rows(i);
            const std::int64_t first_row = std::int64_t{head} * p.n + row0;
            load_tile<kLayout, kB, kD>(Q_i, slice(Q_all, first_row * p.d, rows * p.d), rows, p.d);  // line 13
            load_tile<kLayout, kB, kD>(dO_i, slice(dO_all, first_row * p.dv, rows * p.dv), rows, p.dv);
            load_statistic(L_i, slice(L_all, first_row, rows), rows);
            load_statistic(D_i, slice(D_all, first_row, rows), rows);
            sync_block();

            // The mask in the tile's own indices: key is visible to query r iff key - r <= diagonal.
            const int diagonal = p.causal ? row0 + p.nk - p.n - col0 : kB;
            for (int query0 = 0; query0 < kB; query0 += kPart) {
                const auto queries = slice(Q_i, query0 * kD, kPart * kD),
                           gradients = slice(dO_i, query0 * kD, kPart * kD);
                float S[kPart / 8][4] = {}, dP[kPart / 8][4] = {};  // transposed: keys x queries
                for (int k = 0; k < kD; k += 16) {
                    std::uint32_t a[4];
                    load_left<kLayout, kD>(a, K_j, warp_key, k);
                    multiply_transposed<kLayout, kD, T>(S, a, queries, k);  // line 14
                    load_left<kLayout, kD>(a, V_j, warp_key, k);
                    multiply_transposed<kLayout, kD, T>(dP, a, gradients, k);  // line 16
                }
                float P[kPart / 8][4], dS[kPart / 8][4];
                for (int n = 0; n < kPart / 8; ++n) {
                    for (int e = 0; e < 4; ++e) {
                        const int key = warp_key + fragment_row(e), r = query0 + fragment_col(n, e);
                        const bool seen = key < cols && r < rows && key - r <= diagonal;
                        S[n][e] = seen ? p.scale * S[n][e] : minus_infinity();
                        P[n][e] = exp_diff(S[n][e], L_i[r]);
                        dS[n][e] = P[n][e] * (dP[n][e] - D_i[r]);
                    }
                }
                probe.write_transposed(Slot::S_ij, head, i, j, S, query0, rows, warp_key, cols, p.B_c);
                probe.write_transposed(Slot::P_ij, head, i, j, P, query0, rows, warp_key, cols, p.B_c);
                probe.write_transposed(Slot::dP_ij, head, i, j, dP, query0, rows, warp_key, cols, p.B_c);
                probe.write_transposed(Slot::dS_ij, head, i, j, dS, query0, rows, warp_key, cols, p.B_c);
                multiply<kLayout, kD, T>(dV, P, gradients);  // line 15
                multiply<kLayout, kD, T>(dK, dS, queries);   // line 17
            }
            probe.write(Slot::dV_j, head, i, j, dV, warp_key, cols, p.dv, p.dv);
            probe.write(Slot::dK_j, head, i, j, dK, warp_key, cols, p.d, p.d, p.scale);
            sync_block();  // the next tile overwrites Q_i, dO_i, L_i, D_i; the next head K_j, V_j
        }
        // Line 18: write dK_j, dV_j. A lane writes what it summed up itself.
        const auto stored = member == 0 ? Stored::New : Stored::Added;
        const auto dK_out = slice(dK_all, first_key * p.d, cols * p.d);
        const auto dV_out = slice(dV_all, first_key * p.dv, cols * p.dv);
        store_result<T, kD>(dK_out, dK, {p.scale, p.scale}, stored, warp_key, cols, p.d);
        store_result<T, kD>(dV_out, dV, {1.0f, 1.0f}, stored, warp_key, cols, p.dv);
    }
}

struct Fa2Backward3Mma : Fa2BackwardTwoPass {
    static constexpr std::string_view id = "fa2_backward_3_mma";
    static constexpr Text title{"FlashAttention-2 backward on tensor cores: two passes, transposed products",
                                "FlashAttention-2 反向，用 Tensor Core：走两遍，乘积以转置的形式计算"};
    static constexpr std::array dtypes{DType::Fp16, DType::Bf16};
    static constexpr std::array head_dims{64, 128};
    static constexpr auto targets = kFromSm80;
    static constexpr int most_head_dim = 128, br = 64, bc = 64;
    static constexpr bool takes_mask = false;

    // Dynamic shared memory of a block of either pass, in bytes.
    static std::int64_t shared_bytes(const AttentionShape& p) {
        return std::int64_t{4 * 64} * padded_columns(p) * 2 + 2 * 64 * 4;
    }

    // The launches, the same for the executor and for a device: 4 warps per block.
    template <class Machine, class Tracer>
    static void launch(Machine& machine, const AttentionShape& p, Tracer probe) {
        for_element_and_columns(p, [&]<class T, int kD>() {
            const auto over = [&](std::string_view name, int blocks) {
                return Launch{.name = name,
                              .grid = {blocks, 1, 1},
                              .block = {128, 1, 1},
                              .shared_bytes = shared_bytes(p),
                              .limit = SharedLimit::OptIn,
                              .columns = kD};
            };
            const std::int64_t rows = std::int64_t{p.total_heads()} * p.n;
            machine.launch(Launch{.name = "fa2_backward_3_mma_row_sums",
                                  .grid = {static_cast<int>((rows + 127) / 128), 1, 1},
                                  .block = {128, 1, 1}},
                           fa2_backward_3_mma_row_sums<T>, machine.template read<T>("O"),
                           machine.template read<T>("dO"), machine.write("D"), p);
            machine.launch(over("fa2_backward_3_mma_rows", p.total_heads() * p.row_blocks()),
                           fa2_backward_3_mma_rows<Tracer, T, kD>, machine.template read<T>("Q"),
                           machine.template read<T>("K"), machine.template read<T>("V"), machine.template read<T>("dO"),
                           machine.read("L"), machine.read("D"), machine.template write<T>("dQ"), p, probe);
            machine.launch(over("fa2_backward_3_mma_columns", p.batch * p.kv_heads * p.col_blocks()),
                           fa2_backward_3_mma_columns<Tracer, T, kD>, machine.template read<T>("Q"),
                           machine.template read<T>("K"), machine.template read<T>("V"), machine.template read<T>("dO"),
                           machine.read("L"), machine.read("D"), machine.template write<T>("dK"),
                           machine.template write<T>("dV"), p, probe);
        });
    }
};

}  // namespace flashstep::gpu
