// FlashAttention-2 forward on tensor cores with prefetched tiles (FA2 paper, Algorithm 1).
//
// The idea: K and V travel while the warps compute. Shared memory holds two stages of K_j and V_j; before the block
// works on one, it issues asynchronous copies (cp.async) of the next into the other. A group of copies belongs to each
// tile: waiting for all but the newest group means that this tile is there. In the rung before (4_swizzle) every load
// went through registers, and the tensor cores waited for it.
//
// cp.async exists from sm_80 on. Rows that do not start at multiples of 16 bytes (d % 8 != 0) are loaded element by
// element, without overlap.
//
// Head dimensions up to 128 are padded on chip to 64 or 128 with zeros; only true columns are read. B_r = 64, B_c = 64.
// HBM bytes, per head (2 bytes an element, L 4; c(i) = keys in the tiles that row block i sees, nk without a mask):
//   read Q n d, K sum_i c(i) d, V sum_i c(i) dv; written O n dv, L n.
#pragma once

#include "gpu/families/fa2_forward.h"
#include "gpu/softmax_rows.h"

namespace flashstep::gpu {

template <class Tracer, class T = Half, int kD = 64>
FS_KERNEL void fa2_forward_5_cp_async(Global<const T> Q,  // [heads, n, d]
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
        scale_and_mask(S, p, p.scale, b.row0 + warp_row, j * kB, p.cols(j));
        probe.write(Slot::S_ij, b.head, b.i, j, S, warp_row, b.rows, p.cols(j), p.B_c);
        softmax_step<Exponential::Natural>(S, rows);  // line 9; S is P from here on
        probe.write(Slot::P_ij, b.head, b.i, j, S, warp_row, b.rows, p.cols(j), p.B_c);
        probe.write(Slot::m_i, b.head, b.i, j, rows.m, warp_row, b.rows);
        probe.write(Slot::l_i, b.head, b.i, j, rows.l, warp_row, b.rows);
        multiply<kLayout, kD, T>(rows.O, S, stage(V_stages, j));  // line 10
        probe.write(Slot::O_i, b.head, b.i, j, rows.O, warp_row, b.rows, p.dv, p.dv);
        sync_block();  // the next round fetches into this stage
    }
    cp_async_wait<0>();  // nothing is on its way any more, unless there were no tiles
    store_rows<Exponential::Natural, T>(rows, b.O, b.L, warp_row, b.rows, p.dv);  // lines 12 to 15
}

struct Fa2Forward5CpAsync : Fa2ForwardOnTensorCores {
    static constexpr std::string_view id = "fa2_forward_5_cp_async";
    static constexpr Text title{
        "FlashAttention-2 forward on tensor cores: the next tiles travel while this one is computed",
        "FlashAttention-2 前向，用 Tensor Core：算这一块时，下一块已经在路上"};
    static constexpr auto targets = kFromSm80;

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
                           fa2_forward_5_cp_async<Tracer, T, kD>, machine.template read<T>("Q"),
                           machine.template read<T>("K"), machine.template read<T>("V"), machine.template write<T>("O"),
                           machine.write("L"), p, probe);
        });
    }
};

}  // namespace flashstep::gpu
