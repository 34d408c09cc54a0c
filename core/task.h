// A long computation seen from another thread: what stops it, and how far it is.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/error.h"

namespace flashstep {

class Cancelled : public Error {
  public:
    Cancelled() : Error(Sentence("cancelled", "已取消")) {}
};

// Loops that may take long ask it at least once for every kCheckedWork additions, exponentials or the like.
struct Task {
    const std::atomic<bool>* cancel = nullptr;  // set to true: the computation stops with Cancelled
    std::atomic<float>* progress = nullptr;     // fraction done, 0 to 1

    void checkpoint() const {
        if (cancel && cancel->load(std::memory_order_relaxed)) throw Cancelled();
    }
    void report(double done, double all) const {
        if (progress) progress->store(static_cast<float>(done / all), std::memory_order_relaxed);
    }
};

constexpr std::int64_t kCheckedWork = 1 << 16;  // less than a millisecond

// Asks a task as often as its work calls for it.
class Pace {
  public:
    explicit Pace(const Task& task) : task_(task) {}
    void did(std::int64_t work) {
        if ((work_ += work) < kCheckedWork) return;
        work_ = 0;
        task_.checkpoint();
    }

  private:
    const Task& task_;
    std::int64_t work_ = 0;
};

}  // namespace flashstep
