// FlashAttention-2 forward on tensor cores (FA2 paper, Algorithm 1; section 3.3 for the warps).
//
// The idea: both products are mma instructions on 16-bit elements with fp32 accumulation. Each of four warps owns 16
// rows of Q_i from the first product to the last division: S, P, O, m and l live in its registers, rows are reduced by
// two shuffles, and the result of the first product, rounded to 16 bits, is the left operand of the second as it
// stands. Only Q_i, K_j and V_j are in shared memory, and the warps meet only around the loads of K_j and V_j.
//
// From the rung before (2_warps): fp16 or bf16 instead of fp32, tensor cores instead of scalar sums, S and P in
// registers instead of shared memory. Tiles lie in shared memory as in HBM, row below row, so that the eight rows of
// every ldmatrix fall into the same banks; the next rung mends that.
//
// Head dimensions up to 128 are padded on chip to 64 or 128 with zeros; only true columns are read. B_r = 64, B_c = 64.
// HBM bytes, per head (2 bytes an element, L 4; c(i) = keys in the tiles that row block i sees, nk without a mask):
//   read Q n d, K sum_i c(i) d, V sum_i c(i) dv; written O n dv, L n.
#pragma once

#include "gpu/families/fa2_forward.h"
#include "gpu/softmax_rows.h"

namespace flashstep::gpu {

template <class Tracer, class T = Half, int kD = 64>
FS_KERNEL void fa2_forward_3_mma(Global<const T> Q,  // [heads, n, d]
                                 Global<const T> K,  // [kv heads, nk, d]
                                 Global<const T> V,  // [kv heads, nk, dv]
                                 Global<T> O,        // [heads, n, dv]
                                 Global<float> L,    // [heads, n], log-sum-exp of each row
                                 AttentionShape p, Tracer probe) {
    constexpr int kB = 64;  // B_r, B_c
    constexpr Swizzle kLayout = Swizzle::None;
    const RowBlock<T> b = row_block<T>(Q, K, V, O, L, p);
    const int warp_row = b.warp * 16;  // of this warp's rows, within the block

    auto chip = shared_memory();
    const Shared<T> Q_i = chip.template take<T>("Q_i", kB * kD);
    const Shared<T> K_j = chip.template take<T>("K_j", kB * kD);
    const Shared<T> V_j = chip.template take<T>("V_j", kB * kD);

    load_tile<kLayout, kB, kD>(Q_i, b.Q, b.rows, p.d);  // line 4
    OutputRows<kD> rows;
    rows.start();  // line 5

    for (int j = 0; j < p.visible_blocks(b.i); ++j) {  // line 6
        const int cols = p.cols(j);
        load_tile<kLayout, kB, kD>(K_j, b.K_block(p, j), cols, p.d);  // line 7
        load_tile<kLayout, kB, kD>(V_j, b.V_block(p, j), cols, p.dv);
        sync_block();

        float S[kB / 8][4] = {};  // line 8: 16 x B_c of the warp
        for (int k = 0; k < kD; k += 16) {
            std::uint32_t q[4];
            load_left<kLayout, kD>(q, Q_i, warp_row, k);
            multiply_transposed<kLayout, kD, T>(S, q, K_j, k);
        }
        scale_and_mask(S, p, p.scale, b.row0 + warp_row, j * kB, cols);
        probe.write(Slot::S_ij, b.head, b.i, j, S, warp_row, b.rows, cols, p.B_c);
        softmax_step<Exponential::Natural>(S, rows);  // line 9; S is P from here on
        probe.write(Slot::P_ij, b.head, b.i, j, S, warp_row, b.rows, cols, p.B_c);
        probe.write(Slot::m_i, b.head, b.i, j, rows.m, warp_row, b.rows);
        probe.write(Slot::l_i, b.head, b.i, j, rows.l, warp_row, b.rows);
        multiply<kLayout, kD, T>(rows.O, S, V_j);  // line 10
        probe.write(Slot::O_i, b.head, b.i, j, rows.O, warp_row, b.rows, p.dv, p.dv);
        sync_block();  // the next tile overwrites K_j, V_j
    }
    store_rows<Exponential::Natural, T>(rows, b.O, b.L, warp_row, b.rows, p.dv);  // lines 12 to 15
}

struct Fa2Forward3Mma : Fa2ForwardOnTensorCores {
    static constexpr std::string_view id = "fa2_forward_3_mma";
    static constexpr Text title{"FlashAttention-2 forward on tensor cores: S and P in registers",
                                "FlashAttention-2 前向，用 Tensor Core：S 和 P 留在寄存器里"};

    // Dynamic shared memory of a block, in bytes.
    static std::int64_t shared_bytes(const AttentionShape& p) { return std::int64_t{3 * 64} * padded_columns(p) * 2; }

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
                           fa2_forward_3_mma<Tracer, T, kD>, machine.template read<T>("Q"),
                           machine.template read<T>("K"), machine.template read<T>("V"), machine.template write<T>("O"),
                           machine.write("L"), p, probe);
        });
    }
};

}  // namespace flashstep::gpu
