// Which accesses a barrier orders: the body of AccessSet and Cell, inline because every checked access goes through it.
#pragma once

#include "gpu/simt/block.h"

namespace flashstep::gpu::simt {

inline bool AccessSet::ordered_before(const Lane& lane) const {
    if (stamp < lane.block->last_barrier) return true;
    if (spread == Spread::ManyWarps) return false;
    if (spread == Spread::OneThread && thread == lane.id) return true;
    return thread / kWarp == lane.id / kWarp && stamp < lane.warp->last_barrier;
}

inline bool AccessSet::ordered_before_warp(const Lane& lane) const {
    if (stamp < lane.block->last_barrier) return true;
    return spread != Spread::ManyWarps && thread / kWarp == lane.id / kWarp && stamp < lane.warp->last_barrier;
}

inline void AccessSet::add(const Lane& lane) {
    const std::uint32_t now = lane.warp->last_barrier;
    const auto id = static_cast<std::uint16_t>(lane.id);
    if (stamp < lane.block->last_barrier) {
        *this = {now, id, Spread::OneThread};
    } else if (spread == Spread::ManyWarps || thread / kWarp != lane.id / kWarp) {
        *this = {now, id, Spread::ManyWarps};
    } else if (stamp < now) {
        // Whoever has to come after this access and is in this warp comes after the older ones too; whoever is in
        // another warp is unordered with all of them alike. So the older ones may be forgotten.
        *this = {now, id, Spread::OneThread};
    } else if (thread != id) {
        *this = {now, id, Spread::OneWarp};
    }
}

inline const AccessSet* Cell::record(Access access, const Lane& lane) {
    if (!write.ordered_before(lane)) return &write;
    if (access != Access::Atomic && !atomic.ordered_before(lane)) return &atomic;
    if (access != Access::Read && !read.ordered_before(lane)) return &read;
    switch (access) {
        case Access::Read:
            read.add(lane);
            break;
        case Access::Atomic:
            atomic.add(lane);
            break;
        case Access::Write:
            // What comes after this write comes after everything that it was ordered behind.
            read = atomic = {};
            write = {};
            write.add(lane);
            break;
    }
    return nullptr;
}

inline const AccessSet* Cell::record_warp_read(const Lane& lane) {
    if (!write.ordered_before_warp(lane)) return &write;
    if (!atomic.ordered_before_warp(lane)) return &atomic;
    read.add(lane);
    if (read.spread == AccessSet::Spread::OneThread) read.spread = AccessSet::Spread::OneWarp;
    return nullptr;
}

}  // namespace flashstep::gpu::simt
