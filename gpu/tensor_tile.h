// Tiles of 16-bit elements in shared memory, and what a warp multiplies out of them with tensor cores. Read by nvcc
// too.
//
// Fragments as in the PTX ISA (mma.m16n8k16, ldmatrix), g = lane / 4, t = lane % 4: of a 16 x 8 result a lane holds
// [g, 2t], [g, 2t+1], [g+8, 2t], [g+8, 2t+1]. Rounded to 16 bits, two such results beside each other are the left
// operand of the next product, so that P never leaves the registers.
#pragma once

#include "gpu/attention_shape.h"
#include "gpu/device.h"
#include "gpu/fragment.h"

namespace flashstep::gpu {

constexpr int kChunk = 8;  // elements of 16 bytes

// Where the rows of a tile lie. A row of 64 elements covers all 32 banks, so that eight rows below each other, which is
// what ldmatrix reads, meet in the same four. Xor exchanges the chunks of each row by the row's number.
enum class Swizzle { None, Xor };

template <Swizzle kSwizzle, int kColumns>
FS_HOST_DEVICE int place(int row, int col) {
    static_assert(kColumns % 64 == 0);
    if constexpr (kSwizzle == Swizzle::None) {
        return row * kColumns + col;
    } else {
        return row * kColumns + (col ^ (row % 8 * kChunk));
    }
}

// The block brings kRows x kColumns elements: `rows` x `columns` of them from HBM, where a row has `columns` elements,
// and zeros elsewhere. 16 bytes a thread, or single elements where rows do not start at multiples of 16 bytes.
template <Swizzle kSwizzle, int kRows, int kColumns, class Tile, class From>
FS_DEVICE void load_tile(const Tile& tile, const From& from, int rows, int columns) {
    for (int e = thread_idx().x; e < kRows * kColumns / kChunk; e += block_dim().x) {
        const int r = e / (kColumns / kChunk), c = e % (kColumns / kChunk) * kChunk;
        auto chunk = decltype(load_16(tile, 0)){};
        if (r < rows && columns % kChunk == 0 && c < columns) {
            chunk = load_16(from, std::int64_t{r} * columns + c);
        } else if (r < rows) {
            for (int x = 0; x < kChunk && c + x < columns; ++x) chunk.v[x] = from[std::int64_t{r} * columns + c + x];
        }
        store_16(tile, place<kSwizzle, kColumns>(r, c), chunk);
    }
}

// The left operand: rows [row0, row0 + 16), columns [col0, col0 + 16) of a tile.
template <Swizzle kSwizzle, int kColumns, class Tile>
FS_DEVICE void load_left(std::uint32_t (&a)[4], const Tile& tile, int row0, int col0) {
    const int lane = thread_idx().x % kWarpLanes;
    ldmatrix_x4(a, tile, place<kSwizzle, kColumns>(row0 + lane % 16, col0 + lane / 16 * kChunk));
}

// S (16 x kKeys, as kKeys / 8 results) += Q K^T over 16 columns of Q and K: `q` is Q's left operand, col0 their place
// in K_j.
template <Swizzle kSwizzle, int kColumns, class T, int kKeyTiles, class Tile>
FS_DEVICE void multiply_transposed(float (&S)[kKeyTiles][4], const std::uint32_t (&q)[4], const Tile& K_j, int col0) {
    const int lane = thread_idx().x % kWarpLanes;
    for (int n = 0; n < kKeyTiles; n += 2) {  // four matrices: two groups of eight keys, two halves of the columns
        std::uint32_t k[4];
        const int row = n * 8 + lane / 16 * 8 + lane % 8, col = col0 + lane / 8 % 2 * kChunk;
        ldmatrix_x4(k, K_j, place<kSwizzle, kColumns>(row, col));
        mma_m16n8k16<T>(S[n], q, {k[0], k[1]}, S[n]);
        mma_m16n8k16<T>(S[n + 1], q, {k[2], k[3]}, S[n + 1]);
    }
}

// O (16 x kColumns, as kColumns / 8 results) += P V_j, with P (16 x kKeys) rounded to the format.
template <Swizzle kSwizzle, int kColumns, class T, int kKeyTiles, class Tile>
FS_DEVICE void multiply(float (&O)[kColumns / 8][4], const float (&P)[kKeyTiles][4], const Tile& V_j) {
    const int lane = thread_idx().x % kWarpLanes;
    for (int k = 0; k < kKeyTiles; k += 2) {  // 16 keys at a time
        const std::uint32_t p[4] = {pack_floats<T>(P[k][0], P[k][1]), pack_floats<T>(P[k][2], P[k][3]),
                                    pack_floats<T>(P[k + 1][0], P[k + 1][1]), pack_floats<T>(P[k + 1][2], P[k + 1][3])};
        for (int x = 0; x < kColumns / 8; x += 2) {  // transposed: V_j holds a key's columns in a row
            std::uint32_t v[4];
            ldmatrix_x4_trans(v, V_j, place<kSwizzle, kColumns>(k * 8 + lane % 16, x * 8 + lane / 16 * kChunk));
            mma_m16n8k16<T>(O[x], p, {v[0], v[1]}, O[x]);
            mma_m16n8k16<T>(O[x + 1], p, {v[2], v[3]}, O[x + 1]);
        }
    }
}

// Over the four lanes that share a row.
FS_DEVICE float row_max(float x) {
    x = max_of(x, shuffle_xor(x, 1));
    return max_of(x, shuffle_xor(x, 2));
}
FS_DEVICE float row_sum(float x) {
    x += shuffle_xor(x, 1);
    return x + shuffle_xor(x, 2);
}

// Calls run.template operator()<T, kColumns>() with the element type and the padded head dimension, 64 or 128.
template <class Run>
void for_element_and_columns(const AttentionShape& p, Run run) {
    const bool wide = p.d > 64 || p.dv > 64;
    if (p.element == Element::Fp16) {
        wide ? run.template operator()<Half, 128>() : run.template operator()<Half, 64>();
    } else {
        wide ? run.template operator()<BFloat, 128>() : run.template operator()<BFloat, 64>();
    }
}

}  // namespace flashstep::gpu
