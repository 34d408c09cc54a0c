// Probes: how a kernel hands out its intermediate values. NoProbe compiles to nothing; Probe writes each value to a
// fixed place in a buffer, so that no two threads meet and no atomic is needed. Read by nvcc too.
#pragma once

#include <cstdint>

#include "gpu/device.h"
#include "gpu/fragment.h"

namespace flashstep::gpu {

// What can be captured per (head, i, j): the mirror's tensor of that name after the tile (i, j).
enum class Slot {
    // forward; a tile's own statistics and the running ones are FlashAttention-1's
    S_ij,
    m_i,
    l_i,
    P_ij,
    O_i,
    m_ij,
    l_ij,
    m_new,
    l_new,
    // backward: sums so far, but dQ_ij, which is one tile's contribution to dQ_i
    dP_ij,
    dS_ij,
    dQ_i,
    dQ_ij,
    dK_j,
    dV_j,
    // softmax, whose tiles are single scores
    m,
    l,
    p,
    Count,
};
constexpr int kSlots = static_cast<int>(Slot::Count);

struct NoProbe {
    FS_DEVICE void write(Slot, int, int, int, int, float) const {}
    template <int kTiles>
    FS_DEVICE void write(Slot, int, int, int, const float (&)[kTiles][4], int, int, int, int, float = 1) const {}
    template <int kTiles>
    FS_DEVICE void write_transposed(Slot, int, int, int, const float (&)[kTiles][4], int, int, int, int, int) const {}
    FS_DEVICE void write(Slot, int, int, int, const float (&)[2], int, int) const {}
};

struct Probe {
    float* values;
    int row_blocks, col_blocks;   // T_r, T_c
    std::int64_t first[kSlots];   // where a slot starts in `values`
    std::int64_t stride[kSlots];  // elements of one (padded) tile of the slot

    FS_HOST_DEVICE std::int64_t place(Slot slot, int head, int i, int j) const {
        const int s = static_cast<int>(slot);
        return first[s] + ((std::int64_t{head} * row_blocks + i) * col_blocks + j) * stride[s];
    }
    // `element` counts inside the padded tile: row * (its columns) + column.
    FS_DEVICE void write(Slot slot, int head, int i, int j, int element, float value) const {
        values[place(slot, head, i, j) + element] = value;
    }
    // What a warp holds as results of tensor cores: its 16 rows start at row0 of a tile of `rows` x `cols` true
    // elements, `padded` columns apart; each number times `factor`.
    template <int kTiles>
    FS_DEVICE void write(Slot slot, int head, int i, int j, const float (&result)[kTiles][4], int row0, int rows,
                         int cols, int padded, float factor = 1) const {
        for (int n = 0; n < kTiles; ++n) {
            for (int e = 0; e < 4; ++e) {
                const int r = row0 + fragment_row(e), c = fragment_col(n, e);
                if (r < rows && c < cols) write(slot, head, i, j, r * padded + c, factor * result[n][e]);
            }
        }
    }
    // The same where the warp holds columns of the tile: the results' rows are its columns from col0 on, their columns
    // its rows from row0 on.
    template <int kTiles>
    FS_DEVICE void write_transposed(Slot slot, int head, int i, int j, const float (&result)[kTiles][4], int row0,
                                    int rows, int col0, int cols, int padded) const {
        for (int n = 0; n < kTiles; ++n) {
            for (int e = 0; e < 4; ++e) {
                const int r = row0 + fragment_col(n, e), c = col0 + fragment_row(e);
                if (r < rows && c < cols) write(slot, head, i, j, r * padded + c, result[n][e]);
            }
        }
    }
    // A number for each of these rows, which the four lanes of a row share.
    FS_DEVICE void write(Slot slot, int head, int i, int j, const float (&of_row)[2], int row0, int rows) const {
        for (int h = 0; h < 2; ++h) {
            const int r = row0 + fragment_row(2 * h);
            if (r < rows && fragment_col(0, 0) == 0) write(slot, head, i, j, r, of_row[h]);
        }
    }
};

}  // namespace flashstep::gpu
