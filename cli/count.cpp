// flashstep count: bytes and operations of the whole batch, from shapes alone.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/names.h"
#include "cli/output.h"
#include "cli/walkthrough.h"
#include "core/io/trace_json.h"

namespace flashstep::cli {
namespace {

std::string count_page(const Algorithm& algorithm, const Problem& problem, const Counts& c) {
    std::string page = fmt::format("{} ({})\n{}\n\n", algorithm.title.en, algorithm.source, problem_line(problem));
    page += fmt::format("{:<10} {:>20} {:>20} {:>20}\n", "HBM bytes", "read", "written", "of it initialised");
    for (const auto& [tensor, bytes] : c.hbm)
        page += fmt::format("  {:<8} {:>20} {:>20} {:>20}\n", tensor, bytes.read, bytes.write, bytes.init);
    const Traffic& t = c.traffic;
    page += fmt::format("  {:<8} {:>20} {:>20} {:>20}\n\n", "all", t.hbm_read, t.hbm_write, t.hbm_init);
    if (c.sram_modelled)
        page += fmt::format("SRAM bytes {:>20} {:>20}   peak {}\n", t.sram_read, t.sram_write, c.sram_peak);
    else
        page += "SRAM       not modelled (library calls stream their operands)\n";
    page += fmt::format("FLOPs      matmul {}, other {}, of these exponentials {}\n", t.flops_matmul, t.flops_other,
                        t.flops_exp);
    if (t.barriers > 0) page += fmt::format("barriers   {} (each of one thread block)\n", t.barriers);
    page += fmt::format("HBM memory inputs {}, outputs {}, extra {} bytes\n", c.memory.inputs, c.memory.outputs,
                        c.memory.extra);
    page += fmt::format("steps      {}\n", c.steps);
    return page;
}

struct State {
    explicit State(const Options& options) : problem(options), json(options) {}
    std::string algorithm;
    ProblemOptions problem;
    JsonOption json;
};

Action add(const Options& options, const Start&) {
    const auto state = std::make_shared<State>(options);
    options.text("ALGORITHM", state->algorithm, "its id (flashstep list)");
    return [state] {
        const Algorithm& algorithm = algorithm_named(state->algorithm);
        const Request request = state->problem.resolve(Need::Sizes);
        for (const std::string& warning : request.warnings) print_warning(warning);
        const Counts counts = count(algorithm, request.problem);
        if (state->json.on())
            state->json.write(io::count_json(counts));
        else
            print_page(count_page(algorithm, request.problem, counts));
        return kOk;
    };
}

}  // namespace

const Command kCount{"count", "Counts an algorithm's HBM bytes, SRAM bytes and FLOPs, without arithmetic", add};

}  // namespace flashstep::cli
