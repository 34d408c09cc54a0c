// Registry rows by the names that a person typed. Throw Error with what exists and the nearest name.
#pragma once

#include "cli/problem_options.h"
#include "core/algorithms.h"
#include "core/compare.h"
#include "gpu/run.h"

namespace flashstep::cli {

const Algorithm& algorithm_named(const std::string& id);
const gpu::KernelInfo& kernel_named(const std::string& id);
const Fault* fault_named(const std::string& id);  // null for an empty id

// What the kernel is made for.
Defaults defaults_of(const gpu::KernelInfo& kernel);

// A kernel beside its mirror.
struct CheckedRun {
    Trace mirror;
    KernelRun run;
    Comparison comparison;
};

// Runs both, the mirror with a fault where `fault` is not null. On a device the kernel runs a second time without its
// probe, as the bench times it: that run is the result if its outputs are not the mirror's. Throws Error: the kernel
// cannot run the problem, a check of the executor failed, the fault is another algorithm's.
struct Place {
    Where where = Where::Host;
    int target = 90;  // the architecture that the executor stands for
};
CheckedRun run_checked(const gpu::KernelInfo& kernel, const Request& request, Place place,
                       const Fault* fault = nullptr);

}  // namespace flashstep::cli
