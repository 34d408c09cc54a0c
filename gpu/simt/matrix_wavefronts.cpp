// The executor's count for one matrix of ldmatrix.
#include "gpu/matrix_wavefronts.h"

#include <fmt/format.h>

#include <bit>

#include "core/error.h"
#include "gpu/simt/memory.h"

namespace flashstep::gpu {

int matrix_wavefronts(const RowLayout& layout) {
    constexpr int kRows = 8, kChunkBytes = 16;
    if (layout.row_bytes < kChunkBytes || layout.row_bytes > 4096 || layout.row_bytes % kChunkBytes != 0)
        throw Error(fmt::format("a row of {} bytes, but it has to be a multiple of 16 up to 4096", layout.row_bytes));
    if (layout.rows_alike < 1 || layout.chunks < 1 || !std::has_single_bit(static_cast<unsigned>(layout.chunks)) ||
        layout.chunks * kChunkBytes > layout.row_bytes)
        throw Error(
            fmt::format("{} rows alike and {} chunks exchanged, but they go from 1, and the chunks are a power "
                        "of two within a row",
                        layout.rows_alike, layout.chunks));
    std::uint32_t places[kRows];
    for (int r = 0; r < kRows; ++r)
        places[r] =
            static_cast<std::uint32_t>(r * layout.row_bytes + r / layout.rows_alike % layout.chunks * kChunkBytes);
    return simt::wavefronts(places, kRows, kChunkBytes).actual;
}

}  // namespace flashstep::gpu
