// Tiles of 16-bit elements in shared memory, and what a warp multiplies out of them with tensor cores. Read by nvcc
// too.
//
// Fragments as in the PTX ISA (mma.m16n8k16, ldmatrix), g = lane / 4, t = lane % 4: of a 16 x 8 result a lane holds
// [g, 2t], [g, 2t+1], [g+8, 2t], [g+8, 2t+1]. Rounded to 16 bits, two such results beside each other are the left
// operand of the next product, so that P never leaves the registers.
#pragma once

#include <utility>

#include "gpu/attention_shape.h"
#include "gpu/device.h"
#include "gpu/fragment.h"
#include "gpu/row_block.h"

namespace flashstep::gpu {

constexpr int kChunk = 8;  // elements of 16 bytes

// f(0), ... f(n - 1), one behind the other in the machine code too: what they index stays in registers.
template <int n, class F>
FS_DEVICE void unrolled(const F& f) {
    [&]<int... k>(std::integer_sequence<int, k...>) { (f(k), ...); }
    (std::make_integer_sequence<int, n>{});
}

// Where the rows of a tile lie. A row of 64 elements covers all 32 banks, so that eight rows below each other, which is
// what ldmatrix reads, meet in the same four. Xor exchanges the chunks of each row by the row's number.
enum class Swizzle { None, Xor };

template <Swizzle kSwizzle, int kColumns>
FS_HOST_DEVICE int place(int row, int col) {
    static_assert(kColumns % 64 == 0);
    if constexpr (kSwizzle == Swizzle::None) {
        return row * kColumns + col;
    } else {
        return row * kColumns + (col ^ ((row & 7) * kChunk));
    }
}

// The block brings kRows x kColumns elements: `rows` x `columns` of them from HBM, where a row has `columns` elements,
// and zeros elsewhere. 16 bytes a thread, or single elements where rows do not start at multiples of 16 bytes.
template <Swizzle kSwizzle, int kRows, int kColumns, class Tile, class From>
FS_DEVICE void load_tile(const Tile& tile, const From& from, int rows, int columns) {
    for (int e = opaque(thread_idx().x); e < kRows * kColumns / kChunk; e += block_dim().x) {
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

// The same by asynchronous copies, which the caller commits and waits for. Rows that do not start at multiples of 16
// bytes are loaded element by element at once.
template <Swizzle kSwizzle, int kRows, int kColumns, class Tile, class From>
FS_DEVICE void load_tile_async(const Tile& tile, const From& from, int rows, int columns) {
    if (columns % kChunk != 0) {
        load_tile<kSwizzle, kRows, kColumns>(tile, from, rows, columns);
        return;
    }
    for (int e = thread_idx().x; e < kRows * kColumns / kChunk; e += block_dim().x) {
        const int r = e / (kColumns / kChunk), c = e % (kColumns / kChunk) * kChunk;
        const bool there = r < rows && c < columns;
        cp_async_16(tile, place<kSwizzle, kColumns>(r, c), from, there ? std::int64_t{r} * columns + c : 0,
                    there ? 16 : 0);
    }
}

// In the three loads below the rows start at a multiple of 8, so that the swizzle depends on the lane and the column
// alone, and the rows' place is added as it is. What the lane adds is opaque: the compiler would otherwise keep the
// address of every piece of a tile in a register of its own, and spill on sm_100 and sm_120.

// The left operand: rows [row0, row0 + 16), columns [col0, col0 + 16) of a tile.
template <Swizzle kSwizzle, int kColumns, class Tile>
FS_DEVICE void load_left(std::uint32_t (&a)[4], const Tile& tile, int row0, int col0) {
    const int lane = lane_index();
    ldmatrix_x4(a, tile, row0 * kColumns + opaque(place<kSwizzle, kColumns>(lane & 15, col0 + (lane >> 4) * kChunk)));
}

// Right operands of QK^T: 16 columns of the keys of results n and n + 1. Four matrices: two groups of eight keys, two
// halves of the columns.
template <Swizzle kSwizzle, int kColumns, class Tile>
FS_DEVICE void load_keys(std::uint32_t (&b)[4], const Tile& K_j, int n, int col0) {
    const int lane = lane_index();
    const int row = (lane >> 4) * 8 + (lane & 7), col = col0 + (lane >> 3 & 1) * kChunk;
    ldmatrix_x4(b, K_j, n * 8 * kColumns + opaque(place<kSwizzle, kColumns>(row, col)));
}

// Right operands of PV: the 16 keys of results k and k + 1 of P, columns of results x and x + 1 of O. Transposed, as
// V_j holds a key's columns in a row.
template <Swizzle kSwizzle, int kColumns, class Tile>
FS_DEVICE void load_values(std::uint32_t (&b)[4], const Tile& V_j, int k, int x) {
    const int lane = lane_index();
    const int row = lane & 15, col = x * 8 + (lane >> 4) * kChunk;
    ldmatrix_x4_trans(b, V_j, k * 8 * kColumns + opaque(place<kSwizzle, kColumns>(row, col)));
}

// Two results beside each other as the left operand of the next product.
template <class T>
FS_DEVICE void pack_left(std::uint32_t (&a)[4], const float (&left)[4], const float (&right)[4]) {
    a[0] = pack_floats<T>(left[0], left[1]);
    a[1] = pack_floats<T>(left[2], left[3]);
    a[2] = pack_floats<T>(right[0], right[1]);
    a[3] = pack_floats<T>(right[2], right[3]);
}

// S (16 x kKeys, as kKeys / 8 results) += Q K^T over 16 columns of Q and K: `q` is Q's left operand, col0 their place
// in K_j.
template <Swizzle kSwizzle, int kColumns, class T, int kKeyTiles, class Tile>
FS_DEVICE void multiply_transposed(float (&S)[kKeyTiles][4], const std::uint32_t (&q)[4], const Tile& K_j, int col0) {
    unrolled<kKeyTiles / 2>([&](int pair) {
        const int n = 2 * pair;
        std::uint32_t k[4];
        load_keys<kSwizzle, kColumns>(k, K_j, n, col0);
        mma_m16n8k16<T>(S[n], q, {k[0], k[1]}, S[n]);
        mma_m16n8k16<T>(S[n + 1], q, {k[2], k[3]}, S[n + 1]);
    });
}

// O (16 x kColumns, as kColumns / 8 results) += P V_j, with P (16 x kKeys) rounded to the format.
template <Swizzle kSwizzle, int kColumns, class T, int kKeyTiles, class Tile>
FS_DEVICE void multiply(float (&O)[kColumns / 8][4], const float (&P)[kKeyTiles][4], const Tile& V_j) {
    unrolled<kKeyTiles / 2>([&](int pair) {  // 16 keys at a time
        const int k = 2 * pair;
        std::uint32_t p[4];
        pack_left<T>(p, P[k], P[k + 1]);
        unrolled<kColumns / 16>([&](int columns) {
            const int x = 2 * columns;
            std::uint32_t v[4];
            load_values<kSwizzle, kColumns>(v, V_j, k, x);
            mma_m16n8k16<T>(O[x], p, {v[0], v[1]}, O[x]);
            mma_m16n8k16<T>(O[x + 1], p, {v[2], v[3]}, O[x + 1]);
        });
    });
}

// What a warp's 16 rows, which start at row0, become in HBM: result times the factor of each half of the rows ([g] and
// [g + 8]), rounded; added to what is there, or new. `out` has `rows` x `columns` elements.
enum class Stored { New, Added };

template <class T, class Out>
FS_DEVICE void store_element(const Out& out, std::int64_t at, float x, Stored stored) {
    const T old = stored == Stored::Added ? static_cast<T>(out[at]) : T{};
    out[at] = to_element<T>(x + to_float(old));
}

template <class T, int kColumns, class Out>
FS_DEVICE void store_result(const Out& out, const float (&result)[kColumns / 8][4], const float (&factor)[2],
                            Stored stored, int row0, int rows, int columns) {
    unrolled<2>([&](int h) {
        const int r = row0 + fragment_row(2 * h);
        if (r >= rows) return;
        unrolled<kColumns / 8>([&](int n) {
            const int c = fragment_col(n, 0);
            const std::int64_t at = std::int64_t{r} * columns + c;
            float x = result[n][2 * h] * factor[h], y = result[n][2 * h + 1] * factor[h];
            if (columns % 2 == 0 && c < columns) {  // pairs start at multiples of 4 bytes
                if (stored == Stored::Added) {
                    const std::uint32_t old = load_pair(out, at);
                    x += to_float(lower_of<T>(old)), y += to_float(upper_of<T>(old));
                }
                store_pair(out, at, pack_floats<T>(x, y));
            } else if (c < columns) {
                store_element<T>(out, at, x, stored);
                if (c + 1 < columns) store_element<T>(out, at + 1, y, stored);
            }
        });
    });
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
    const bool wide = padded_columns(p) == 128;
    if (p.element == Element::Fp16) {
        wide ? run.template operator()<Half, 128>() : run.template operator()<Half, 64>();
    } else {
        wide ? run.template operator()<BFloat, 128>() : run.template operator()<BFloat, 64>();
    }
}

}  // namespace flashstep::gpu
