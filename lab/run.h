// One run of a recipe: the mirror's trace, the kernel's run of the same problem, their comparison, and what they are
// measured by. Made in one place, for the app, the command line, the lessons and the tests alike; never changed after.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "core/algorithms.h"
#include "core/compare.h"
#include "core/faults.h"
#include "core/first_non_finite.h"
#include "gpu/registry.h"
#include "lab/recipe.h"

namespace flashstep {

// Where a run with a mistake first holds another number than the right algorithm: an element of Trace::versions.
struct Departure {
    int version, row, col;
    double right;  // NaN: the right algorithm has no such element
};

// Why there is no kernel's run where one was asked for.
enum class KernelFailure {
    None,
    Problem,    // the kernel does not run it, or the executor found a mistake in it
    Device,     // there is none, it refused, or it failed
    Recording,  // it cannot be read, or is of something else
};

struct Run {
    Recipe recipe;
    const Algorithm* algorithm = nullptr;
    const Fault* fault = nullptr;  // the mistake that the trace was made with
    Trace trace;
    // nullopt: no kernel was chosen, or there is a failure (kernel_message says which)
    std::optional<KernelRun> kernel_run;
    std::optional<Comparison> comparison;
    KernelFailure kernel_failure = KernelFailure::None;
    Sentence kernel_message;
    int first_difference = -1;  // step, from the kernel, or from the right algorithm; -1: none

    // ---- what Parts::All adds ----
    const Algorithm* plain = nullptr;     // what the run is measured by (yardstick_of); null: nothing comparable
    Counts standard;                      // of `plain` on the same problem
    std::optional<Trace> right;           // with a mistake: of the right algorithm, on the same problem
    std::optional<Departure> departure;   // likewise; nullopt: it does not show in this problem
    std::optional<NonFinite> non_finite;  // where the trace leaves the finite numbers
    std::vector<double> tensor_scale;     // by tensor: largest finite |value| over the whole trace, at least 1e-30
    std::vector<int> widest;              // by tensor: characters of its short numbers, decimal points aligned
};

// Shared between who asks for a run and who makes it on another thread.
struct RunTask {
    std::atomic<bool> cancel = false;                               // true: the run stops with Cancelled
    std::atomic<float> recorded = 0, kernel_ran = 0, compared = 0;  // fractions done, 0 to 1

    float progress() const { return 0.3f * recorded + 0.5f * kernel_ran + 0.2f * compared; }
};

// How much of a run is made.
enum class Parts {
    All,
    Verdict,  // trace, kernel and comparison alone, without what a picture needs beside them
};

// Makes a run, start to end. On a device the kernel runs a second time without its probe, as a bench times it: that run
// is the one that is kept where its outputs are not the mirror's. What fails in the kernel's part is in the run. Throws
// Error: an unknown name, a problem that the mirror refuses, a fault of another algorithm, cancelled.
Run make_run(const Recipe& recipe, RunTask* task = nullptr, Parts parts = Parts::All);

}  // namespace flashstep
