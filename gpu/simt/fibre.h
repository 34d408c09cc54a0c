// Fibres: one stack per CUDA thread, switched in user space by Boost.Context's fcontext.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

namespace flashstep::gpu::simt {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kAddressSanitizer = true;
#else
constexpr bool kAddressSanitizer = false;
#endif

// Stacks in one mapping, each with a guard page below it, so that an overflow faults instead of corrupting a neighbour.
class StackPool {
  public:
    StackPool() = default;
    ~StackPool();
    StackPool(const StackPool&) = delete;
    StackPool& operator=(const StackPool&) = delete;

    // Makes sure of at least `count` stacks. No fibre may be running. Throws Error if memory is refused.
    void reserve(int count);
    std::byte* bottom(int index) const { return base_ + static_cast<std::size_t>(index) * pitch_ + guard_; }
    std::size_t bytes() const { return pitch_ - guard_; }

  private:
    void release();
    std::byte* base_ = nullptr;
    int count_ = 0;
    std::size_t pitch_ = 0, guard_ = 0;
};

// Where fibres are entered from, and come back to: the scheduler's own stack.
struct Home {
    boost::context::detail::fcontext_t context = nullptr;
    const void* bottom = nullptr;  // for AddressSanitizer
    std::size_t bytes = 0;
};

// One coroutine. The scheduler enters it; it leaves to the scheduler, or straight to another fibre, which costs half.
// AddressSanitizer is told of every switch. No exception may cross one.
class Fibre {
  public:
    using Body = void (*)(void* argument);

    // The next enter() starts body(argument) on the given stack. A body that is suspended there is forgotten.
    void start(std::byte* stack_bottom, std::size_t stack_bytes, Body body, void* argument, Home& home);
    void enter();                                  // returns when this or another fibre leaves or ends
    void leave();                                  // called inside: suspends it, and goes home
    void leave_to(Fibre& next);                    // called inside: suspends it, and goes on in the other
    bool suspended() const { return suspended_; }  // it left, and has not gone on

  private:
    struct Passage {  // who goes where; null: home
        Fibre *from, *to;
    };
    static void run(boost::context::detail::transfer_t transfer);
    void go(Fibre* next);
    void arrive(boost::context::detail::transfer_t transfer);  // keeps the context that was left

    boost::context::detail::fcontext_t inside_ = nullptr;
    std::byte* bottom_ = nullptr;
    std::size_t bytes_ = 0;
    Body body_ = nullptr;
    void* argument_ = nullptr;
    Home* home_ = nullptr;
    bool suspended_ = false;
};

// AddressSanitizer's view of a switch: announced by who goes, and confirmed by who arrives.
void announce_switch(void** fake_stack, const void* bottom, std::size_t bytes);
void announce_arrival(void* fake_stack, const void** bottom, std::size_t* bytes);

// In line, because a switch spoils the processor's prediction of returns: each return after it costs as much again.
inline void Fibre::arrive(boost::context::detail::transfer_t transfer) {
    Fibre* const from = static_cast<const Passage*>(transfer.data)->from;
    (from ? from->inside_ : home_->context) = transfer.fctx;
}
[[gnu::always_inline]] inline void Fibre::go(Fibre* next) {
    suspended_ = true;
    [[maybe_unused]] void* fake_stack = nullptr;
    if constexpr (kAddressSanitizer) {
        announce_switch(&fake_stack, next ? next->bottom_ : home_->bottom, next ? next->bytes_ : home_->bytes);
    }
    Passage passage{this, next};
    arrive(boost::context::detail::jump_fcontext(next ? next->inside_ : home_->context, &passage));
    suspended_ = false;
    if constexpr (kAddressSanitizer) announce_arrival(fake_stack, nullptr, nullptr);
}
inline void Fibre::leave() { go(nullptr); }
inline void Fibre::leave_to(Fibre& next) { go(&next); }

}  // namespace flashstep::gpu::simt
