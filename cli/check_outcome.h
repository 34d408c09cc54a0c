// One kernel on one problem, and how that reads on a page and in JSON.
#pragma once

#include <string>

#include "core/compare.h"
#include "core/io/json.h"
#include "gpu/registry.h"
#include "lab/recipe.h"

namespace flashstep::cli {

// What became of one kernel.
struct Outcome {
    const gpu::KernelInfo* kernel;
    Problem problem;
    std::string left_out;  // why it was not run; empty: it was
    std::string failure;   // a check of the executor, or a device error; empty: it ran to its end
    KernelRun run;
    Comparison comparison;

    bool equal() const { return failure.empty() && comparison.verdict == Verdict::Equal; }
};

// Makes the run of a kernel's recipe. Throws Error for wrong use of the mirror; what goes wrong later is a failure.
Outcome check_one(const gpu::KernelInfo& kernel, const Recipe& recipe);

// A paragraph: verdict, tensors, HBM bytes, and beside a closed form of the kernel's own what the paper's algorithm
// moves.
std::string outcome_text(const Outcome& outcome);
// "different: step 12, ..." in one line.
std::string outcome_line(const Outcome& outcome);
io::Json outcome_json(const Outcome& outcome);

}  // namespace flashstep::cli
