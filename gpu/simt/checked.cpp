// The checks behind the views: bounds, alignment, initialised bits, races, copies in flight.
#include "gpu/simt/checked.h"

#include <fmt/format.h>

#include "gpu/simt/ordering.h"

namespace flashstep::gpu::simt {

namespace {

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

[[noreturn]] void fail_unwritten(const Lane& lane, std::string_view space, std::string_view name, Access access,
                                 std::int64_t index) {
    lane.block->fail(lane, fmt::format("{} {} {}[{}], which nobody has written", verb(access), space, name, index));
}

[[noreturn]] void fail_race(const Lane& lane, std::string_view space, std::string_view name, std::int64_t index,
                            Access access, const Cell& cell, const AccessSet& other) {
    const std::string_view did = &other == &cell.write ? "wrote" : &other == &cell.read ? "read" : "added atomically";
    const std::string others = other.spread == AccessSet::Spread::OneThread
                                   ? fmt::format("thread {}", other.thread)
                                   : fmt::format("several threads ({} among them)", other.thread);
    lane.block->fail(lane, fmt::format("race on {} {}[{}]: {} what {} {}, with no barrier between", space, name, index,
                                       verb(access), others, did));
}

[[noreturn]] void fail_block_race(const Lane& lane, const Tensor& tensor, std::int64_t index, Access access,
                                  std::uint32_t other, std::string_view did) {
    const Block& block = *lane.block;
    const std::string who = other == GlobalCell::kMany
                                ? "several blocks"
                                : fmt::format("another block (the {}th to run)", other - block.launch_start + 1);
    block.fail(lane, fmt::format("race between blocks on global {}[{}]: {} what {} {} in the same launch", tensor.name,
                                 index, verb(access), who, did));
}

[[noreturn]] void fail_in_flight(const Lane& lane, std::string_view name, std::int64_t index, Access access,
                                 const SharedCell& cell) {
    const std::string issuer =
        cell.in_flight == lane.id + 1 ? "this thread" : fmt::format("thread {}", cell.in_flight - 1);
    lane.block->fail(lane,
                     fmt::format("race on shared {}[{}]: {} what an asynchronous copy of {} may still be writing, "
                                 "because {} has not waited for it",
                                 name, index, verb(access), issuer, issuer));
}

void join(std::uint32_t& who, const Block& block) {
    if (who < block.launch_start) {
        who = block.serial;
    } else if (who != block.serial) {
        who = GlobalCell::kMany;
    }
}

// Every granule of [place, place + bytes): `record` says what the access is to its cell, and gives what it races with.
template <class Record>
void touch(Block& block, const Lane& lane, const char* view, std::int64_t index, std::uint32_t place, int element_bytes,
           int bytes, Access access, Record record) {
    const std::uint32_t last = (place + static_cast<std::uint32_t>(bytes) - 1) >> block.granule_bits;
    for (std::uint32_t granule = place >> block.granule_bits; granule <= last; ++granule) {
        SharedCell& cell = block.shared_cells[granule];
        const auto element = [&] {  // for messages
            const std::int64_t into = (std::int64_t{granule} << block.granule_bits) - place;
            return index + (into > 0 ? into / element_bytes : 0);
        };
        if (cell.in_flight != 0) [[unlikely]]
            fail_in_flight(lane, view, element(), access, cell);
        if (access != Access::Write && cell.initialised_in != block.serial) [[unlikely]] {
            fail_unwritten(lane, "shared", view, access, element());
        }
        if (const AccessSet* other = record(cell)) [[unlikely]] {
            fail_race(lane, "shared", view, element(), access, cell, *other);
        }
        cell.initialised_in = block.serial;
    }
}

void count_shared(Block& block, const Lane& lane, std::uint32_t place, int bytes, Access access) {
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

void touch_run(const Lane& lane, const SharedRun& run, Access access) {
    check_place(lane, run, access);
    touch(*lane.block, lane, run.view, run.index, run.place, run.element_bytes, run.bytes, access,
          [&](SharedCell& cell) { return cell.record(access, lane); });
    count_shared(*lane.block, lane, run.place, run.bytes, access);
}

void check_global_alignment(const Lane& lane, const GlobalRun& run, Access access) {
    const std::int64_t place = (run.view_first + run.index) * run.element_bytes;
    if (place % run.bytes == 0) return;
    fail_alignment(lane, "global", run.tensor->name, access, run.view_first + run.index, run.bytes, place);
}

// The elements that the first `bytes` of the run touch.
void check_global_elements(const Lane& lane, const GlobalRun& run, int bytes, Access access) {
    const std::int64_t last = run.index + (bytes + run.element_bytes - 1) / run.element_bytes - 1;
    if (run.index < 0) fail_bounds(lane, "global", run.tensor->name, access, run.index, run.view_count);
    if (last >= run.view_count) fail_bounds(lane, "global", run.tensor->name, access, last, run.view_count);
    if (run.tensor->cells.empty()) return;  // an input: nobody writes it
    for (std::int64_t k = run.index; k <= last; ++k) {
        check_global(*run.tensor, k, run.view_first, run.view_count, access);
    }
}

// One element of a tensor, counted from the tensor's start.
void touch_global(const Lane& lane, Tensor& tensor, std::int64_t element, Access access) {
    Block& block = *lane.block;
    GlobalCell& cell = tensor.cells[static_cast<std::size_t>(element)];
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

}  // namespace

void fail_bounds(const Lane& lane, std::string_view space, std::string_view name, Access access, std::int64_t index,
                 std::int64_t count) {
    lane.block->fail(lane, fmt::format("{} {} {}[{}], out of bounds: this view has {} elements", verb(access), space,
                                       name, index, count));
}

void fail_alignment(const Lane& lane, std::string_view space, std::string_view name, Access access, std::int64_t index,
                    int bytes, std::int64_t place) {
    lane.block->fail(lane, fmt::format("{} {} {}[{}] {} bytes at a time at byte {}, which is not a multiple of {}",
                                       verb(access), space, name, index, bytes, place, bytes));
}

void check_shared(Block& block, const char* view, std::int64_t index, std::int64_t count, std::uint32_t offset,
                  int bytes, Access access) {
    const Lane& lane = *current_lane;
    if (index < 0 || index >= count) [[unlikely]]
        fail_bounds(lane, "shared", view, access, index, count);
    const std::uint32_t place = offset + static_cast<std::uint32_t>(index * bytes);
    touch(block, lane, view, index, place, bytes, bytes, access,
          [&](SharedCell& cell) { return cell.record(access, lane); });
    count_shared(block, lane, place, bytes, access);
}

void check_global(Tensor& tensor, std::int64_t index, std::int64_t first, std::int64_t count, Access access) {
    const Lane& lane = *current_lane;
    if (index < 0 || index >= count) [[unlikely]]
        fail_bounds(lane, "global", tensor.name, access, index, count);
    if (tensor.cells.empty()) return;  // an input: nobody writes it
    touch_global(lane, tensor, first + index, access);
}

void check_shared_bytes(const Lane& lane, std::uint32_t place, int bytes, Access access) {
    touch(*lane.block, lane, "memory", place, place, 1, bytes, access,
          [&](SharedCell& cell) { return cell.record(access, lane); });
}

void check_shared_bytes_of_warp(const Lane& lane, std::uint32_t place, int bytes) {
    touch(*lane.block, lane, "memory", place, place, 1, bytes, Access::Read,
          [&](SharedCell& cell) { return cell.record_warp_read(lane); });
}

void check_global_bytes(const Lane& lane, Tensor& tensor, std::int64_t first, int bytes, Access access) {
    if (tensor.cells.empty()) return;
    const std::int64_t last = (first + bytes - 1) / tensor.element_bytes;
    for (std::int64_t k = first / tensor.element_bytes; k <= last; ++k) touch_global(lane, tensor, k, access);
}

void check_place(const Lane& lane, const SharedRun& run, Access access) {
    const std::int64_t last = run.index + run.bytes / run.element_bytes - 1;
    if (run.index < 0) fail_bounds(lane, "shared", run.view, access, run.index, run.view_count);
    if (last >= run.view_count) fail_bounds(lane, "shared", run.view, access, last, run.view_count);
    if (run.place % static_cast<unsigned>(run.bytes) != 0) {
        fail_alignment(lane, "shared", run.view, access, run.index, run.bytes, run.place);
    }
}

void check_shared_run(const SharedRun& run, Access access) { touch_run(*current_lane, run, access); }

void check_global_run(const GlobalRun& run, Access access) {
    check_global_elements(*current_lane, run, run.bytes, access);
    check_global_alignment(*current_lane, run, access);
}

void check_async(const SharedRun& to, const GlobalRun& from, int source_bytes) {
    const Lane& lane = *current_lane;
    if (source_bytes < 0 || source_bytes > from.bytes) {
        lane.block->fail(lane,
                         fmt::format("an asynchronous copy of {} bytes into shared {}[{}] reads {} bytes: 0 to {} "
                                     "can be read, the rest is filled with zeros",
                                     from.bytes, to.view, to.index, source_bytes, from.bytes));
    }
    if (source_bytes > 0) check_global_elements(lane, from, source_bytes, Access::Read);
    check_global_alignment(lane, from, Access::Read);
    touch_run(lane, to, Access::Write);
}

void check_warp_read(const Lane& lane, const SharedRun& run) {
    check_place(lane, run, Access::Read);
    touch(*lane.block, lane, run.view, run.index, run.place, run.element_bytes, run.bytes, Access::Read,
          [&](SharedCell& cell) { return cell.record_warp_read(lane); });
}

}  // namespace flashstep::gpu::simt
