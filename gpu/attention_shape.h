// The sizes of an attention problem as kernels see them, and how it falls into tiles. Plain data, read by nvcc too.
#pragma once

#include <cstdint>

#include "gpu/device.h"
#include "gpu/element.h"

namespace flashstep::gpu {

struct AttentionShape {
    int n, nk, d, dv;                 // rows of Q; rows of K and V; columns of Q and K; columns of V and O
    int B_r, B_c;                     // rows of a block of Q; of a block of K and V
    int batch, heads, kv_heads;       // heads of one batch entry
    float scale;                      // tau
    int causal;                       // 1: bottom-right causal mask
    int mask_rows;                    // of the additive mask M: 0 there is none, 1 key padding [1, nk], n [n, nk]
    Element element = Element::Fp32;  // of the matrices; statistics (m, l, L, D) are fp32

    FS_HOST_DEVICE int total_heads() const { return batch * heads; }
    FS_HOST_DEVICE int row_blocks() const { return (n + B_r - 1) / B_r; }   // T_r
    FS_HOST_DEVICE int col_blocks() const { return (nk + B_c - 1) / B_c; }  // T_c
    // True rows of row block i, and of column block j.
    FS_HOST_DEVICE int rows(int i) const { return n - i * B_r < B_r ? n - i * B_r : B_r; }
    FS_HOST_DEVICE int cols(int j) const { return nk - j * B_c < B_c ? nk - j * B_c : B_c; }
    // Rows that the tile (i, j) of the mask has on chip; its columns are those of S_ij.
    FS_HOST_DEVICE int mask_tile_rows() const { return mask_rows > 1 ? B_r : mask_rows; }
    FS_HOST_DEVICE int group() const { return heads / kv_heads; }  // query heads that share a head of K and V
    // The head of K and V that query head `head` (batch-major) reads.
    FS_HOST_DEVICE int kv_head(int head) const { return head / heads * kv_heads + head % heads / (heads / kv_heads); }
    FS_HOST_DEVICE bool visible(int row, int col) const { return !causal || col <= row + nk - n; }
    // Leading column blocks that row block i looks at: one is skipped iff its first key is invisible to the last row.
    FS_HOST_DEVICE int visible_blocks(int i) const {
        if (!causal) return col_blocks();
        const int last_key = i * B_r + rows(i) - 1 + nk - n;
        if (last_key < 0) return 0;
        return last_key / B_c + 1 < col_blocks() ? last_key / B_c + 1 : col_blocks();
    }
    // The first row block that looks at column block j, row_blocks() if none does. Those after it do too.
    FS_HOST_DEVICE int first_visible_row_block(int j) const {
        const int first_row = j * B_c - (nk - n);  // the first row that sees the block's first key
        if (!causal || first_row <= 0) return 0;
        return first_row >= n ? row_blocks() : first_row / B_r;
    }
};

}  // namespace flashstep::gpu
