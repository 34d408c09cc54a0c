// How fast the executor is: what a thread switch and each collective of a warp cost. Plain C++: whoever prints them
// needs no header of the executor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/checks.h"

namespace flashstep::gpu {

struct ExecutorCost {
    std::string what;      // "sync_block, per thread", "mma_m16n8k16, per warp", ...
    double nanoseconds;    // of CPU time, each; the median of several runs
    std::int64_t counted;  // how many there were in a run
};

// Costs of one thread switch and of one warp's collectives, measured now, on this thread.
std::vector<ExecutorCost> executor_costs(Checks checks);

}  // namespace flashstep::gpu
