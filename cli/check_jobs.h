// What `check` runs: kernels on problems, and the whole table of shapes.
#pragma once

#include <optional>
#include <vector>

#include "cli/check_outcome.h"
#include "cli/problem_options.h"
#include "core/faults.h"

namespace flashstep::cli {

struct Job {
    Outcome outcome;  // left_out says why it is not run
    Recipe recipe;
};

Job make_job(const gpu::KernelInfo& kernel, const Request& request, const Fault* fault);

// Every kernel on every shape of the table, in its own number format, or in the given one.
std::vector<Job> jobs_of_table(std::optional<DType> dtype, const Fault* fault);

// On as many threads as there are cores: the executor keeps its state to itself. A device takes one at a time. Throws
// Error for wrong use of a mirror; what goes wrong in a run is its outcome.
void run_jobs(std::vector<Job>& jobs);

// Asks nvcc for the PTX of the kernels that are run, several at once; all jobs are for one target. Throws Error: what
// nvcc says.
void add_ptx(std::vector<Job>& jobs);

bool all_equal(const std::vector<Job>& jobs);  // those that were run

}  // namespace flashstep::cli
