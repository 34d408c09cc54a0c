// flashstep bench: the measures that the README's table shows, on this machine.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "cli/bench_device.h"
#include "cli/check_jobs.h"
#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "gpu/executor_costs.h"
#include "gpu/ptx/compile.h"

namespace flashstep::cli {
namespace {

Problem square(int n, int d, int block) {
    Problem p;
    p.n = p.nk = n, p.d = p.dv = d, p.br = p.bc = block;
    p.scale = 0.125;
    return p;
}

// Median time in milliseconds.
double median_ms(int runs, const std::function<void()>& work) {
    std::vector<double> times;
    for (int k = 0; k < runs; ++k) {
        const auto start = std::chrono::steady_clock::now();
        work();
        times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// A kernel on the executor, in its own blocks or those of the problem, with the probe-free kernel.
Measure executor(int runs, const std::string& id, Problem problem, gpu::Checks checks) {
    const gpu::KernelInfo& kernel = kernel_named(id);
    problem.dtype = kernel.dtypes.front(), problem.base2 = kernel.base2;
    if (kernel.br > 0) problem.br = kernel.br, problem.bc = kernel.bc;
    const Inputs inputs = make_inputs(problem);
    gpu::RunOptions options;
    options.checks = checks;
    options.capture = gpu::Capture::Off;
    return {fmt::format("executor: {} N={} d={}, checks {}", id, problem.n, problem.d,
                        checks == gpu::Checks::On ? "on" : "off"),
            median_ms(runs, [&] { gpu::run_kernel(kernel, problem, inputs, options); }), "ms",
            fmt::format("B_r={} B_c={}, one head, one CPU thread", problem.br, problem.bc)};
}

struct Group {
    std::string title;
    std::vector<Measure> measures;
};

Group count_all(int runs) {
    Group group{"counting, without arithmetic", {}};
    const Problem large = square(65536, 128, 128);
    for (const char* id : {"fa1_forward", "fa1_backward", "fa2_forward", "fa2_backward"}) {
        const Algorithm& algorithm = algorithm_named(id);
        group.measures.push_back({fmt::format("count {} N=65536 d=128 B=128", id),
                                  median_ms(runs, [&] { count(algorithm, large); }), "ms", "no arithmetic"});
    }
    const Problem small_blocks = square(65536, 64, 64);
    const Algorithm& fa2 = algorithm_named("fa2_forward");
    group.measures.push_back({"count fa2_forward N=65536 d=64 B=64", median_ms(runs, [&] { count(fa2, small_blocks); }),
                              "ms", "four times the tiles"});
    return group;
}

Group record_all(int runs) {
    Group group{"recording, every version of every tile kept", {}};
    const Problem problem = square(128, 64, 32);
    const Inputs inputs = make_inputs(problem);
    for (const Algorithm& algorithm : algorithms()) {
        std::int64_t steps = 0, values = 0;
        const double ms = median_ms(runs, [&] {
            const Trace trace = record(algorithm, problem, inputs);
            steps = trace.last_step(), values = static_cast<std::int64_t>(trace.values.size());
        });
        group.measures.push_back({fmt::format("record {} N=128 d=64 B=32", algorithm.id), ms, "ms",
                                  fmt::format("{} steps, {} numbers", steps, values)});
    }
    return group;
}

// The last forward rung of the ladder.
std::string best_forward() {
    std::string id;
    for (const gpu::KernelInfo& kernel : gpu::kernels())
        if (kernel.algorithm == "fa2_forward") id = kernel.id;
    return id;
}

Group executor_all(int runs) {
    Group group{"kernels on the CPU by the executor", {}};
    for (const gpu::Checks checks : {gpu::Checks::Off, gpu::Checks::On}) {
        group.measures.push_back(executor(runs, "fa2_forward_1_tile", square(512, 64, 32), checks));
        group.measures.push_back(executor(runs, best_forward(), square(1024, 64, 64), checks));
    }
    std::vector<Job> jobs = jobs_of_table({}, nullptr);
    const auto run = [](const Job& job) { return job.outcome.left_out.empty(); };
    const auto count = std::ranges::count_if(jobs, run);
    const double ms = median_ms(1, [&] { run_jobs(jobs); });
    group.measures.push_back(
        {"check all", ms / 1000, "s",
         fmt::format("{} runs with their mirrors, {} CPU threads, once{}", count,
                     std::max(1u, std::thread::hardware_concurrency()), all_equal(jobs) ? "" : "; NOT all equal")});
    return group;
}

// What nvcc makes of the same kernels, run by the same executor. Nothing where there is no nvcc.
Group ptx_all(int runs) {
    Group group{"nvcc's PTX of the kernels on the CPU, by the executor", {}};
    if (!gpu::ptx::why_not_compile().empty()) return group;
    for (const std::string& id : {std::string("fa2_forward_1_tile"), best_forward()}) {
        const gpu::KernelInfo& kernel = kernel_named(id);
        Problem problem = square(kernel.br > 0 ? 1024 : 512, 64, 32);
        problem.dtype = kernel.dtypes.front(), problem.base2 = kernel.base2;
        if (kernel.br > 0) problem.br = kernel.br, problem.bc = kernel.bc;
        const Inputs inputs = make_inputs(problem);
        gpu::RunOptions options;
        options.where = Where::Ptx;
        options.capture = gpu::Capture::Off;
        options.ptx = gpu::ptx::compile_kernel(id, 80);
        for (const gpu::Checks checks : {gpu::Checks::Off, gpu::Checks::On}) {
            options.checks = checks;
            std::int64_t lanes = 0;
            const double ms =
                median_ms(runs, [&] { lanes = gpu::run_kernel(kernel, problem, inputs, options).instructions.lanes; });
            const std::string what =
                fmt::format("PTX: {} N={} d=64, checks {}", id, problem.n, checks == gpu::Checks::On ? "on" : "off");
            group.measures.push_back(
                {what, ms, "ms", fmt::format("B_r={} B_c={}, one head, one CPU thread", problem.br, problem.bc)});
            group.measures.push_back({what + ", lane instructions a second", static_cast<double>(lanes) / ms / 1000,
                                      "million", fmt::format("{} counted", lanes)});
        }
    }
    return group;
}

Group executor_words() {
    Group group{"what the executor's words cost, of CPU time", {}};
    for (const gpu::Checks checks : {gpu::Checks::Off, gpu::Checks::On})
        for (const gpu::ExecutorCost& cost : gpu::executor_costs(checks))
            group.measures.push_back({fmt::format("{}, checks {}", cost.what, checks == gpu::Checks::On ? "on" : "off"),
                                      cost.nanoseconds, "ns", fmt::format("{} counted", cost.counted)});
    return group;
}

// How the time of a count grows with N. A count visits every tile, T_r x T_c of them.
struct Growth {
    int n;
    std::int64_t tile_steps;
    double ms;
    double ns_per_tile_step() const { return ms * 1e6 / static_cast<double>(tile_steps); }
};

std::vector<Growth> count_growth(int runs) {
    const Algorithm& fa2 = algorithm_named("fa2_forward");
    std::vector<Growth> rows;
    for (int n = 4096; n <= 262144; n *= 2) {
        const Problem problem = square(n, 128, 128);
        rows.push_back({n, std::int64_t{problem.row_blocks()} * problem.col_blocks(),
                        median_ms(runs, [&] { count(fa2, problem); })});
    }
    return rows;
}

constexpr const char* kGrowthTitle = "count growth: fa2_forward d=128 B=128";

std::string bench_page(const std::vector<Group>& groups, const std::vector<Growth>& growth, int runs) {
    std::string page = fmt::format("median of {} runs\n", runs);
    for (const Group& group : groups) {
        page += fmt::format("\n{}\n", group.title);
        for (const Measure& m : group.measures)
            page += fmt::format("  {:<58} {:>10.4g} {:<5} {}\n", m.name, m.value, m.unit, m.note);
    }
    page +=
        fmt::format("\n{}\n  {:>10} {:>12} {:>12} {:>18}\n", kGrowthTitle, "N", "tile steps", "ms", "ns per tile step");
    for (const Growth& g : growth)
        page += fmt::format("  {:>10} {:>12} {:>12.4g} {:>18.4g}\n", g.n, g.tile_steps, g.ms, g.ns_per_tile_step());
    return page;
}

io::Json bench_json(const std::vector<Group>& groups, const std::vector<Growth>& growth, int runs) {
    io::Json json = {{"runs", runs}, {"measures", io::Json::array()}, {"count_growth", io::Json::array()}};
    for (const Group& group : groups)
        for (const Measure& m : group.measures)
            json["measures"].push_back({{"group", group.title},
                                        {"name", m.name},
                                        {"value", io::json_number(m.value)},
                                        {"unit", m.unit},
                                        {"note", m.note}});
    for (const Growth& g : growth)
        json["count_growth"].push_back(
            {{"n", g.n}, {"tile_steps", g.tile_steps}, {"ms", g.ms}, {"ns_per_tile_step", g.ns_per_tile_step()}});
    return json;
}

struct State {
    explicit State(const Options& options) : json(options) {}
    std::string runs = "5", kernel, shape;
    bool device = false, schedule = false;
    JsonOption json;
};

int run_schedule(const State& state) {
    if (!state.json.on()) throw Error("--schedule prints JSON", "add --json or --json=FILE");
    state.json.write(schedule_json());
    return kOk;
}

int run_on_device(const State& state) {
    const std::vector<const gpu::KernelInfo*> chosen = attention_kernels(state.kernel);
    const std::vector<gpu::BenchShape> shapes = scheduled(state.shape);
    if (std::ranges::none_of(chosen, [&](const auto* kernel) {
            return std::ranges::any_of(shapes, [&](const auto& shape) { return gpu::pass_of(*kernel) == shape.pass; });
        }))
        throw Error(fmt::format("shape {} is a {} pass, {} does the other one", state.shape,
                                gpu::name(shapes.front().pass), state.kernel));
    const gpu::DeviceStatus device = gpu::device_status();
    if (!device.available) {
        print_note(fmt::format("nothing is measured: {}", device.message.en));
        return kUnavailable;
    }
    try {
        const std::vector<gpu::BenchRow> rows = run_device_bench(chosen, shapes);
        if (std::ranges::all_of(rows, [](const gpu::BenchRow& row) { return !row.skipped.empty(); }))
            throw gpu::DeviceFailure("no shape could be timed; the lines above say why");
        if (state.json.on()) state.json.write(results_json(device, today(), rows));
        return kOk;
    } catch (const gpu::DeviceFailure& failure) {  // no file is written: the one from before stays
        print_error(failure);
        return kDifferent;
    }
}

Action add(const Options& options, const Start& start) {
    const auto state = std::make_shared<State>(options);
    options.text("--runs", state->runs, "runs of each measure; the median is shown (5)", "COUNT");
    options.flag("--device", state->device, "the ladder on a GPU instead (L2 flushed, CUDA events, median)");
    options.text("--kernel", state->kernel, "with --device: this one only (flashstep list)", "ID");
    options.text("--shape", state->shape, "with --device: this one only, by its place in --schedule from 0", "NUMBER");
    options.flag("--schedule", state->schedule, "the shapes of --device, as JSON");
    return [state, window = start.window] {
        if (state->device && state->schedule) throw Error("--device and --schedule exclude each other");
        if ((!state->kernel.empty() || !state->shape.empty()) && !state->device)
            throw Error("--kernel and --shape go with --device");
        if (state->schedule) return run_schedule(*state);
        if (state->device) return run_on_device(*state);
        const int runs = static_cast<int>(whole_number("--runs", state->runs, 1, 1000));
        std::vector<Group> groups = {count_all(runs), record_all(runs), executor_all(runs), ptx_all(runs),
                                     executor_words()};
        std::erase_if(groups, [](const Group& group) { return group.measures.empty(); });
        if (window) groups.push_back({"the app", window->measures()});
        const std::vector<Growth> growth = count_growth(runs);
        if (state->json.on())
            state->json.write(bench_json(groups, growth, runs));
        else
            print_page(bench_page(groups, growth, runs));
        return kOk;
    };
}

}  // namespace

const Command kBench{"bench", "Measures the program on this machine", add};

}  // namespace flashstep::cli
