// flashstep trace: every step of an algorithm, and the walk-through that a bare flashstep prints without a display.
#include <fmt/format.h>

#include <memory>

#include "core/io/trace_json.h"
#include "lessons/presets.h"
#include "viz/cli/commands.h"
#include "viz/cli/lookup.h"
#include "viz/cli/output.h"
#include "viz/cli/tensor_files.h"
#include "viz/cli/walkthrough.h"

namespace flashstep::cli {
namespace {

struct State {
    explicit State(CLI::App& command) : problem(command), json(command) {}
    std::string algorithm, kernel, fault, out;
    ProblemOptions problem;
    JsonOption json;
};

std::string page_beside_kernel(const Algorithm& algorithm, const CheckedRun& checked) {
    const KernelSide side{&checked.run, &checked.comparison, where_label(checked.run)};
    return walkthrough(algorithm, checked.mirror, &side);
}

int run_trace(const State& state) {
    const Algorithm& algorithm = algorithm_named(state.algorithm);
    const gpu::KernelInfo* kernel = state.kernel.empty() ? nullptr : &kernel_named(state.kernel);
    if (kernel && kernel->algorithm != algorithm.id)
        throw Error(fmt::format("--kernel {} runs {}, not {}", kernel->id, kernel->algorithm, algorithm.id));
    const Fault* fault = fault_named(state.fault);
    const Request request = state.problem.resolve(Need::Inputs);
    if (kernel) gpu::check_runnable(*kernel, request.problem);
    for (const std::string& warning : request.warnings) print_warning(warning);

    CheckedRun checked;
    if (kernel)
        checked = run_checked(*kernel, request, Where::Host, fault);
    else
        checked.mirror = record(algorithm, request.problem, request.inputs, fault);
    const Trace& trace = checked.mirror;
    if (!state.out.empty())
        print_note(fmt::format("wrote {} to {}", fmt::join(write_tensor_files(trace, state.out), ", "), state.out));
    if (state.json.on())
        state.json.write(io::trace_json(algorithm, trace), -1);
    else
        print_page(kernel ? page_beside_kernel(algorithm, checked) : walkthrough(algorithm, trace, nullptr));
    return kOk;
}

}  // namespace

Command add_trace(CLI::App& app) {
    CLI::App* command = app.add_subcommand("trace", "Runs an algorithm and prints every step with its values");
    const auto state = std::make_shared<State>(*command);
    command->add_option("ALGORITHM", state->algorithm, "its id (flashstep list)");
    command
        ->add_option(
            "--out", state->out,
            "write O, L, l, m, S, P, D, dQ, dK, dV, where the algorithm has them, as .npy (unnormalised P is left out)")
        ->type_name("DIR");
    command->add_option("--kernel", state->kernel, "show this kernel's values beside the mirror's")->type_name("ID");
    command->add_option("--fault", state->fault, "run the algorithm with this mistake (flashstep list)")
        ->type_name("ID");
    return {command, [state] { return run_trace(*state); }};
}

int print_first_walkthrough() {
    const Preset& preset = *find_preset("n4d3");
    const Request request{preset.problem, preset.inputs(preset.problem), {}};
    const CheckedRun checked = run_checked(kernel_named(std::string(preset.kernel)), request, Where::Host);
    print_page(page_beside_kernel(algorithm_named(std::string(preset.algorithm)), checked));
    return kOk;
}

}  // namespace flashstep::cli
