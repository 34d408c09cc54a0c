// The bench of the ladder on a device: which shapes, how a time is taken, how FLOPs are counted.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/problem.h"
#include "gpu/bench_run.h"
#include "gpu/registry.h"

namespace flashstep::gpu {

enum class Pass { Forward, Backward };
std::string_view name(Pass pass);  // "forward", "backward"

// Self-attention with as many heads of K and V as of Q, d_v = d, N keys.
struct BenchShape {
    Pass pass = Pass::Forward;
    int d = 64;
    bool causal = false;
    int n = 512, batch = 32, heads = 32;
    bool operator==(const BenchShape&) const = default;
};

// The papers' schedule (FA2 paper, section 4.1): batch x N = 16,384 tokens, heads x d = 2048; d = 64, 128; causal or
// not; N = 512 to 16,384; forward and backward. N varies fastest.
std::vector<BenchShape> bench_schedule();

// FLOPs by the papers' formula: 4 N^2 d per head forward, half of it if causal, 2.5 times that backward.
double attention_flops(const BenchShape& shape);

// Which pass a kernel does; nullopt: it is no attention (the softmax rungs).
std::optional<Pass> pass_of(const KernelInfo& kernel);
// The shape as the kernel runs it: its own number format, blocks and exponentials. Kernels that take any blocks get
// B_r = B_c = 32 at d = 64 and 16 above.
Problem problem_of(const BenchShape& shape, const KernelInfo& kernel);

struct BenchPolicy {
    int warm_ups = 3;
    int least_runs = 3, most_runs = 30;  // that are timed
    double budget_ms = 300;              // of all timed runs together; least_runs are made in any case
    double most_run_ms = 500;            // a run that would take longer is left out
};

struct BenchTime {
    double median_ms;
    int runs;
};

// Median of timed runs after untimed ones; the cache is flushed before each.
BenchTime time_runs(BenchRun& run, const BenchPolicy& policy);

struct BenchRow {
    const KernelInfo* kernel;
    BenchShape shape;
    BenchTime time{};
    std::string skipped;  // why there is no time; empty: there is one
};

using PrepareBench = std::function<std::unique_ptr<BenchRun>(const KernelInfo&, const Problem&)>;

// Times every kernel on those of the shapes that are of its pass. A shape is skipped, with the reason, where `prepare`
// or a run throws Error, and where the shape with half as many rows says that a run would take longer than the policy
// allows. `on_row` sees each row as soon as it is there. Throws DeviceFailure: nothing measured after one would be
// true.
std::vector<BenchRow> bench_ladder(const std::vector<const KernelInfo*>& chosen, const std::vector<BenchShape>& shapes,
                                   const PrepareBench& prepare, const BenchPolicy& policy,
                                   const std::function<void(const BenchRow&)>& on_row);

// On the current CUDA device. Inputs are pseudo-random numbers of the sizes that attention meets (L what such inputs
// give), so that no exponential overflows; what comes out is not looked at here but by `check`. Throws Error: no
// device, limits, no memory, a CUDA error.
std::unique_ptr<BenchRun> prepare_on_device(const KernelInfo& kernel, const Problem& problem);

}  // namespace flashstep::gpu
