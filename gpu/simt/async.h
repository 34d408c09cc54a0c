// Asynchronous copies from global to shared memory (cp.async), as one thread sees them: issued, committed in groups,
// waited for. The bytes arrive at a moment between issue and wait that the seed chooses; until the wait the destination
// counts as being written, and the source may not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/simt/call_site.h"
#include "gpu/simt/memory.h"

namespace flashstep::gpu::simt {

struct AsyncCopy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    int bytes = 0, source_bytes = 0;  // the rest is zero
    std::uint32_t place = 0;          // of `to`, from the start of the block's shared memory
    const char* view = "";            // and for messages: the view's name,
    std::int64_t index = 0;           // the element in it,
    CallSite where;                   // and the place in the source
    const Tensor* source = nullptr;   // not null: others may write it, so it is compared with `seen`
    std::byte seen[16] = {};          // the source when the copy was issued
    std::uint32_t group = 0;          // counts this thread's groups
    int points = kAtWait;             // scheduling points to go until the bytes arrive
    bool arrived = false;

    static constexpr int kAtWait = 1 << 30;
};

class AsyncCopies {
  public:
    void issue(Lane& lane, const AsyncCopy& copy);
    void commit() { ++group_; }  // an empty group counts
    // Ends all copies but those of the `pending` most recent groups, and those not committed.
    void wait(Lane& lane, int pending);
    // A barrier or a collective of this thread: some copies arrive.
    void scheduling_point() {
        if (travelling_ > 0) advance();
    }
    void clear();
    bool empty() const { return first_ == copies_.size(); }
    std::size_t pending() const { return copies_.size() - first_; }
    const AsyncCopy& oldest() const { return copies_[first_]; }

  private:
    void arrive(AsyncCopy& copy);
    void advance();
    std::vector<AsyncCopy> copies_;  // [first_, size) are pending, in order of issue, so of group
    std::size_t first_ = 0;
    std::uint32_t group_ = 0;  // the open one
    int travelling_ = 0;       // pending copies that arrive before their wait
};

}  // namespace flashstep::gpu::simt
