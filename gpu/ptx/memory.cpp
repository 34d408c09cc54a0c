// Loads, stores, atomics and asynchronous copies: where each lane's address lies, and the executor's checks of it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/ptx/machine.h"
#include "gpu/ptx/words.h"
#include "gpu/simt/checked.h"

namespace flashstep::gpu::ptx {

namespace {

using simt::Access;
using simt::Tensor;

template <class F>
[[gnu::always_inline]] inline void each_active(const Warp& w, F f) {
    if (w.active == kAllLanes) {
        for (int lane = 0; lane < kLanes; ++lane) f(lane);
    } else {
        for (std::uint32_t left = w.active; left != 0; left &= left - 1) f(std::countr_zero(left));
    }
}

template <class T>
T value_at(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

std::uint64_t base_of(const Warp& w, bool has_base, bool wide, Slot32 slot, int lane) {
    if (!has_base) return 0;
    const std::byte* at = w.registers + slot;
    return wide ? value_at<std::uint64_t>(at + 8 * lane) : value_at<std::uint32_t>(at + 4 * lane);
}

constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << Tensor::kTensorBits) - 1;

const char* verb(Access access) {
    return access == Access::Read ? "reads" : access == Access::Write ? "writes" : "adds atomically to";
}

// Which elements of an array a lane touches; it fails where they are none.
[[noreturn]] void fail_global(Machine& m, const Warp& w, int lane, std::uint64_t address, Access access) {
    const auto& spans = m.spans();
    std::uint64_t number = address >> Tensor::kTensorBits;
    auto offset = static_cast<std::int64_t>(address & kOffsetMask);
    if (offset > std::int64_t{1} << (Tensor::kTensorBits - 1)) {  // before the array that follows
        offset -= std::int64_t{1} << Tensor::kTensorBits;
        ++number;
    }
    if (number == 0 || number >= spans.size())
        m.fail(w, lane, fmt::format("{} global memory at {:#x}, where there is no array", verb(access), address));
    const Tensor& tensor = *spans[number].tensor;
    const std::int64_t bytes = tensor.element_bytes;
    simt::fail_bounds(m.lane(w, lane), "global", tensor.name, access,
                      offset < 0 ? -((-offset + bytes - 1) / bytes) : offset / bytes, tensor.count);
}

const Span& span_of(Machine& m, const Warp& w, int lane, std::uint64_t address, int bytes, Access access) {
    const std::uint64_t number = address >> Tensor::kTensorBits;
    const auto offset = static_cast<std::int64_t>(address & kOffsetMask);
    if (number == 0 || number >= m.spans().size() || offset + bytes > m.spans()[number].bytes) [[unlikely]]
        fail_global(m, w, lane, address, access);
    return m.spans()[number];
}

void align_global(Machine& m, const Warp& w, int lane, std::uint64_t address, int bytes, const Tensor& tensor,
                  Access access) {
    if (address % static_cast<unsigned>(bytes) == 0) return;
    const auto offset = static_cast<std::int64_t>(address & kOffsetMask);
    simt::fail_alignment(m.lane(w, lane), "global", tensor.name, access, offset / tensor.element_bytes, bytes, offset);
}

std::byte* global_at(Machine& m, const Warp& w, int lane, std::uint64_t address, int bytes, Access access) {
    const Span& span = span_of(m, w, lane, address, bytes, access);
    Tensor& tensor = *span.tensor;
    align_global(m, w, lane, address, bytes, tensor, access);
    const auto offset = static_cast<std::int64_t>(address & kOffsetMask);
    if (access != Access::Read) {
        if (tensor.role == TensorRole::Input) [[unlikely]]
            m.fail(w, lane,
                   fmt::format("{} global {}[{}], and {} is an input", verb(access), tensor.name,
                               offset / tensor.element_bytes, tensor.name));
        tensor.write_bytes += bytes;
    }
    if (access != Access::Write) tensor.read_bytes += bytes;
    if (m.checked()) simt::check_global_bytes(m.lane(w, lane), tensor, offset, bytes, access);
    return span.data + offset;
}

std::byte* shared_at(Machine& m, const Warp& w, int lane, std::uint64_t place, int bytes, Access access) {
    simt::Block& block = m.block();
    if (place > static_cast<std::uint64_t>(block.shared_bytes) ||
        static_cast<std::int64_t>(place) + bytes > block.shared_bytes) [[unlikely]] {
        simt::fail_bounds(m.lane(w, lane), "shared", "memory", access,
                          static_cast<std::int64_t>(static_cast<std::int32_t>(place)), block.shared_bytes);
    }
    if (place % static_cast<unsigned>(bytes) != 0) [[unlikely]] {
        const auto at = static_cast<std::int64_t>(place);
        simt::fail_alignment(m.lane(w, lane), "shared", "memory", access, at, bytes, at);
    }
    if (m.checked()) simt::check_shared_bytes(m.lane(w, lane), static_cast<std::uint32_t>(place), bytes, access);
    return block.shared + place;
}

void count_shared(Machine& m, const std::uint32_t* places, int lanes, int bytes, Access access) {
    simt::Counters& counters = *m.block().counters;
    if (access != Access::Write) counters.shared_read_bytes += std::int64_t{lanes} * bytes;
    if (access != Access::Read) counters.shared_write_bytes += std::int64_t{lanes} * bytes;
    const simt::Wavefronts w = simt::wavefronts(places, lanes, bytes);
    const int times = access == Access::Atomic ? 2 : 1;
    counters.wavefronts += times * w.actual;
    counters.ideal_wavefronts += times * w.ideal;
}

// Where the bytes of each active lane are; `window` is taken from addresses.
void find_shared(Warp& w, const MemoryOp& op, std::uint64_t window, int bytes, Access access, std::byte** at) {
    Machine& m = *w.machine;
    std::uint32_t places[kLanes];
    int lanes = 0;
    each_active(w, [&](int lane) {
        std::uint64_t place =
            base_of(w, op.has_base, op.wide_base, op.base, lane) + static_cast<std::uint64_t>(op.offset) - window;
        if (!op.wide_base || window == 0) place = static_cast<std::uint32_t>(place);
        at[lane] = shared_at(m, w, lane, place, bytes, access);
        places[lanes++] = static_cast<std::uint32_t>(place);
    });
    if (m.checked()) count_shared(m, places, lanes, bytes, access);
}

void find_global(Warp& w, const MemoryOp& op, int bytes, Access access, std::byte** at) {
    Machine& m = *w.machine;
    each_active(w, [&](int lane) {
        const std::uint64_t address =
            base_of(w, op.has_base, op.wide_base, op.base, lane) + static_cast<std::uint64_t>(op.offset);
        at[lane] = global_at(m, w, lane, address, bytes, access);
    });
}

void find_local(Warp& w, const MemoryOp& op, std::uint64_t window, int bytes, Access access, std::byte** at) {
    Machine& m = *w.machine;
    each_active(w, [&](int lane) {
        const auto place = static_cast<std::int64_t>(base_of(w, op.has_base, op.wide_base, op.base, lane) +
                                                     static_cast<std::uint64_t>(op.offset) - window);
        if (place < 0 || place + bytes > m.code().local_bytes || place % bytes != 0)
            m.fail(w, lane,
                   fmt::format("{} {} bytes of local memory at byte {}: it has {}, and they are aligned", verb(access),
                               bytes, place, m.code().local_bytes));
        at[lane] = m.local_of(w, lane) + place;
    });
}

void find_parameter(Warp& w, const MemoryOp& op, std::uint64_t window, int bytes, Access access, std::byte** at) {
    Machine& m = *w.machine;
    each_active(w, [&](int lane) {
        const auto place = static_cast<std::int64_t>(base_of(w, op.has_base, op.wide_base, op.base, lane) +
                                                     static_cast<std::uint64_t>(op.offset) - window);
        const auto all = static_cast<std::int64_t>(m.parameters().size());
        if (place < 0 || place + bytes > all || place % bytes != 0 || access != Access::Read)
            m.fail(w, lane,
                   fmt::format("{} {} bytes of parameters at byte {}: there are {}", verb(access), bytes, place, all));
        at[lane] = const_cast<std::byte*>(m.parameters().data()) + place;
    });
}

void find(Warp& w, const MemoryOp& op, int bytes, Access access, std::byte** at);

// A generic address says by itself which space it is of; lanes may differ.
void find_generic(Warp& w, const MemoryOp& op, int bytes, Access access, std::byte** at) {
    const std::uint32_t all = w.active;
    std::uint32_t in[4] = {};
    each_active(w, [&](int lane) {
        const std::uint64_t address =
            base_of(w, op.has_base, op.wide_base, op.base, lane) + static_cast<std::uint64_t>(op.offset);
        const std::uint64_t window = address / kWindowBytes;
        in[window >= 1 && window <= 3 ? window : 0] |= 1u << lane;
    });
    const auto with = [&](std::uint32_t lanes, auto search) {
        if (lanes == 0) return;
        w.active = lanes;
        search();
    };
    with(in[0], [&] { find_global(w, op, bytes, access, at); });
    with(in[1], [&] { find_parameter(w, op, kParamWindow, bytes, access, at); });
    with(in[2], [&] { find_shared(w, op, kSharedWindow, bytes, access, at); });
    with(in[3], [&] { find_local(w, op, kLocalWindow, bytes, access, at); });
    w.active = all;
}

void find(Warp& w, const MemoryOp& op, int bytes, Access access, std::byte** at) {
    switch (op.space) {
        case Space::Global:
            return find_global(w, op, bytes, access, at);
        case Space::Shared:
            return find_shared(w, op, 0, bytes, access, at);
        case Space::Param:
            return find_parameter(w, op, 0, bytes, access, at);
        case Space::Local:
            return find_local(w, op, 0, bytes, access, at);
        case Space::Generic:
            return find_generic(w, op, bytes, access, at);
    }
}

template <class T>
void take(Warp& w, const MemoryOp& op, int k, std::byte* const* at) {
    if (op.discard[k]) return;
    std::byte* const to = w.registers + op.slots[k];
    if (op.wide[k]) {
        each_active(w, [&](int lane) {
            const auto value = static_cast<std::uint64_t>(value_at<T>(at[lane] + k * int{sizeof(T)}));
            std::memcpy(to + 8 * lane, &value, 8);
        });
    } else {
        const std::uint32_t mask = op.sixteen[k] ? 0xffff : 0xffffffff;
        each_active(w, [&](int lane) {
            const auto value = static_cast<std::uint32_t>(value_at<T>(at[lane] + k * int{sizeof(T)})) & mask;
            std::memcpy(to + 4 * lane, &value, 4);
        });
    }
}

template <class T>
void give(Warp& w, const MemoryOp& op, int k, std::byte* const* at) {
    const std::byte* const from = w.registers + op.slots[k];
    const int pitch = op.wide[k] ? 8 : 4;
    each_active(w, [&](int lane) { std::memcpy(at[lane] + k * int{sizeof(T)}, from + pitch * lane, sizeof(T)); });
}

template <class T>
T combined(MemoryOp::Atomic how, T old, T value, T other) {
    using enum MemoryOp::Atomic;
    switch (how) {
        case Add:
            return static_cast<T>(old + value);
        case Min:
            return std::min(old, value);
        case Max:
            return std::max(old, value);
        case Exch:
            return value;
        case Cas:
            return old == value ? other : old;
        default:
            break;
    }
    if constexpr (std::is_integral_v<T>) {
        if (how == And) return old & value;
        if (how == Or) return old | value;
        if (how == Xor) return old ^ value;
    }
    return old;
}

// One lane after the other, in an order that the seed chooses.
template <class T>
void combine(Warp& w, const Instr& i, const MemoryOp& op, std::byte* const* at) {
    const std::uint32_t random = w.machine->block().next_random();
    const int start = static_cast<int>(random % kLanes), step = static_cast<int>(random / kLanes % 16) * 2 + 1;
    for (int k = 0; k < kLanes; ++k) {
        const int lane = (start + k * step) % kLanes;
        if ((w.active >> lane & 1) == 0) continue;
        const auto offset = static_cast<std::size_t>(lane) * sizeof(T);
        const T old = value_at<T>(at[lane]);
        const T value = value_at<T>(w.registers + i.a + offset);
        const T other = op.atomic == MemoryOp::Atomic::Cas ? value_at<T>(w.registers + i.b + offset) : T{};
        const T result = combined(op.atomic, old, value, other);
        std::memcpy(at[lane], &result, sizeof(T));
        if (op.returns) std::memcpy(w.registers + i.d + offset, &old, sizeof(T));
    }
}

}  // namespace

void load(Warp& w, const Instr& i) {
    const MemoryOp& op = w.machine->code().memory[i.list];
    std::byte* at[kLanes];
    find(w, op, op.bytes * op.count, Access::Read, at);
    for (int k = 0; k < op.count; ++k) {
        switch (op.bytes) {
            case 1:
                op.sign ? take<std::int8_t>(w, op, k, at) : take<std::uint8_t>(w, op, k, at);
                break;
            case 2:
                op.sign ? take<std::int16_t>(w, op, k, at) : take<std::uint16_t>(w, op, k, at);
                break;
            case 4:
                op.sign ? take<std::int32_t>(w, op, k, at) : take<std::uint32_t>(w, op, k, at);
                break;
            default:
                take<std::uint64_t>(w, op, k, at);
                break;
        }
    }
}

void store(Warp& w, const Instr& i) {
    const MemoryOp& op = w.machine->code().memory[i.list];
    std::byte* at[kLanes];
    find(w, op, op.bytes * op.count, Access::Write, at);
    for (int k = 0; k < op.count; ++k) {
        switch (op.bytes) {
            case 1:
                give<std::uint8_t>(w, op, k, at);
                break;
            case 2:
                give<std::uint16_t>(w, op, k, at);
                break;
            case 4:
                give<std::uint32_t>(w, op, k, at);
                break;
            default:
                give<std::uint64_t>(w, op, k, at);
                break;
        }
    }
}

void atomic(Warp& w, const Instr& i) {
    Machine& m = *w.machine;
    const MemoryOp& op = m.code().memory[i.list];
    std::byte* at[kLanes];
    find(w, op, op.bytes, Access::Atomic, at);
    m.block().counters->atomics += std::popcount(w.active);
    using enum MemoryOp::Number;
    if (op.bytes == 4) {
        op.number == Float    ? combine<float>(w, i, op, at)
        : op.number == Signed ? combine<std::int32_t>(w, i, op, at)
                              : combine<std::uint32_t>(w, i, op, at);
    } else {
        op.number == Float    ? combine<double>(w, i, op, at)
        : op.number == Signed ? combine<std::int64_t>(w, i, op, at)
                              : combine<std::uint64_t>(w, i, op, at);
    }
}

void copy_async(Warp& w, const Instr& i) {
    Machine& m = *w.machine;
    simt::Block& block = m.block();
    const MemoryOp& op = m.code().memory[i.list];
    const Place& place = m.place_of(i);
    const simt::CallSite where{place.line == 0 ? m.code().module->name.c_str() : place.kernel_file.data(),
                               place.line == 0 ? 0 : place.kernel_line};
    std::byte* at[kLanes];
    find_shared(w, op, 0, op.bytes, Access::Write, at);
    each_active(w, [&](int lane) {
        const std::uint64_t address =
            base_of(w, op.from_has_base, op.from_wide_base, op.from, lane) + static_cast<std::uint64_t>(op.from_offset);
        const auto to = static_cast<std::uint32_t>(at[lane] - block.shared);
        const int source_bytes =
            op.has_source_bytes ? value_at<std::int32_t>(w.registers + op.source_bytes + 4 * lane) : op.bytes;
        if (source_bytes < 0 || source_bytes > op.bytes) {
            m.fail(w, lane,
                   fmt::format("an asynchronous copy of {} bytes into shared memory[{}] reads {} bytes: 0 to {} can be "
                               "read, the rest is filled with zeros",
                               op.bytes, to, source_bytes, op.bytes));
        }
        const std::byte* from = at[lane];  // not read
        Tensor* tensor = nullptr;
        if (source_bytes > 0) {
            const Span& span = span_of(m, w, lane, address, source_bytes, Access::Read);
            const auto offset = static_cast<std::int64_t>(address & kOffsetMask);
            tensor = span.tensor;
            from = span.data + offset;
            align_global(m, w, lane, address, op.bytes, *tensor, Access::Read);
            if (m.checked()) simt::check_global_bytes(m.lane(w, lane), *tensor, offset, source_bytes, Access::Read);
            tensor->read_bytes += source_bytes;
        }
        simt::Lane& thread = m.lane(w, lane);
        thread.copies.issue(thread, {.to = at[lane],
                                     .from = from,
                                     .bytes = op.bytes,
                                     .source_bytes = source_bytes,
                                     .place = to,
                                     .view = "memory",
                                     .index = to,
                                     .where = where,
                                     .source = tensor && tensor->role != TensorRole::Input ? tensor : nullptr});
        ++block.counters->async_copies;
        block.counters->async_bytes += source_bytes;
    });
}

void commit_async(Warp& w, const Instr&) {
    each_active(w, [&](int lane) { w.machine->lane(w, lane).copies.commit(); });
}

void wait_async(Warp& w, const Instr& i) {
    each_active(w, [&](int lane) {
        simt::Lane& thread = w.machine->lane(w, lane);
        if (i.n < 0) thread.copies.commit();
        thread.copies.wait(thread, std::max(i.n, 0));
    });
}

void add_window(Warp& w, const Instr& i) {
    const auto window = static_cast<std::uint64_t>(std::int64_t{i.n} * (std::int64_t{1} << 32));
    each_active(w, [&](int lane) {
        const std::uint64_t address = value_at<std::uint64_t>(w.registers + i.a + 8 * lane) + window;
        std::memcpy(w.registers + i.d + 8 * lane, &address, 8);
    });
}

}  // namespace flashstep::gpu::ptx
