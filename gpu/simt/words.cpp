// The checks behind the views.
#include "gpu/simt/words.h"

#include <fmt/format.h>

#include "core/error.h"
#include "gpu/simt/ordering.h"

namespace flashstep::gpu {
inline namespace on_host {

namespace {

using simt::Access;
using simt::AccessSet;

std::string_view verb(Access access) {
    switch (access) {
        case Access::Read:
            return "reads";
        case Access::Write:
            return "writes";
        case Access::Atomic:
            return "adds atomically";
    }
    return "";
}

[[noreturn]] void fail_bounds(const simt::Lane& lane, std::string_view space, std::string_view name, Access access,
                              std::int64_t index, std::int64_t count) {
    lane.block->fail(lane, fmt::format("{} {} {}[{}], out of bounds: this view has {} elements", verb(access), space,
                                       name, index, count));
}

[[noreturn]] void fail_unwritten(const simt::Lane& lane, std::string_view space, std::string_view name, Access access,
                                 std::int64_t index) {
    lane.block->fail(lane, fmt::format("{} {} {}[{}], which nobody has written", verb(access), space, name, index));
}

[[noreturn]] void fail_race(const simt::Lane& lane, std::string_view space, std::string_view name, std::int64_t index,
                            Access access, const simt::Cell& cell, const AccessSet& other) {
    const std::string_view did = &other == &cell.write ? "wrote" : &other == &cell.read ? "read" : "added atomically";
    const std::string others = other.spread == AccessSet::Spread::OneThread
                                   ? fmt::format("thread {}", other.thread)
                                   : fmt::format("several threads ({} among them)", other.thread);
    lane.block->fail(lane, fmt::format("race on {} {}[{}]: {} what {} {}, with no barrier between", space, name, index,
                                       verb(access), others, did));
}

[[noreturn]] void fail_block_race(const simt::Lane& lane, const simt::Tensor& tensor, std::int64_t index, Access access,
                                  std::uint32_t other, std::string_view did) {
    const simt::Block& block = *lane.block;
    const std::string who = other == simt::GlobalCell::kMany
                                ? "several blocks"
                                : fmt::format("another block (the {}th to run)", other - block.launch_start + 1);
    block.fail(lane, fmt::format("race between blocks on global {}[{}]: {} what {} {} in the same launch", tensor.name,
                                 index, verb(access), who, did));
}

void join(std::uint32_t& who, const simt::Block& block) {
    if (who < block.launch_start) {
        who = block.serial;
    } else if (who != block.serial) {
        who = simt::GlobalCell::kMany;
    }
}

}  // namespace

void check_shared(simt::Block& block, const char* name, std::int64_t index, std::int64_t count, std::uint32_t offset,
                  int bytes, Access access) {
    const simt::Lane& lane = *simt::current_lane;
    if (index < 0 || index >= count) [[unlikely]]
        fail_bounds(lane, "shared", name, access, index, count);
    const std::uint32_t place = offset + static_cast<std::uint32_t>(index * bytes);
    const std::uint32_t last = (place + static_cast<std::uint32_t>(bytes) - 1) >> block.granule_bits;
    for (std::uint32_t granule = place >> block.granule_bits; granule <= last; ++granule) {
        simt::SharedCell& cell = block.shared_cells[granule];
        if (access != Access::Write && cell.initialised_in != block.serial) [[unlikely]] {
            fail_unwritten(lane, "shared", name, access, index);
        }
        if (const AccessSet* other = cell.record(access, lane)) [[unlikely]] {
            fail_race(lane, "shared", name, index, access, cell, *other);
        }
        cell.initialised_in = block.serial;
    }
    const int in_warp = lane.id - lane.warp->first;
    if (access != Access::Write) {
        block.counters->shared_read_bytes += bytes;
        lane.warp->log.note(in_warp, place, bytes, false);
    }
    if (access != Access::Read) {
        block.counters->shared_write_bytes += bytes;
        lane.warp->log.note(in_warp, place, bytes, true);
    }
}

void check_global(simt::Tensor& tensor, std::int64_t index, std::int64_t first, std::int64_t count, Access access) {
    const simt::Lane& lane = *simt::current_lane;
    simt::Block& block = *lane.block;
    if (index < 0 || index >= count) [[unlikely]]
        fail_bounds(lane, "global", tensor.name, access, index, count);
    if (tensor.cells.empty()) return;  // an input: nobody writes it
    const std::int64_t element = first + index;
    simt::GlobalCell& cell = tensor.cells[static_cast<std::size_t>(element)];
    if (access != Access::Write && !cell.initialised) [[unlikely]] {
        fail_unwritten(lane, "global", tensor.name, access, element);
    }
    if (const AccessSet* other = cell.record(access, lane)) [[unlikely]] {
        fail_race(lane, "global", tensor.name, element, access, cell, *other);
    }
    const auto met = [&](std::uint32_t who) { return who >= block.launch_start && who != block.serial; };
    // Any access meets a plain write; a plain access meets an atomic; a write of either kind meets a read.
    if (met(cell.writer)) fail_block_race(lane, tensor, element, access, cell.writer, "wrote");
    if (access != Access::Atomic && met(cell.adder)) {
        fail_block_race(lane, tensor, element, access, cell.adder, "added to");
    }
    if (access != Access::Read && met(cell.reader)) {
        fail_block_race(lane, tensor, element, access, cell.reader, "read");
    }
    join(access == Access::Read ? cell.reader : access == Access::Write ? cell.writer : cell.adder, block);
    cell.initialised = true;
}

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
    return static_cast<std::uint32_t>(offset);
}

}  // namespace on_host
}  // namespace flashstep::gpu
