// Views of shared memory, and how they are handed out.
#include "gpu/simt/words.h"

#include <fmt/format.h>

namespace flashstep::gpu {
inline namespace on_host {

void fail_slice(const char* name, std::int64_t first, std::int64_t count, std::int64_t limit) {
    const simt::Lane& lane = *simt::current_lane;
    lane.block->fail(
        lane, fmt::format("slice of {} from {}, {} elements, out of bounds: it has {}", name, first, count, limit));
}

std::uint32_t SharedArena::reserve(const char* name, std::int64_t count, std::int64_t element_bytes) {
    const std::int64_t offset = next_;
    next_ += (count * element_bytes + 15) / 16 * 16;
    if (next_ > block_->shared_bytes) {  // always checked: it is once per view, and writes past the end otherwise
        block_->fail(*simt::current_lane, fmt::format("shared {} ends at byte {}, and the launch asked for {} bytes",
                                                      name, next_, block_->shared_bytes));
    }
    if (block_->checks == Checks::On) block_->refine_cells(element_bytes);
    return static_cast<std::uint32_t>(offset);
}

}  // namespace on_host
}  // namespace flashstep::gpu
