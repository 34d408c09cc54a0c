// Schedule, timing and inputs of the device bench.
#include "gpu/device_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/error.h"
#include "gpu/cuda/bench.h"
#include "gpu/device_status.h"
#include "gpu/host_tensor.h"
#include "gpu/run.h"
#include "gpu/rungs.h"

namespace flashstep::gpu {

namespace {

constexpr int kTokens = 16384, kHidden = 2048;

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double timed_ms(BenchRun& run) {
    run.flush_cache();
    run.start();
    run.launch();
    return run.stop_ms();
}

// The numbers that an input is filled with, again and again; a prime length, so that rows differ.
std::vector<float> pattern_of(std::string_view tensor, int nk) {
    if (tensor == "L") return {std::log(static_cast<float>(nk))};
    std::vector<float> values(65521);
    std::uint32_t state = 1;
    for (char letter : tensor) state = state * 31 + static_cast<unsigned char>(letter);
    for (float& value : values) {
        state = state * 1664525 + 1013904223;                                   // Numerical Recipes' generator
        value = static_cast<float>(static_cast<int>(state >> 24) - 128) / 128;  // [-1, 1), exact in every format
        if (tensor == "P") value = (value + 1) / static_cast<float>(nk);        // rows that add up to about 1
    }
    return values;
}

}  // namespace

std::string_view name(Pass pass) { return pass == Pass::Forward ? "forward" : "backward"; }

std::vector<BenchShape> bench_schedule() {
    std::vector<BenchShape> shapes;
    for (Pass pass : {Pass::Forward, Pass::Backward})
        for (int d : {64, 128})
            for (bool causal : {false, true})
                for (int n = 512; n <= kTokens; n *= 2)
                    shapes.push_back({pass, d, causal, n, kTokens / n, kHidden / d});
    return shapes;
}

double attention_flops(const BenchShape& s) {
    const double forward = 4.0 * s.n * s.n * s.d * s.heads * s.batch / (s.causal ? 2 : 1);
    return s.pass == Pass::Forward ? forward : 2.5 * forward;
}

std::optional<Pass> pass_of(const KernelInfo& kernel) {
    const std::vector<TensorSpec> tensors = rung(kernel.id).tensors(shape_of(kernel, Problem{}));
    const auto reads = [&](std::string_view tensor) {
        return std::ranges::any_of(
            tensors, [&](const TensorSpec& t) { return t.name == tensor && t.role == TensorRole::Input; });
    };
    if (!reads("Q")) return std::nullopt;
    return reads("dO") ? Pass::Backward : Pass::Forward;
}

Problem problem_of(const BenchShape& shape, const KernelInfo& kernel) {
    Problem p;
    p.n = p.nk = shape.n, p.d = p.dv = shape.d;
    p.br = p.bc = shape.d <= 64 ? 32 : 16;
    if (kernel.br > 0) p.br = kernel.br, p.bc = kernel.bc;
    p.scale = 1 / std::sqrt(static_cast<double>(shape.d));
    p.causal = shape.causal;
    p.batch = shape.batch, p.heads = p.kv_heads = shape.heads;
    p.dtype = kernel.dtypes.front();
    p.base2 = kernel.base2;
    return p;
}

BenchTime time_runs(BenchRun& run, const BenchPolicy& policy) {
    double last = 0;
    for (int k = 0; k < policy.warm_ups; ++k) {
        last = timed_ms(run);
        if (last > policy.budget_ms) break;  // warm enough
    }
    const double fit = policy.budget_ms / std::max(last, 1e-6);
    const int runs = static_cast<int>(
        std::clamp(fit, static_cast<double>(policy.least_runs), static_cast<double>(policy.most_runs)));
    std::vector<double> times;
    for (int k = 0; k < runs; ++k) times.push_back(timed_ms(run));
    return {median(times), runs};
}

std::vector<BenchRow> bench_ladder(const std::vector<const KernelInfo*>& chosen, const std::vector<BenchShape>& shapes,
                                   const PrepareBench& prepare, const BenchPolicy& policy,
                                   const std::function<void(const BenchRow&)>& on_row) {
    std::vector<BenchRow> rows;
    for (const KernelInfo* kernel : chosen) {
        // What one run will take with N rows, from what it took with half of them: with as many tokens, the work of
        // attention doubles. A shape that was too slow leaves its estimate for the next one.
        std::map<std::tuple<int, bool, int>, double> expected_ms;
        for (const BenchShape& shape : shapes) {
            if (pass_of(*kernel) != shape.pass) continue;
            BenchRow row{.kernel = kernel, .shape = shape, .time = {}, .skipped = {}};
            const double expected = expected_ms[{shape.d, shape.causal, shape.n}];
            double& next = expected_ms[{shape.d, shape.causal, 2 * shape.n}];
            if (expected > policy.most_run_ms) {
                row.skipped = fmt::format("one run would take about {:.0f} ms, the limit is {:.0f} ms", expected,
                                          policy.most_run_ms);
                next = 2 * expected;
            } else {
                try {
                    const Problem problem = problem_of(shape, *kernel);
                    check_runnable(*kernel, problem);
                    row.time = time_runs(*prepare(*kernel, problem), policy);
                    next = 2 * row.time.median_ms;
                } catch (const DeviceFailure&) { throw; } catch (const Error& error) {
                    row.skipped = error.what();
                }
            }
            on_row(row);
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

std::unique_ptr<BenchRun> prepare_on_device(const KernelInfo& kernel, const Problem& problem) {
    check_device(kernel, problem.dtype, device_status());
    const AttentionShape shape = shape_of(kernel, problem);
    std::vector<cuda::BenchTensor> tensors;
    for (const TensorSpec& spec : rung(kernel.id).tensors(shape)) {
        cuda::BenchTensor tensor{spec.name, bytes_of(spec.element), spec.count(), {}};
        if (spec.role == TensorRole::Input) tensor.pattern = encoded(pattern_of(spec.name, shape.nk), spec.element);
        tensors.push_back(std::move(tensor));
    }
    return cuda::prepare_bench(kernel.id, shape, tensors);
}

}  // namespace flashstep::gpu
