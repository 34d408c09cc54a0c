// Asynchronous copies: when their bytes arrive, and what shared memory's shadow says meanwhile.
#include "gpu/simt/async.h"

#include <fmt/format.h>

#include <cstring>

#include "gpu/simt/ordering.h"

namespace flashstep::gpu::simt {

namespace {

template <class Visit>
void for_each_cell(Block& block, const AsyncCopy& copy, Visit visit) {
    const std::uint32_t last = (copy.place + static_cast<std::uint32_t>(copy.bytes) - 1) >> block.granule_bits;
    for (std::uint32_t granule = copy.place >> block.granule_bits; granule <= last; ++granule) {
        visit(block.shared_cells[granule]);
    }
}

// The copy is over: its thread wrote now, and may read; others need a barrier.
void land(Lane& lane, const AsyncCopy& copy) {
    Block& block = *lane.block;
    if (copy.source && std::memcmp(copy.from, copy.seen, static_cast<std::size_t>(copy.source_bytes)) != 0) {
        block.fail(lane, fmt::format("global {} changed under the asynchronous copy into shared {}[{}] issued at {}: "
                                     "the source belongs to the copy until its wait",
                                     copy.source->name, copy.view, copy.index, at(copy.where)));
    }
    for_each_cell(block, copy, [&](SharedCell& cell) {
        cell.in_flight = 0;
        cell.initialised_in = block.serial;
        cell.read = cell.atomic = cell.write = {};
        cell.write.add(lane);
    });
}

}  // namespace

void AsyncCopies::issue(Lane& lane, const AsyncCopy& copy) {
    Block& block = *lane.block;
    if (first_ == copies_.size()) copies_.clear(), first_ = 0;
    AsyncCopy& issued = copies_.emplace_back(copy);
    issued.group = group_;
    if (block.checks == Checks::On) {
        for_each_cell(block, copy, [&](SharedCell& cell) { cell.in_flight = static_cast<std::uint16_t>(lane.id + 1); });
        if (copy.source) std::memcpy(issued.seen, copy.from, static_cast<std::size_t>(copy.source_bytes));
    }
    const std::uint32_t random = block.next_random();
    switch (random % 3) {
        case 0:
            arrive(issued);
            return;
        case 1:
            issued.points = 1 + static_cast<int>(random / 3 % 8);
            ++travelling_;
            break;
        default:
            break;
    }
    std::memset(copy.to, 0xff, static_cast<std::size_t>(copy.bytes));  // NaN in every format, until the bytes arrive
}

void AsyncCopies::arrive(AsyncCopy& copy) {
    const auto source_bytes = static_cast<std::size_t>(copy.source_bytes);
    if (source_bytes > 0) std::memcpy(copy.to, copy.from, source_bytes);
    std::memset(copy.to + source_bytes, 0, static_cast<std::size_t>(copy.bytes) - source_bytes);
    copy.arrived = true;
}

void AsyncCopies::advance() {
    for (std::size_t k = first_; k < copies_.size(); ++k) {
        AsyncCopy& copy = copies_[k];
        if (copy.arrived || copy.points == AsyncCopy::kAtWait || --copy.points > 0) continue;
        arrive(copy);
        --travelling_;
    }
}

void AsyncCopies::wait(Lane& lane, int pending) {
    for (; first_ < copies_.size(); ++first_) {
        AsyncCopy& copy = copies_[first_];
        if (copy.group + static_cast<std::uint32_t>(pending) >= group_) return;
        if (!copy.arrived) {
            if (copy.points != AsyncCopy::kAtWait) --travelling_;
            arrive(copy);
        }
        if (lane.block->checks == Checks::On) land(lane, copy);
    }
}

void AsyncCopies::clear() {
    copies_.clear();
    first_ = 0;
    group_ = 0;
    travelling_ = 0;
}

}  // namespace flashstep::gpu::simt
