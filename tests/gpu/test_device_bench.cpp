// The device bench without a device: its schedule, FLOPs, and how it takes times, on a clock that the test sets.
#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>

#include "core/error.h"
#include "gpu/device_bench.h"
#include "gpu/run.h"

namespace flashstep::gpu {

namespace {

// Gives the times of a list, the last one for ever, and writes down what was asked of it.
struct FakeRun : BenchRun {
    FakeRun(std::vector<double> ms, std::string& log) : times(std::move(ms)), calls(log) {}
    void flush_cache() override { calls += 'f'; }
    void start() override { calls += 's'; }
    void launch() override { calls += 'l'; }
    double stop_ms() override {
        calls += 'e';
        const double now = times.front();
        if (times.size() > 1) times.erase(times.begin());
        return now;
    }
    std::vector<double> times;
    std::string& calls;
};

std::string times_of(std::string_view text, int count) {
    std::string result;
    for (int k = 0; k < count; ++k) result += text;
    return result;
}

}  // namespace

TEST_CASE("The schedule is the papers': 16k tokens, hidden size 2048, 24 shapes a pass") {
    const std::vector<BenchShape> shapes = bench_schedule();
    REQUIRE(shapes.size() == 48);
    std::set<std::string> seen;
    for (const BenchShape& s : shapes) {
        CHECK(s.batch * s.n == 16384);
        CHECK(s.heads * s.d == 2048);
        CHECK((s.d == 64 || s.d == 128));
        seen.insert(std::string(name(s.pass)) + std::to_string(s.d) + (s.causal ? "c" : "-") + std::to_string(s.n));
    }
    CHECK(seen.size() == 48);
    CHECK(seen.contains("backward128c16384"));
    CHECK(seen.contains("forward64-512"));
}

TEST_CASE("FLOPs are the papers' formula") {
    // 4 x 512^2 x 64 x 32 heads x 32 = 68.7 GFLOP.
    const BenchShape forward{Pass::Forward, 64, false, 512, 32, 32};
    CHECK(attention_flops(forward) == 4.0 * 512 * 512 * 64 * 32 * 32);
    BenchShape causal = forward, backward = forward;
    causal.causal = true;
    backward.pass = Pass::Backward;
    CHECK(attention_flops(causal) == attention_flops(forward) / 2);
    CHECK(attention_flops(backward) == 2.5 * attention_flops(forward));
}

TEST_CASE("Every attention kernel has a pass and runs the schedule's shapes") {
    int forward = 0, backward = 0;
    for (const KernelInfo& kernel : kernels()) {
        CAPTURE(kernel.id);
        const std::optional<Pass> pass = pass_of(kernel);
        CHECK(pass.has_value() != kernel.id.starts_with("softmax"));
        if (!pass) continue;
        CHECK((pass == Pass::Backward) == (kernel.id.find("backward") != std::string_view::npos));
        ++(pass == Pass::Forward ? forward : backward);
        for (const BenchShape& shape : bench_schedule())
            if (shape.pass == pass) CHECK_NOTHROW(check_runnable(kernel, problem_of(shape, kernel)));
    }
    CHECK(forward > 0);
    CHECK(backward > 0);
}

TEST_CASE("The cache is flushed before each run and outside the clock; warm-ups are not counted") {
    std::string calls;
    FakeRun run({900, 9, 1, 5, 4, 3, 2, 1}, calls);  // ms: three warm-ups, five runs
    const BenchTime time =
        time_runs(run, {.warm_ups = 3, .least_runs = 3, .most_runs = 5, .budget_ms = 1000, .most_run_ms = 500});
    CHECK(calls == times_of("fsle", 8));
    CHECK(time.runs == 5);
    CHECK(time.median_ms == 3);
}

TEST_CASE("The median of an even number of runs lies between the middle two, and one slow run does not move it") {
    std::string calls;
    FakeRun run({1, 7, 1000, 3, 5}, calls);
    const BenchTime time =
        time_runs(run, {.warm_ups = 1, .least_runs = 4, .most_runs = 4, .budget_ms = 10, .most_run_ms = 500});
    CHECK(time.runs == 4);
    CHECK(time.median_ms == 6);
}

TEST_CASE("A slow kernel is timed the least number of times, a quick one the most") {
    const BenchPolicy policy{.warm_ups = 3, .least_runs = 3, .most_runs = 30, .budget_ms = 300, .most_run_ms = 500};
    std::string calls;
    FakeRun slow({400}, calls), quick({0.01}, calls), middle({30}, calls);
    CHECK(time_runs(slow, policy).runs == 3);
    CHECK(calls == times_of("fsle", 1 + 3));  // one warm-up over the budget is enough
    CHECK(time_runs(quick, policy).runs == 30);
    CHECK(time_runs(middle, policy).runs == 10);
}

TEST_CASE("The ladder leaves out what would take too long, and says what each refused shape said") {
    const KernelInfo* kernel = find_kernel("fa2_forward_1_tile");
    REQUIRE(kernel);
    std::string calls;
    int prepared = 0, seen = 0;
    // A kernel of 100 ms at N = 512 whose time doubles with N; nothing at d = 128 fits into the device.
    const PrepareBench prepare = [&](const KernelInfo&, const Problem& p) -> std::unique_ptr<BenchRun> {
        ++prepared;
        CHECK(p.dtype == DType::Fp32);
        CHECK(p.batch * p.n == 16384);
        if (p.d == 128) throw Error("no memory left");
        return std::make_unique<FakeRun>(std::vector<double>{100.0 * p.n / 512}, calls);
    };
    const std::vector<BenchRow> rows =
        bench_ladder({kernel}, bench_schedule(), prepare, {}, [&](const BenchRow&) { ++seen; });
    REQUIRE(rows.size() == 24);
    CHECK(seen == 24);
    for (const BenchRow& row : rows) {
        CAPTURE(row.shape.n);
        CHECK(row.shape.pass == Pass::Forward);
        if (row.shape.d == 128) {
            CHECK(row.skipped == "no memory left");
        } else if (row.shape.n <= 2048) {  // 100, 200 and 400 ms
            CHECK(row.skipped.empty());
            CHECK(row.time.median_ms == 100.0 * row.shape.n / 512);
        } else {
            CHECK(row.skipped ==
                  "one run would take about " + std::to_string(row.shape.n / 512 * 100) + " ms, the limit is 500 ms");
        }
    }
    CHECK(prepared == 2 * 3 + 12);  // a shape known to be too slow is not even prepared
}

TEST_CASE("A device that fails ends the bench: no later row is measured or called left out") {
    const KernelInfo* kernel = find_kernel("fa2_forward_1_tile");
    REQUIRE(kernel);
    std::string calls;
    struct Failing : FakeRun {
        using FakeRun::FakeRun;
        double stop_ms() override { throw DeviceFailure("an illegal memory access was encountered"); }
    };
    int prepared = 0, seen = 0;
    const PrepareBench prepare = [&](const KernelInfo&, const Problem&) -> std::unique_ptr<BenchRun> {
        if (++prepared < 3) return std::make_unique<FakeRun>(std::vector<double>{1}, calls);
        return std::make_unique<Failing>(std::vector<double>{1}, calls);
    };
    CHECK_THROWS_AS(bench_ladder({kernel}, bench_schedule(), prepare, {}, [&](const BenchRow&) { ++seen; }),
                    DeviceFailure);
    CHECK(prepared == 3);
    CHECK(seen == 2);
}

TEST_CASE("Without a device the bench cannot be prepared") {
    if (device_status().available) return;
    const KernelInfo* kernel = find_kernel("fa2_forward_4_swizzle");
    REQUIRE(kernel);
    CHECK_THROWS_AS(prepare_on_device(*kernel, problem_of(bench_schedule().front(), *kernel)), Error);
}

}  // namespace flashstep::gpu
