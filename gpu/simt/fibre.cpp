// Fibre switches and the pool of stacks.
#include "gpu/simt/fibre.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "core/error.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace flashstep::gpu::simt {

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kStackBytes = 512 * 1024;  // red zones make frames large
void announce_switch(void** fake_stack, const void* bottom, std::size_t bytes) {
    __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
}
void announce_arrival(void* fake_stack, const void** bottom, std::size_t* bytes) {
    __sanitizer_finish_switch_fiber(fake_stack, bottom, bytes);
}
void forget_poison(void* begin, std::size_t bytes) { __asan_unpoison_memory_region(begin, bytes); }
#else
constexpr std::size_t kStackBytes = 128 * 1024;
void announce_switch(void**, const void*, std::size_t) {}
void announce_arrival(void*, const void**, std::size_t*) {}
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

void Fibre::start(std::byte* stack_bottom, std::size_t stack_bytes, Body body, void* argument) {
    bottom_ = stack_bottom;
    bytes_ = stack_bytes;
    body_ = body;
    argument_ = argument;
    suspended_ = false;
    inside_ = boost::context::detail::make_fcontext(stack_bottom + stack_bytes, stack_bytes, &Fibre::run);
}

void Fibre::enter() {
    void* fake_stack = nullptr;
    announce_switch(&fake_stack, bottom_, bytes_);
    inside_ = boost::context::detail::jump_fcontext(inside_, this).fctx;
    announce_arrival(fake_stack, nullptr, nullptr);
}

void Fibre::switched_in(void* fake_stack) { announce_arrival(fake_stack, &outside_bottom_, &outside_bytes_); }

void Fibre::leave() {
    suspended_ = true;
    void* fake_stack = nullptr;
    announce_switch(&fake_stack, outside_bottom_, outside_bytes_);
    outside_ = boost::context::detail::jump_fcontext(outside_, nullptr).fctx;
    suspended_ = false;
    switched_in(fake_stack);
}

void Fibre::run(boost::context::detail::transfer_t transfer) {
    Fibre* self = static_cast<Fibre*>(transfer.data);
    self->switched_in(nullptr);
    self->outside_ = transfer.fctx;
    self->body_(self->argument_);
    announce_switch(nullptr, self->outside_bottom_, self->outside_bytes_);  // null: this stack will not be resumed
    boost::context::detail::jump_fcontext(self->outside_, nullptr);
    __builtin_unreachable();
}

}  // namespace flashstep::gpu::simt
