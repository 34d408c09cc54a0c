// Probes: how a kernel hands out its intermediate values. NoProbe compiles to nothing; Probe writes each value to a
// fixed place in a buffer, so that no two threads meet and no atomic is needed. Read by nvcc too.
#pragma once

#include <cstdint>

#include "gpu/device.h"

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
};

}  // namespace flashstep::gpu
