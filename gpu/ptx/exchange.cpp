// Halves and words of registers, and exchange between the lanes of a warp.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "gpu/ptx/machine.h"
#include "gpu/ptx/words.h"

namespace flashstep::gpu::ptx {

namespace {

template <class T>
T read(const Warp& w, Slot32 slot, int lane) {
    T value;
    std::memcpy(&value, w.registers + slot + sizeof(T) * static_cast<std::size_t>(lane), sizeof value);
    return value;
}
template <class T>
void write(Warp& w, Slot32 slot, int lane, T value) {
    std::memcpy(w.registers + slot + sizeof(T) * static_cast<std::size_t>(lane), &value, sizeof value);
}
template <class F>
void each_active(const Warp& w, F f) {
    for (int lane = 0; lane < kLanes; ++lane)
        if ((w.active >> lane & 1) != 0) f(lane);
}
void write_predicate(Warp& w, Slot32 slot, std::uint32_t bits) {
    std::uint32_t word;
    std::memcpy(&word, w.registers + slot, 4);
    word = (word & ~w.active) | (bits & w.active);
    std::memcpy(w.registers + slot, &word, 4);
}

}  // namespace

void pack_halves(Warp& w, const Instr& i) {
    each_active(w, [&](int lane) {
        const auto lower = read<std::uint32_t>(w, i.a, lane) & 0xffff, upper = read<std::uint32_t>(w, i.b, lane);
        write(w, i.d, lane, lower | upper << 16);
    });
}
void unpack_halves(Warp& w, const Instr& i) {
    each_active(w, [&](int lane) {
        const auto both = read<std::uint32_t>(w, i.a, lane);
        write(w, i.d, lane, both & 0xffff);
        write(w, i.b, lane, both >> 16);
    });
}
void pack_words(Warp& w, const Instr& i) {
    each_active(w, [&](int lane) {
        const std::uint64_t lower = read<std::uint32_t>(w, i.a, lane), upper = read<std::uint32_t>(w, i.b, lane);
        write(w, i.d, lane, lower | upper << 32);
    });
}
void unpack_words(Warp& w, const Instr& i) {
    each_active(w, [&](int lane) {
        const auto both = read<std::uint64_t>(w, i.a, lane);
        write(w, i.d, lane, static_cast<std::uint32_t>(both));
        write(w, i.b, lane, static_cast<std::uint32_t>(both >> 32));
    });
}

void shuffle(Warp& w, const Instr& i) {
    Machine& m = *w.machine;
    ++m.block().counters->shuffles;
    std::uint32_t given[kLanes], in_range = 0;
    std::memcpy(given, w.registers + i.a, sizeof given);
    each_active(w, [&](int lane) {
        const std::uint32_t by = read<std::uint32_t>(w, i.b, lane) & 31, c = read<std::uint32_t>(w, i.c, lane);
        const int clamp = static_cast<int>(c & 31), segments = static_cast<int>(c >> 8 & 31);
        const int first = lane & segments, last = first | (clamp & ~segments);
        int from = lane;
        bool valid = true;
        switch (i.n) {
            case kUp:
                from = lane - static_cast<int>(by);
                valid = from >= last;
                break;
            case kDown:
                from = lane + static_cast<int>(by);
                valid = from <= last;
                break;
            case kButterfly:
                from = lane ^ static_cast<int>(by);
                valid = from <= last;
                break;
            default:
                from = first | (static_cast<int>(by) & ~segments);
                valid = from <= last;
                break;
        }
        if (!valid) from = lane;
        if ((w.active >> from & 1) == 0) [[unlikely]]
            m.fail(w, lane, fmt::format("reads lane {}, which does not take part in the exchange", from));
        in_range |= std::uint32_t{valid} << lane;
        write(w, i.d, lane, given[from]);
    });
    if (i.target != 0) write_predicate(w, i.target - 1, in_range);
}

void vote(Warp& w, const Instr& i) {
    std::uint32_t bits;
    std::memcpy(&bits, w.registers + i.a, 4);
    bits &= w.active;
    if (i.n == kBallot) {
        each_active(w, [&](int lane) { write(w, i.d, lane, bits); });
    } else {
        const bool set = i.n == kAny ? bits != 0 : bits == w.active;
        write_predicate(w, i.d, set ? kAllLanes : 0);
    }
}

void active_mask(Warp& w, const Instr& i) {
    each_active(w, [&](int lane) { write(w, i.d, lane, w.active); });
}

// Orders memory among the lanes of the warp.
void sync_warp(Warp& w, const Instr&) {
    simt::Block& block = w.machine->block();
    block.warps[static_cast<std::size_t>(w.number)].last_barrier = ++block.clock;
    ++block.counters->warp_barriers;
}

void nothing(Warp&, const Instr&) {}

}  // namespace flashstep::gpu::ptx
