// Fibres: one stack per CUDA thread, switched in user space by Boost.Context's fcontext.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

namespace flashstep::gpu::simt {

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

// One coroutine. `enter` goes from the scheduler into it, `leave` from it back; AddressSanitizer is told of both.
// No exception may cross either.
class Fibre {
  public:
    using Body = void (*)(void* argument);

    // The next enter() starts body(argument) on the given stack. A body that is suspended there is forgotten.
    void start(std::byte* stack_bottom, std::size_t stack_bytes, Body body, void* argument);
    void enter();                                  // returns when the fibre leaves or ends
    void leave();                                  // called inside: suspends it until the next enter()
    bool suspended() const { return suspended_; }  // it left, and has not been entered again

  private:
    static void run(boost::context::detail::transfer_t transfer);
    void switched_in(void* fake_stack);

    boost::context::detail::fcontext_t inside_ = nullptr, outside_ = nullptr;
    std::byte* bottom_ = nullptr;
    std::size_t bytes_ = 0;
    Body body_ = nullptr;
    void* argument_ = nullptr;
    bool suspended_ = false;
    const void* outside_bottom_ = nullptr;  // the scheduler's stack, for AddressSanitizer
    std::size_t outside_bytes_ = 0;
};

}  // namespace flashstep::gpu::simt
