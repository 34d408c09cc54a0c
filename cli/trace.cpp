// flashstep trace: every step of an algorithm, and the walk-through that a bare flashstep prints without a display.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/output.h"
#include "cli/tensor_files.h"
#include "cli/walkthrough.h"
#include "core/io/file.h"
#include "core/io/trace_file.h"
#include "core/io/trace_json.h"
#include "gpu/run.h"
#include "lab/presets.h"
#include "lab/run.h"

namespace flashstep::cli {
namespace {

struct State {
    explicit State(const Options& options) : problem(options), json(options) {}
    std::string algorithm, kernel, fault, out, save, load;
    ProblemOptions problem;
    JsonOption json;
};

std::string page_of(const Run& run) {
    const Algorithm& algorithm = *find_algorithm(run.trace.algorithm);
    if (!run.kernel_run) return walkthrough(algorithm, run.trace, nullptr);
    const KernelSide side{&*run.kernel_run, &*run.comparison, where_label(*run.kernel_run)};
    return walkthrough(algorithm, run.trace, &side);
}

// Runs the mirror, and beside it the kernel where one was asked for.
Run run_here(const State& state, const Algorithm& algorithm) {
    const gpu::KernelInfo* kernel = state.kernel.empty() ? nullptr : &kernel_named(state.kernel);
    if (kernel && kernel->algorithm != algorithm.id)
        throw Error(fmt::format("--kernel {} runs {}, not {}", kernel->id, kernel->algorithm, algorithm.id));
    const Fault* fault = fault_named(state.fault);
    const Request request = state.problem.resolve(Need::Inputs);
    if (kernel) gpu::check_runnable(*kernel, request.problem);
    for (const std::string& warning : request.warnings) print_warning(warning);
    Run run = make_run(kernel ? recipe_of(*kernel, request, fault) : recipe_of(algorithm, request, fault), nullptr,
                       Parts::Verdict);
    if (!run.kernel_message.empty()) throw Error(run.kernel_message);
    return run;
}

// A saved trace has its own algorithm, problem and inputs: only what shows it may stand beside --load.
Run load(const std::vector<std::string>& given, const State& state) {
    constexpr std::array<std::string_view, 4> kBeside = {"load", "json", "out", "ALGORITHM"};
    for (const std::string& name : given)
        if (std::ranges::find(kBeside, name) == kBeside.end())
            throw Error(fmt::format("--load {} and --{} contradict each other", io::quoted(state.load, 200), name),
                        "a saved trace has its own problem and inputs; beside --load stand --json and --out only");
    Run run;
    run.trace = io::read_trace(state.load);
    if (!state.algorithm.empty() && algorithm_named(state.algorithm).id != run.trace.algorithm)
        throw Error(fmt::format("--load {} holds a trace of {}, not of {}", io::quoted(state.load, 200),
                                run.trace.algorithm, state.algorithm),
                    "leave the algorithm out");
    return run;
}

int run_trace(const std::vector<std::string>& given, const State& state) {
    const auto has = [&](std::string_view name) { return std::ranges::find(given, name) != given.end(); };
    const Run run = has("load") ? load(given, state) : run_here(state, algorithm_named(state.algorithm));
    const Trace& trace = run.trace;
    if (has("save")) {
        io::write_trace(state.save, trace);
        print_note(fmt::format("saved the trace to {}", io::quoted(state.save, 200)));
    }
    if (!state.out.empty())
        print_note(fmt::format("wrote {} to {}", fmt::join(write_tensor_files(trace, state.out), ", "), state.out));
    if (state.json.on())
        state.json.write(io::trace_json(*find_algorithm(trace.algorithm), trace), -1);
    else
        print_page(page_of(run));
    return kOk;
}

Action add(const Options& options, const Start&) {
    const auto state = std::make_shared<State>(options);
    options.text("ALGORITHM", state->algorithm, "its id (flashstep list)");
    options.text(
        "--out", state->out,
        "write O, L, l, m, S, P, D, dQ, dK, dV, where the algorithm has them, as .npy (unnormalised P is left out)",
        "DIR");
    options.text("--kernel", state->kernel, "show this kernel's values beside the mirror's", "ID");
    options.text("--fault", state->fault, "run the algorithm with this mistake (flashstep list)", "ID");
    options.text("--save", state->save, "save the trace of the algorithm, e.g. as run.fst; --load shows it again",
                 "FILE");
    options.text("--load", state->load, "show a saved trace instead of running an algorithm", "FILE");
    options.footer("--json is described, key by key, in core/io/trace.schema.json (JSON Schema).");
    return [state, options] { return run_trace(options.given(), *state); };
}

}  // namespace

const Command kTrace{"trace", "Runs an algorithm and prints every step with its values", add};

int print_first_walkthrough() {
    print_page(page_of(make_run(recipe_of(*find_preset("n4d3")), nullptr, Parts::Verdict)));
    return kOk;
}

}  // namespace flashstep::cli
