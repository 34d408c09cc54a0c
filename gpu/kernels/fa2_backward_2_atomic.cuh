// FlashAttention-2 backward in one pass, dQ by atomic adds (FA2 paper, Algorithm 2, section 3.1.2).
//
// The idea: one thread block per column block j computes S, P, dP and dS once and feeds all three gradients from them:
// dK_j and dV_j stay on chip, and its contribution scale dS_ij K_j to dQ_i is added to HBM. Blocks of different j meet
// on dQ_i, so the adds are atomic: nothing is lost, but their order, and with it the last bits of dQ, differ from run
// to run. What changed from fa2_backward_1_two_pass: five products a tile instead of seven, for reading and writing
// dQ_i at every (i, j). The launch before it computes D = rowsum(dO o O) and sets dQ to zero.
//
// Heads that share K and V are taken one after another by the block that owns dK_j and dV_j: the first stores, the
// others add. (It loads K_j and V_j again for each of them, as the algorithm does.)
//
// HBM bytes, per head (4 bytes an element; r(j) = rows in the tiles that see column block j):
//   first launch: read O n dv, dO n dv, written D n, dQ n d (zeros). Then read K nk d, V nk dv, and sum_j r(j) of Q d,
//   dO dv, L, D, and dQ d read and written; written dK nk d, dV nk dv, which all but the first head of a group also
//   read. An additive mask: M once, tile by tile.
#pragma once

#include "gpu/backward_columns.h"
#include "gpu/families/fa2_backward.h"

namespace flashstep::gpu {

// Lines 3, 4: dQ = 0, D = rowsum(dO o O). One thread per row.
FS_KERNEL void fa2_backward_2_atomic_row_sums(Global<const float> O,   // [heads, n, dv]
                                              Global<const float> dO,  // [heads, n, dv]
                                              Global<float> D,         // [heads, n]
                                              Global<float> dQ,        // [heads, n, d]
                                              AttentionShape p) {
    const std::int64_t row = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;  // of all heads
    if (row >= std::int64_t{p.total_heads()} * p.n) return;
    float sum = 0.0f;
    for (int x = 0; x < p.dv; ++x) sum += dO[row * p.dv + x] * O[row * p.dv + x];
    D[row] = sum;
    for (int x = 0; x < p.d; ++x) dQ[row * p.d + x] = 0.0f;
}

// Lines 5 to 19. One thread block per (batch, head of K and V, column block j), which walks over the row blocks i.
template <class Tracer>
FS_KERNEL void fa2_backward_2_atomic(Global<const float> Q_all,   // [heads, n, d]
                                     Global<const float> K_all,   // [kv heads, nk, d]
                                     Global<const float> V_all,   // [kv heads, nk, dv]
                                     Global<const float> M,       // [mask_rows, nk]; empty: no mask
                                     Global<const float> dO_all,  // [heads, n, dv]
                                     Global<const float> L_all,   // [heads, n]
                                     Global<const float> D_all,   // [heads, n]
                                     Global<float> dQ_all,        // [heads, n, d], added to
                                     Global<float> dK_all,        // [kv heads, nk, d]
                                     Global<float> dV_all,        // [kv heads, nk, dv]
                                     AttentionShape p, Tracer probe) {
    // The rung's own: line 15, dQ_i += scale dS_ij K_j in HBM, where the blocks of other j add too.
    const auto add_to_dQ = [&](const ColumnTile& t) {
        for (int e = thread_idx().x; e < t.rows * p.d; e += block_dim().x) {
            const int r = e / p.d, x = e % p.d;
            float sum = 0.0f;
            for (int c = 0; c < t.cols; ++c) sum += t.dS_ij[r * p.B_c + c] * t.K_j[c * p.d + x];
            sum *= p.scale;
            atomic_add(dQ_all, t.first_row * p.d + e, sum);
            probe.write(Slot::dQ_ij, t.head, t.i, t.j, e, sum);
        }
    };
    backward_columns(Q_all, K_all, V_all, M, dO_all, L_all, D_all, dK_all, dV_all, p, probe, add_to_dQ);
}

struct Fa2Backward2Atomic : Fa2Backward {
    static constexpr std::string_view id = "fa2_backward_2_atomic";
    static constexpr Text title{"FlashAttention-2 backward: one pass, dQ by atomic adds",
                                "FlashAttention-2 反向：只走一遍，dQ 用原子加累积"};
    static constexpr std::string_view algorithm = "fa2_backward";
    static constexpr int launches = 2;
    static constexpr std::array slots = tile_slots({"dQ_ij", Slot::dQ_ij, Extent::Queries, Extent::HeadColumns});
    static constexpr std::array<std::string_view, 1> order_dependent{"dQ"};

    // Dynamic shared memory of a block, in bytes.
    static std::int64_t shared_bytes(const AttentionShape& p) { return backward_columns_shared_bytes(p); }

    static BytesByTensor bytes(const AttentionShape& p) {
        const std::int64_t h = 4 * p.total_heads(), rows = loaded_rows(p);
        auto bytes = columns_bytes(p);
        bytes["dQ"] = {h * rows * p.d, h * (p.n + rows) * p.d};
        add_mask_bytes(bytes, p, loaded_mask(p));
        return bytes;
    }

    // The launches, the same for the executor and for a device.
    template <class Machine, class Tracer>
    static void launch(Machine& machine, const AttentionShape& p, Tracer probe) {
        const std::int64_t rows = std::int64_t{p.total_heads()} * p.n;
        machine.launch(Launch{.name = "fa2_backward_2_atomic_row_sums",
                              .grid = {static_cast<int>((rows + 127) / 128), 1, 1},
                              .block = {128, 1, 1}},
                       fa2_backward_2_atomic_row_sums, machine.read("O"), machine.read("dO"), machine.write("D"),
                       machine.write("dQ"), p);
        machine.launch(Launch{.name = id,
                              .grid = {p.batch * p.kv_heads * p.col_blocks(), 1, 1},
                              .block = {128, 1, 1},
                              .shared_bytes = shared_bytes(p),
                              .limit = SharedLimit::OptIn},
                       fa2_backward_2_atomic<Tracer>, machine.read("Q"), machine.read("K"), machine.read("V"),
                       mask_view(machine, p), machine.read("dO"), machine.read("L"), machine.read("D"),
                       machine.write("dQ"), machine.write("dK"), machine.write("dV"), p, probe);
    }
};

}  // namespace flashstep::gpu
