// The additive mask on chip: the tile of M that is added to S_ij. Read by nvcc too.
#pragma once

#include "gpu/attention_shape.h"
#include "gpu/device.h"

namespace flashstep::gpu {

// The mask in HBM, [mask_rows, nk] and the same for all heads; an empty view where there is none.
template <class Machine>
Global<const float> mask_view(Machine& machine, const AttentionShape& p) {
    return p.mask_rows > 0 ? machine.read("M") : Global<const float>{};
}

// M_ij (mask_tile_rows x B_c), by all threads of the block: each element that tile (i, j) needs is read once, a row of
// key padding once for all rows of the tile; what lies past the end of M is zero.
template <class Tile>
FS_DEVICE void load_mask_tile(const Tile& M_ij, Global<const float> M, const AttentionShape& p, int i, int j) {
    const int row0 = p.mask_rows > 1 ? i * p.B_r : 0, rows = p.mask_rows > 1 ? p.rows(i) : p.mask_rows;
    const int col0 = j * p.B_c, cols = p.cols(j);
    for (int e = thread_idx().x; e < p.mask_tile_rows() * p.B_c; e += block_dim().x) {
        const int r = e / p.B_c, c = e % p.B_c;
        M_ij[e] = r < rows && c < cols ? M[std::int64_t{row0 + r} * p.nk + col0 + c] : 0.0f;
    }
}

// A score of the tile with its mask added.
template <class Tile>
FS_DEVICE float add_mask(float score, const Tile& M_ij, const AttentionShape& p, int r, int c) {
    return p.mask_rows > 0 ? score + M_ij[p.mask_rows > 1 ? r * p.B_c + c : c] : score;
}

}  // namespace flashstep::gpu
