// FlashAttention-2 forward on tensor cores with Q in registers and bigger tiles (FA2 paper, Algorithm 1).
//
// The idea: shared memory is read less. Q_i does not change over the tiles: each warp reads its left operands once and
// keeps them. And a row block has 128 rows: for d = 64 each of four warps owns 32 rows, so that each fragment of K_j
// and V_j that it reads from shared memory is multiplied twice; for d = 128, whose O would not fit beside that, eight
// warps own 16 rows each, and K_j and V_j come from HBM half as often.
//
// All else is as in the rung before (6_exp2).
//
// Head dimensions up to 128 are padded on chip to 64 or 128 with zeros; only true columns are read. B_r = 128, B_c
// = 64. HBM bytes, per head (2 bytes an element, L 4; c(i) = keys in the tiles that row block i sees, nk without a
// mask):
//   read Q n d, K sum_i c(i) d, V sum_i c(i) dv; written O n dv, L n.
#pragma once

#include "gpu/families/fa2_forward.h"
#include "gpu/softmax_rows.h"

namespace flashstep::gpu {

// S[g] (16 x kKeys) += Q K^T over the k-th 16 columns of Q and K, for each group of rows: every fragment of K_j is read
// once.
template <Swizzle kLayout, int kD, class T, int kM, int kKeyTiles, class Tile>
FS_DEVICE void multiply_transposed(float (&S)[kM][kKeyTiles][4], const std::uint32_t (&q)[kM][kD / 16][4], int k,
                                   const Tile& K_j) {
    for (int n = 0; n < kKeyTiles; n += 2) {
        std::uint32_t keys[4];
        load_keys<kLayout, kD>(keys, K_j, n, 16 * k);
        unrolled<kM>([&](int g) {
            mma_m16n8k16<T>(S[g][n], q[g][k], {keys[0], keys[1]}, S[g][n]);
            mma_m16n8k16<T>(S[g][n + 1], q[g][k], {keys[2], keys[3]}, S[g][n + 1]);
        });
    }
}

// O[g] (16 x kD) += P[g] V_j: every fragment of V_j is read once.
template <Swizzle kLayout, int kD, class T, int kM, int kKeyTiles, class Tile>
FS_DEVICE void multiply(OutputRows<kD> (&rows)[kM], const float (&P)[kM][kKeyTiles][4], const Tile& V_j) {
    for (int k = 0; k < kKeyTiles; k += 2) {
        std::uint32_t weights[kM][4];
        unrolled<kM>([&](int g) { pack_left<T>(weights[g], P[g][k], P[g][k + 1]); });
        for (int x = 0; x < kD / 8; x += 2) {
            std::uint32_t values[4];
            load_values<kLayout, kD>(values, V_j, k, x);
            unrolled<kM>([&](int g) {
                mma_m16n8k16<T>(rows[g].O[x], weights[g], {values[0], values[1]}, rows[g].O[x]);
                mma_m16n8k16<T>(rows[g].O[x + 1], weights[g], {values[2], values[3]}, rows[g].O[x + 1]);
            });
        }
    }
}

template <class Tracer, class T = Half, int kD = 64>
FS_KERNEL void fa2_forward_7_registers(Global<const T> Q,  // [heads, n, d]
                                       Global<const T> K,  // [kv heads, nk, d]
                                       Global<const T> V,  // [kv heads, nk, dv]
                                       Global<T> O,        // [heads, n, dv]
                                       Global<float> L,    // [heads, n], log-sum-exp of each row
                                       AttentionShape p, Tracer probe) {
    constexpr int kB = 64;                // B_c
    constexpr int kM = kD == 64 ? 2 : 1;  // groups of 16 rows that a warp owns
    constexpr int kRows = 128;            // B_r
    constexpr Swizzle kLayout = Swizzle::Xor;
    constexpr float kLog2e = 1.44269504088896f;
    const RowBlock<T> b = row_block<T>(Q, K, V, O, L, p);
    const int warp_row = b.warp * 16 * kM;  // of this warp's rows, within the block
    const int tiles = p.visible_blocks(b.i);

    auto chip = shared_memory();
    const Shared<T> Q_i = chip.template take<T>("Q_i", kRows * kD);
    const Shared<T> K_stages = chip.template take<T>("K_j, two stages", 2 * kB * kD);
    const Shared<T> V_stages = chip.template take<T>("V_j, two stages", 2 * kB * kD);
    const auto stage = [](const Shared<T>& stages, int j) { return slice(stages, j % 2 * kB * kD, kB * kD); };
    const auto fetch = [&](int j) {  // line 7, without waiting
        load_tile_async<kLayout, kB, kD>(stage(K_stages, j), b.K_block(p, j), p.cols(j), p.d);
        load_tile_async<kLayout, kB, kD>(stage(V_stages, j), b.V_block(p, j), p.cols(j), p.dv);
    };

    load_tile_async<kLayout, kRows, kD>(Q_i, b.Q, b.rows, p.d);  // line 4
    cp_async_commit();
    if (tiles > 0) fetch(0);
    cp_async_commit();
    cp_async_wait<1>();  // Q_i is there
    sync_block();
    std::uint32_t q[kM][kD / 16][4];
    OutputRows<kD> rows[kM];
    unrolled<kM>([&](int g) {
        unrolled<kD / 16>([&](int k) { load_left<kLayout, kD>(q[g][k], Q_i, warp_row + 16 * g, 16 * k); });
        rows[g].start();  // line 5
    });

    for (int j = 0; j < tiles; ++j) {  // line 6
        if (j + 1 < tiles) fetch(j + 1);
        cp_async_commit();
        cp_async_wait<1>();  // all but the newest group: this tile is there
        sync_block();

        float S[kM][kB / 8][4] = {};  // line 8: 16 x B_c for each group
        unrolled<kD / 16>([&](int k) { multiply_transposed<kLayout, kD, T>(S, q, k, stage(K_stages, j)); });
        unrolled<kM>([&](int g) {
            const int row = warp_row + 16 * g;
            scale_and_mask(S[g], p, kLog2e * p.scale, b.row0 + row, j * kB, p.cols(j));
            probe.write(Slot::S_ij, b.head, b.i, j, S[g], row, b.rows, p.cols(j), p.B_c);
            softmax_step<Exponential::Base2>(S[g], rows[g]);  // line 9; S is P from here on
            probe.write(Slot::P_ij, b.head, b.i, j, S[g], row, b.rows, p.cols(j), p.B_c);
            probe.write(Slot::m_i, b.head, b.i, j, rows[g].m, row, b.rows);
            probe.write(Slot::l_i, b.head, b.i, j, rows[g].l, row, b.rows);
        });
        multiply<kLayout, kD, T>(rows, S, stage(V_stages, j));  // line 10
        unrolled<kM>([&]([[maybe_unused]] int g) {
            probe.write(Slot::O_i, b.head, b.i, j, rows[g].O, warp_row + 16 * g, b.rows, p.dv, p.dv);
        });
        sync_block();  // the next round fetches into this stage
    }
    unrolled<kM>([&](int g) {  // lines 12 to 15
        store_rows<Exponential::Base2, T>(rows[g], b.O, b.L, warp_row + 16 * g, b.rows, p.dv);
    });
}

struct Fa2Forward7Registers : Fa2ForwardOnTensorCores {
    static constexpr std::string_view id = "fa2_forward_7_registers";
    static constexpr Text title{"FlashAttention-2 forward on tensor cores: Q in registers, 128 rows a block",
                                "FlashAttention-2 前向，用 Tensor Core：Q 留在寄存器里，每块 128 行"};
    static constexpr auto targets = kFromSm80;
    static constexpr int br = 128;
    static constexpr bool base2 = true;

    // Dynamic shared memory of a block, in bytes.
    static std::int64_t shared_bytes(const AttentionShape& p) {
        return std::int64_t{128 + 4 * 64} * padded_columns(p) * 2;
    }

    // The launch, the same for the executor and for a device: 4 or 8 warps per block.
    template <class Machine, class Tracer>
    static void launch(Machine& machine, const AttentionShape& p, Tracer probe) {
        for_element_and_columns(p, [&]<class T, int kD>() {
            machine.launch(Launch{.name = id,
                                  .grid = {p.total_heads() * p.row_blocks(), 1, 1},
                                  .block = {kD == 64 ? 128 : 256, 1, 1},
                                  .shared_bytes = shared_bytes(p),
                                  .limit = SharedLimit::OptIn,
                                  .columns = kD},
                           fa2_forward_7_registers<Tracer, T, kD>, machine.template read<T>("Q"),
                           machine.template read<T>("K"), machine.template read<T>("V"), machine.template write<T>("O"),
                           machine.write("L"), p, probe);
        });
    }
};

}  // namespace flashstep::gpu
