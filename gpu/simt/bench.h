// How fast the executor is: what a thread switch and each collective of a warp cost.
#pragma once

#include <string>
#include <vector>

#include "gpu/checks.h"

namespace flashstep::gpu::simt {

struct ExecutorCost {
    std::string what;      // "sync_block, per thread", "mma_m16n8k16, per warp", ...
    double nanoseconds;    // the median of several runs
    std::int64_t counted;  // operations in a run
};

// Costs of one thread switch and of one warp's collectives, measured now, on this thread.
std::vector<ExecutorCost> executor_costs(Checks checks);

}  // namespace flashstep::gpu::simt
