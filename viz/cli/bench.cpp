// flashstep bench: the measures that the README's table shows, on this machine.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>

#include "viz/cli/commands.h"
#include "viz/cli/lookup.h"
#include "viz/cli/numbers.h"
#include "viz/cli/output.h"

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

Measure executor(int runs, gpu::Checks checks, const std::string& note) {
    const gpu::KernelInfo& kernel = kernel_named("fa2_forward_1_tile");
    const Problem problem = square(512, 64, 32);
    const Inputs inputs = make_inputs(problem);
    gpu::RunOptions options;
    options.checks = checks;
    options.capture = gpu::Capture::Off;
    return {fmt::format("executor: fa2_forward_1_tile N=512 d=64, checks {}", checks == gpu::Checks::On ? "on" : "off"),
            median_ms(runs, [&] { gpu::run_kernel(kernel, problem, inputs, options); }), "ms", note};
}

std::vector<Measure> measure(int runs) {
    const Algorithm& fa2 = algorithm_named("fa2_forward");
    const Problem large = square(65536, 64, 64), small = square(256, 64, 32);
    const Inputs inputs = make_inputs(small);
    return {
        {"count fa2_forward N=65536 d=64 B=64", median_ms(runs, [&] { count(fa2, large); }), "ms", "no arithmetic"},
        {"record fa2_forward N=256 d=64 B=32", median_ms(runs, [&] { record(fa2, small, inputs); }), "ms",
         "every version kept"},
        executor(runs, gpu::Checks::Off, "B=32, one CPU thread"),
        executor(runs, gpu::Checks::On, "races, bounds, poison, divergence"),
    };
}

std::string bench_page(const std::vector<Measure>& measures, int runs) {
    std::string page = fmt::format("{:<56} {:>12}       note\n", fmt::format("median of {} runs", runs), "");
    for (const Measure& m : measures)
        page += fmt::format("{:<56} {:>12.4g} {:<5} {}\n", m.name, m.value, m.unit, m.note);
    return page;
}

struct State {
    explicit State(CLI::App& command) : json(command) {}
    std::string runs = "5";
    JsonOption json;
};

}  // namespace

Command add_bench(CLI::App& app, const WindowHooks* window) {
    CLI::App* command = app.add_subcommand("bench", "Measures the program on this machine");
    const auto state = std::make_shared<State>(*command);
    command->add_option("--runs", state->runs, "runs of each measure; the median is shown (5)")->type_name("COUNT");
    return {command, [state, window] {
                const int runs = static_cast<int>(whole_number("--runs", state->runs, 1, 1000));
                std::vector<Measure> measures = measure(runs);
                if (window)
                    for (Measure& m : window->measures()) measures.push_back(std::move(m));
                if (!state->json.on()) {
                    print_page(bench_page(measures, runs));
                    return kOk;
                }
                io::Json json = {{"runs", runs}, {"measures", io::Json::array()}};
                for (const Measure& m : measures)
                    json["measures"].push_back(
                        {{"name", m.name}, {"value", io::json_number(m.value)}, {"unit", m.unit}, {"note", m.note}});
                state->json.write(json);
                return kOk;
            }};
}

}  // namespace flashstep::cli
