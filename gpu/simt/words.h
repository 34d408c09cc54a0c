// The host's meaning of the words of gpu/device.h: the same kernel source, run by the executor.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "gpu/half.h"
#include "gpu/simt/checked.h"

namespace flashstep::gpu {
inline namespace on_host {

// What v[i] gives for a view that can be written: reads on conversion, writes on assignment.
template <class View>
class ElementRef {
  public:
    using T = typename View::Value;
    ElementRef(const View& view, std::int64_t index) : view_(view), index_(index) {}
    operator T() const { return view_.load(index_); }
    T operator=(T value) const {
        view_.store(index_, value);
        return value;
    }
    T operator=(const ElementRef& other) const { return *this = static_cast<T>(other); }
    T operator+=(T value) const { return *this = static_cast<T>(*this) + value; }
    T operator-=(T value) const { return *this = static_cast<T>(*this) - value; }
    T operator*=(T value) const { return *this = static_cast<T>(*this) * value; }
    T operator/=(T value) const { return *this = static_cast<T>(*this) / value; }

  private:
    const View& view_;
    std::int64_t index_;
};

// A view of an array in global memory. Bytes are always counted, accesses checked if the run asks for it.
template <class T>
class Global {
  public:
    using Value = std::remove_const_t<T>;
    Global() = default;
    Global(simt::Tensor& tensor, Checks checks)
        : data_(reinterpret_cast<T*>(tensor.bytes.data())),
          count_(tensor.count),
          tensor_(&tensor),
          checked_(checks == Checks::On) {}

    auto operator[](std::int64_t index) const {
        if constexpr (std::is_const_v<T>) {
            return load(index);
        } else {
            return ElementRef<Global>(*this, index);
        }
    }
    Value load(std::int64_t index) const {
        if (checked_) [[unlikely]]
            simt::check_global(*tensor_, index, first_, count_, simt::Access::Read);
        tensor_->read_bytes += std::int64_t{sizeof(T)};
        return data_[index];
    }
    void store(std::int64_t index, Value value) const {
        if (checked_) [[unlikely]]
            simt::check_global(*tensor_, index, first_, count_, simt::Access::Write);
        tensor_->write_bytes += std::int64_t{sizeof(T)};
        data_[index] = value;
    }
    Value add(std::int64_t index, Value value) const {  // one read and one write
        if (checked_) [[unlikely]]
            simt::check_global(*tensor_, index, first_, count_, simt::Access::Atomic);
        tensor_->read_bytes += std::int64_t{sizeof(T)};
        tensor_->write_bytes += std::int64_t{sizeof(T)};
        const Value old = data_[index];
        data_[index] = old + value;
        return old;
    }
    Global part(std::int64_t first, std::int64_t count) const;

    // Elements that move together. The words that move them count their bytes.
    simt::GlobalRun run(std::int64_t index, int bytes) const {
        auto* data = reinterpret_cast<std::byte*>(const_cast<Value*>(data_)) + index * std::int64_t{sizeof(T)};
        return {data, tensor_, index, count_, first_, int{sizeof(T)}, bytes};
    }
    bool checked() const { return checked_; }
    std::uint64_t address() const {  // as a device's pointer; 0 of a view that has nothing
        return tensor_ ? tensor_->address + static_cast<std::uint64_t>(first_) * sizeof(T) : 0;
    }

  private:
    T* data_ = nullptr;
    std::int64_t first_ = 0, count_ = 0;  // this view's place in the tensor
    simt::Tensor* tensor_ = nullptr;
    bool checked_ = false;
};

// A view of dynamic shared memory.
template <class T>
class Shared {
  public:
    using Value = std::remove_const_t<T>;
    Shared(std::byte* base, std::uint32_t offset, std::int64_t count, const char* name, simt::Block* checked)
        : data_(reinterpret_cast<T*>(base + offset)), count_(count), offset_(offset), name_(name), checked_(checked) {}

    ElementRef<Shared> operator[](std::int64_t index) const { return {*this, index}; }
    Value load(std::int64_t index) const {
        if (checked_) [[unlikely]]
            check(index, simt::Access::Read);
        return data_[index];
    }
    void store(std::int64_t index, Value value) const {
        if (checked_) [[unlikely]]
            check(index, simt::Access::Write);
        data_[index] = value;
    }
    Value add(std::int64_t index, Value value) const {
        if (checked_) [[unlikely]]
            check(index, simt::Access::Atomic);
        const Value old = data_[index];
        data_[index] = old + value;
        return old;
    }
    Shared part(std::int64_t first, std::int64_t count) const;

    simt::SharedRun run(std::int64_t index, int bytes) const {
        auto* data = reinterpret_cast<std::byte*>(const_cast<Value*>(data_)) + index * std::int64_t{sizeof(T)};
        const auto place = offset_ + static_cast<std::uint32_t>(index * std::int64_t{sizeof(T)});
        return {data, name_, index, count_, place, int{sizeof(T)}, bytes};
    }
    bool checked() const { return checked_ != nullptr; }

  private:
    void check(std::int64_t index, simt::Access access) const {
        simt::check_shared(*checked_, name_, index, count_, offset_, int{sizeof(T)}, access);
    }
    T* data_;
    std::int64_t count_;
    std::uint32_t offset_;  // bytes from the start of the block's shared memory
    const char* name_;
    simt::Block* checked_;  // null: no checks
};

[[noreturn]] void fail_slice(const char* name, std::int64_t first, std::int64_t count, std::int64_t limit);

template <class T>
Global<T> Global<T>::part(std::int64_t first, std::int64_t count) const {
    if (checked_ && (first < 0 || count < 0 || first + count > count_)) {
        fail_slice(tensor_->name.c_str(), first, count, count_);
    }
    Global view = *this;
    view.data_ += first;
    view.first_ += first;
    view.count_ = count;
    return view;
}
template <class T>
Shared<T> Shared<T>::part(std::int64_t first, std::int64_t count) const {
    if (checked_ && (first < 0 || count < 0 || first + count > count_)) fail_slice(name_, first, count, count_);
    Shared view = *this;
    view.data_ += first;
    view.offset_ += static_cast<std::uint32_t>(first * std::int64_t{sizeof(T)});
    view.count_ = count;
    return view;
}

inline Index3 thread_idx() { return simt::current_lane->thread; }
inline Index3 block_idx() { return simt::current_lane->block->index; }
inline Index3 block_dim() { return simt::current_lane->block->block_dim; }

inline void sync_block(simt::CallSite where = simt::CallSite::here()) {
    simt::Lane& lane = *simt::current_lane;
    lane.block->sync_block(lane, where);
}
inline void sync_warp(simt::CallSite where = simt::CallSite::here()) {
    simt::Lane& lane = *simt::current_lane;
    lane.block->sync_warp(lane, where);
}

template <class T>
T shuffle_xor(T value, int mask, simt::CallSite where = simt::CallSite::here()) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    simt::Lane& lane = *simt::current_lane;
    bits = lane.block->collective(lane, simt::Warp::Collective::ShuffleXor, mask, bits, where);
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

template <template <class> class View, class T>
T atomic_add(const View<T>& view, std::int64_t index, std::type_identity_t<T> value) {
    ++simt::current_lane->block->counters->atomics;
    return view.add(index, value);
}

template <template <class> class View, class T>
View<T> slice(const View<T>& view, std::int64_t first, std::int64_t count) {
    return view.part(first, count);
}

// Hands out the block's dynamic shared memory, in order.
class SharedArena {
  public:
    explicit SharedArena(simt::Block& block) : block_(&block) {}
    template <class T>
    Shared<T> take(const char* name, std::int64_t count) {
        const std::uint32_t offset = reserve(name, count, std::int64_t{sizeof(T)});
        return {block_->shared, offset, count, name, block_->checks == Checks::On ? block_ : nullptr};
    }

  private:
    std::uint32_t reserve(const char* name, std::int64_t count, std::int64_t element_bytes);
    simt::Block* block_;
    std::int64_t next_ = 0;
};
inline SharedArena shared_memory() { return SharedArena(*simt::current_lane->block); }

inline float max_of(float a, float b) { return std::fmax(a, b); }
inline float log_of(float x) { return std::log(x); }
inline float minus_infinity() { return -std::numeric_limits<float>::infinity(); }
// e^(a - b), and 0 where both are -inf: a row that has seen no key yet.
inline float exp_diff(float a, float b) {
    ++simt::current_lane->block->counters->exponentials;
    return a == minus_infinity() && b == minus_infinity() ? 0.0f : std::exp(a - b);
}

inline float exp2_of(float x) {
    ++simt::current_lane->block->counters->exponentials;
    return std::exp2(x);
}

}  // namespace on_host
}  // namespace flashstep::gpu
