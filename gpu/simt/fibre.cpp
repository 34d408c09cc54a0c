// Fibre switches and the pool of stacks.
#include "gpu/simt/fibre.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "core/error.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace flashstep::gpu::simt {

#ifdef __SANITIZE_ADDRESS__
void announce_switch(void** fake_stack, const void* bottom, std::size_t bytes) {
    __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
}
void announce_arrival(void* fake_stack, const void** bottom, std::size_t* bytes) {
    __sanitizer_finish_switch_fiber(fake_stack, bottom, bytes);
}
#else
void announce_switch(void**, const void*, std::size_t) {}
void announce_arrival(void*, const void**, std::size_t*) {}
#endif

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kStackBytes = 512 * 1024;  // red zones make frames large
void forget_poison(void* begin, std::size_t bytes) { __asan_unpoison_memory_region(begin, bytes); }
#else
constexpr std::size_t kStackBytes = 128 * 1024;
void forget_poison(void*, std::size_t) {}
#endif

}  // namespace

StackPool::~StackPool() { release(); }

void StackPool::release() {
    if (base_) {
        forget_poison(base_, pitch_ * static_cast<std::size_t>(count_));  // the range may be mapped again by others
        munmap(base_, pitch_ * static_cast<std::size_t>(count_));
    }
    base_ = nullptr;
    count_ = 0;
}

void StackPool::reserve(int count) {
    if (count <= count_) return;
    release();
    guard_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    pitch_ = kStackBytes + guard_;
    const std::size_t total = pitch_ * static_cast<std::size_t>(count);
    void* mapping = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) throw Error("out of memory for the stacks of " + std::to_string(count) + " threads");
    base_ = static_cast<std::byte*>(mapping);
    count_ = count;
    for (int i = 0; i < count; ++i) mprotect(base_ + static_cast<std::size_t>(i) * pitch_, guard_, PROT_NONE);
}

void Fibre::start(std::byte* stack_bottom, std::size_t stack_bytes, Body body, void* argument, Home& home) {
    bottom_ = stack_bottom;
    bytes_ = stack_bytes;
    body_ = body;
    argument_ = argument;
    home_ = &home;
    suspended_ = false;
    inside_ = boost::context::detail::make_fcontext(stack_bottom + stack_bytes, stack_bytes, &Fibre::run);
}

void Fibre::enter() {
    void* fake_stack = nullptr;
    announce_switch(&fake_stack, bottom_, bytes_);
    Passage passage{nullptr, this};
    const boost::context::detail::transfer_t back = boost::context::detail::jump_fcontext(inside_, &passage);
    if (back.data) static_cast<const Passage*>(back.data)->from->inside_ = back.fctx;  // null: that fibre has ended
    announce_arrival(fake_stack, nullptr, nullptr);
}

void Fibre::run(boost::context::detail::transfer_t transfer) {
    const Passage passage = *static_cast<const Passage*>(transfer.data);
    Fibre& self = *passage.to;
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    announce_arrival(nullptr, &bottom, &bytes);
    if (!passage.from) self.home_->bottom = bottom, self.home_->bytes = bytes;
    self.arrive(transfer);
    self.body_(self.argument_);
    announce_switch(nullptr, self.home_->bottom, self.home_->bytes);  // null: this stack will not be resumed
    boost::context::detail::jump_fcontext(self.home_->context, nullptr);
    __builtin_unreachable();
}

}  // namespace flashstep::gpu::simt
