// FlashAttention-2 forward on tensor cores with base-2 exponentials (FA2 paper, Algorithm 1).
//
// The idea: the special function unit knows 2^x, not e^x. e^(s - m) = 2^(s log2(e) - m log2(e)), and log2(e) disappears
// in the scale: scores are formed as (scale log2(e)) QK^T, and each exponential saves a multiplication. m is then in
// base 2 until the end, where L = ln(2) m + log(l): forgetting that is an error of a factor ln 2 that no output shows.
//
// All else is as in the rung before (5_cp_async).
//
// Head dimensions up to 128 are padded on chip to 64 or 128 with zeros; only true columns are read. B_r = 64, B_c = 64.
// HBM bytes, per head (2 bytes an element, L 4; c(i) = keys in the tiles that row block i sees, nk without a mask):
//   read Q n d, K sum_i c(i) d, V sum_i c(i) dv; written O n dv, L n.
#pragma once

#include "gpu/families/fa2_forward.h"
#include "gpu/softmax_rows.h"

namespace flashstep::gpu {

template <class Tracer, class T = Half, int kD = 64>
FS_KERNEL void fa2_forward_6_exp2(Global<const T> Q,  // [heads, n, d]
                                  Global<const T> K,  // [kv heads, nk, d]
                                  Global<const T> V,  // [kv heads, nk, dv]
                                  Global<T> O,        // [heads, n, dv]
                                  Global<float> L,    // [heads, n], log-sum-exp of each row
                                  AttentionShape p, Tracer probe) {
    constexpr int kB = 64;  // B_r, B_c
    constexpr Swizzle kLayout = Swizzle::Xor;
    const RowBlock<T> b = row_block<T>(Q, K, V, O, L, p);
    const int warp_row = b.warp * 16;  // of this warp's rows, within the block
    const int tiles = p.visible_blocks(b.i);
    constexpr float kLog2e = 1.44269504088896f;

    auto chip = shared_memory();
    const Shared<T> Q_i = chip.template take<T>("Q_i", kB * kD);
    const Shared<T> K_stages = chip.template take<T>("K_j, two stages", 2 * kB * kD);
    const Shared<T> V_stages = chip.template take<T>("V_j, two stages", 2 * kB * kD);
    const auto stage = [](const Shared<T>& stages, int j) { return slice(stages, j % 2 * kB * kD, kB * kD); };
    const auto fetch = [&](int j) {  // line 7, without waiting
        load_tile_async<kLayout, kB, kD>(stage(K_stages, j), b.K_block(p, j), p.cols(j), p.d);
        load_tile_async<kLayout, kB, kD>(stage(V_stages, j), b.V_block(p, j), p.cols(j), p.dv);
    };

    load_tile_async<kLayout, kB, kD>(Q_i, b.Q, b.rows, p.d);  // line 4
    if (tiles > 0) fetch(0);
    cp_async_commit();
    OutputRows<kD> rows;
    rows.start();  // line 5

    for (int j = 0; j < tiles; ++j) {  // line 6
        if (j + 1 < tiles) fetch(j + 1);
        cp_async_commit();
        cp_async_wait<1>();  // all but the newest group: this tile is there
        sync_block();

        float S[kB / 8][4] = {};  // line 8: 16 x B_c of the warp
        for (int k = 0; k < kD; k += 16) {
            std::uint32_t q[4];
            load_left<kLayout, kD>(q, Q_i, warp_row, k);
            multiply_transposed<kLayout, kD, T>(S, q, stage(K_stages, j), k);
        }
        scale_and_mask(S, p, kLog2e * p.scale, b.row0 + warp_row, j * kB, p.cols(j));
        probe.write(Slot::S_ij, b.head, b.i, j, S, warp_row, b.rows, p.cols(j), p.B_c);
        softmax_step<Exponential::Base2>(S, rows);  // line 9; S is P from here on
        probe.write(Slot::P_ij, b.head, b.i, j, S, warp_row, b.rows, p.cols(j), p.B_c);
        probe.write(Slot::m_i, b.head, b.i, j, rows.m, warp_row, b.rows);
        probe.write(Slot::l_i, b.head, b.i, j, rows.l, warp_row, b.rows);
        multiply<kLayout, kD, T>(rows.O, S, stage(V_stages, j));  // line 10
        probe.write(Slot::O_i, b.head, b.i, j, rows.O, warp_row, b.rows, p.dv, p.dv);
        sync_block();  // the next round fetches into this stage
    }
    cp_async_wait<0>();  // nothing is on its way any more, unless there were no tiles
    store_rows<Exponential::Base2, T>(rows, b.O, b.L, warp_row, b.rows, p.dv);  // lines 12 to 15
}

struct Fa2Forward6Exp2 : Fa2ForwardOnTensorCores {
    static constexpr std::string_view id = "fa2_forward_6_exp2";
    static constexpr Text title{"FlashAttention-2 forward on tensor cores: base-2 exponentials, log2(e) in the scale",
                                "FlashAttention-2 前向，用 Tensor Core：以 2 为底的指数，log2(e) 并入缩放系数"};
    static constexpr auto targets = kFromSm80;
    static constexpr bool base2 = true;

    // Dynamic shared memory of a block, in bytes.
    static std::int64_t shared_bytes(const AttentionShape& p) { return std::int64_t{5 * 64} * padded_columns(p) * 2; }

    // The launch, the same for the executor and for a device: 4 warps per block.
    template <class Machine, class Tracer>
    static void launch(Machine& machine, const AttentionShape& p, Tracer probe) {
        for_element_and_columns(p, [&]<class T, int kD>() {
            machine.launch(Launch{.name = id,
                                  .grid = {p.total_heads() * p.row_blocks(), 1, 1},
                                  .block = {128, 1, 1},
                                  .shared_bytes = shared_bytes(p),
                                  .limit = SharedLimit::OptIn,
                                  .columns = kD},
                           fa2_forward_6_exp2<Tracer, T, kD>, machine.template read<T>("Q"),
                           machine.template read<T>("K"), machine.template read<T>("V"), machine.template write<T>("O"),
                           machine.write("L"), p, probe);
        });
    }
};

}  // namespace flashstep::gpu
