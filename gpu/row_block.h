// What one thread block of a FlashAttention-2 forward kernel on tensor cores works on. Read by nvcc too.
#pragma once

#include "gpu/attention_shape.h"
#include "gpu/device.h"
#include "gpu/fragment.h"

namespace flashstep::gpu {

// Row block i of one query head, and the head of K and V that it reads.
template <class T>
struct RowBlock {
    int i, head;
    int row0, rows;        // of the block: the first row in the matrix, and how many there are
    int warp;              // of the thread
    Global<const T> Q;     // (rows x d)
    Global<const T> K, V;  // (nk x d), (nk x dv)
    Global<T> O;           // (rows x dv)
    Global<float> L;       // (rows x 1)

    FS_DEVICE Global<const T> K_block(const AttentionShape& p, int j) const {  // (cols x d)
        return slice(K, std::int64_t{j} * p.B_c * p.d, p.cols(j) * p.d);
    }
    FS_DEVICE Global<const T> V_block(const AttentionShape& p, int j) const {  // (cols x dv)
        return slice(V, std::int64_t{j} * p.B_c * p.dv, p.cols(j) * p.dv);
    }
};

// Blocks of threads are numbered head by head; offsets have 64 bits, as heads * n * d may exceed 2^31.
template <class T>
FS_DEVICE RowBlock<T> row_block(const Global<const T>& Q, const Global<const T>& K, const Global<const T>& V,
                                const Global<T>& O, const Global<float>& L, const AttentionShape& p) {
    const int i = block_idx().x % p.row_blocks(), head = block_idx().x / p.row_blocks();
    const int row0 = i * p.B_r, rows = p.rows(i);
    const std::int64_t first = std::int64_t{head} * p.n + row0, kv = p.kv_head(head);
    return {i,
            head,
            row0,
            rows,
            thread_idx().x / kWarpLanes,
            slice(Q, first * p.d, rows * p.d),
            slice(K, kv * p.nk * p.d, p.nk * p.d),
            slice(V, kv * p.nk * p.dv, p.nk * p.dv),
            slice(O, first * p.dv, rows * p.dv),
            slice(L, first, rows)};
}

// The head dimension that a kernel pads d and d_v to.
FS_HOST_DEVICE int padded_columns(const AttentionShape& p) { return p.d > 64 || p.dv > 64 ? 128 : 64; }

}  // namespace flashstep::gpu
