// flashstep check: kernels against their mirrors, on one problem or on the table of shapes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>

#include "cli/check_jobs.h"
#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/names.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/walkthrough.h"
#include "core/io/trace_json.h"
#include "gpu/launch.h"
#include "gpu/ptx/compile.h"
#include "gpu/run.h"
#include "lab/kernel_choice.h"

namespace flashstep::cli {
namespace {

using io::Json;

struct State {
    explicit State(const Options& options) : problem(options), json(options) {}
    std::string kernel, place = "host", target, fault, without, ptx;
    ProblemOptions problem;
    JsonOption json;
};

// The chosen kernels on the problem that was typed. Wrong use is found here, before anything runs.
std::vector<Job> jobs_of_problem(const State& state, const std::vector<const gpu::KernelInfo*>& chosen,
                                 const Fault* fault) {
    std::vector<Job> jobs;
    for (const gpu::KernelInfo* kernel : chosen) {
        const Request request = state.problem.resolve(Need::Inputs, own_problem(*kernel));
        if (kernel == chosen.front())
            for (const std::string& warning : request.warnings) print_warning(warning);
        jobs.push_back(make_job(*kernel, request, fault));
        const std::string& reason = jobs.back().outcome.left_out;
        if (reason.empty()) continue;
        if (state.kernel != "all") throw Error(reason);
        print_note(fmt::format("{} is left out: {}", kernel->id, reason));
    }
    return jobs;
}

// One line a kernel, and one for each shape that went wrong.
std::string table_page(const std::vector<Job>& jobs, std::string_view where) {
    std::string page;
    for (const gpu::KernelInfo& kernel : gpu::kernels()) {
        int equal = 0, wrong = 0;
        std::map<std::string, int> left_out;
        std::string details;
        for (const Job& job : jobs) {
            const Outcome& o = job.outcome;
            if (o.kernel != &kernel) continue;
            if (!o.left_out.empty())
                ++left_out[o.left_out];
            else if (o.equal())
                ++equal;
            else
                ++wrong, details += fmt::format("    {}\n      {}\n", problem_line(o.problem), outcome_line(o));
        }
        page += fmt::format("{:<28} ", kernel.id);
        if (equal + wrong == 0)
            page += "not run";
        else
            page += fmt::format("{} {} {}", wrong == 0 ? "equal on" : "equal only on", equal,
                                equal == 1 ? "shape" : "shapes");
        if (wrong > 0) page += fmt::format(", NOT on {}", wrong);
        page += "\n" + details;
        for (const auto& [reason, count] : left_out) page += fmt::format("    {} left out: {}\n", count, reason);
    }
    return page + fmt::format("ran on {}; every captured tile, output and byte count was compared\n", where);
}

void print_json(const State& state, const std::vector<Job>& jobs) {
    Json json = {{"equal", true}, {"kernels", Json::array()}, {"left_out", Json::array()}};
    for (const Job& job : jobs) {
        const Outcome& outcome = job.outcome;
        if (!outcome.left_out.empty()) {
            json["left_out"].push_back({{"kernel", std::string(outcome.kernel->id)},
                                        {"problem", io::problem_json(outcome.problem)},
                                        {"reason", outcome.left_out}});
            continue;
        }
        if (!outcome.equal()) json["equal"] = false;
        json["kernels"].push_back(outcome_json(outcome));
    }
    state.json.write(json);
}

// Kernels for which `check` throws are left out, each with one note where the reasons have no table.
void leave_out(std::vector<Job>& jobs, bool in_table, const std::function<void(const gpu::KernelInfo&, DType)>& check) {
    for (Job& job : jobs) {
        if (!job.outcome.left_out.empty()) continue;
        try {
            check(*job.outcome.kernel, job.outcome.problem.dtype);
        } catch (const Error& error) {
            job.outcome.left_out =
                error.hint().empty() ? error.what() : fmt::format("{}; {}", error.what(), error.hint());
            if (!in_table) print_note(fmt::format("{} is left out: {}", job.outcome.kernel->id, job.outcome.left_out));
        }
    }
}

// Whether a kernel ran to its end with no barrier or wait taken away.
bool passed_every_wait(const Outcome& outcome) {
    return outcome.failure.empty() && std::ranges::none_of(outcome.run.counters, [](const auto& counter) {
               return counter.first == "waits taken away";
           });
}

bool none_left(const std::vector<Job>& jobs) {
    return std::ranges::all_of(jobs, [](const Job& job) { return !job.outcome.left_out.empty(); });
}

// "90", "90a".
gpu::Target target_named(const std::string& text) {
    const bool variant = text.size() > 1 && text.back() >= 'a' && text.back() <= 'z';
    const std::string number = variant ? text.substr(0, text.size() - 1) : text;
    return {static_cast<int>(whole_number("--target", number, 1, 9999)), variant ? text.back() : '\0'};
}

int run_check(const State& state) {
    if (state.kernel.empty())
        throw Error("a KERNEL is needed, or all", fmt::format("there are: {}", fmt::join(ids(gpu::kernels()), ", ")));
    std::vector<const gpu::KernelInfo*> chosen;
    const bool all = state.kernel == "all", of_format = all && state.problem.only_dtype().has_value(),
               table = all && (of_format || !state.problem.any_given());
    if (all)
        for (const gpu::KernelInfo& kernel : gpu::kernels()) chosen.push_back(&kernel);
    else
        chosen.push_back(&kernel_named(state.kernel));
    const Where where = place_named(state.place);
    const Fault* fault = fault_named(state.fault);
    // Everything typed is looked at before anything runs, so that wrong use is exit 2 on every machine.
    std::vector<Job> jobs =
        table ? jobs_of_table(state.problem.only_dtype(), fault) : jobs_of_problem(state, chosen, fault);
    std::shared_ptr<const gpu::ptx::Module> ptx;
    if (!state.ptx.empty()) {
        if (where != Where::Ptx) throw Error("--ptx is what --on ptx runs", "add --on ptx");
        ptx = std::make_shared<const gpu::ptx::Module>(gpu::ptx::read_module_file(state.ptx));
    }
    if (!state.target.empty() && where == Where::LiveCuda)
        throw Error("--target is the architecture that the executor stands for; a GPU has its own",
                    "leave it out, or take --on host");
    if (!state.target.empty() && ptx)
        throw Error("--target and --ptx: the file says its own target", "leave out --target");
    gpu::Target target = Recipe().target;
    if (!state.target.empty()) {
        target = target_named(state.target);
        gpu::opt_in_shared_bytes(target);  // an unknown one throws
    }
    int without_line = 0;
    if (!state.without.empty()) {
        without_line = static_cast<int>(whole_number("--without", state.without, 1, 9999));
        if (all) throw Error("--without names a line of one kernel's source", "name the kernel");
        if (where == Where::LiveCuda)
            throw Error("--without is for the executor: a GPU does not notice a missing wait", "take --on host");
        if (where == Where::Ptx)
            throw Error("--without is for what the host compiler made of the kernel's source", "take --on host");
    }
    if (ptx) target = ptx->target;
    for (Job& job : jobs) {
        job.recipe.where = where, job.recipe.target = target;
        job.recipe.ptx = ptx, job.recipe.without_line = without_line;
    }
    if (const std::string why = where == Where::Ptx && !ptx ? gpu::ptx::why_not_compile() : ""; !why.empty()) {
        print_note(fmt::format("--on ptx: {}", why));
        return kUnavailable;
    }
    const gpu::DeviceStatus device = where == Where::LiveCuda ? gpu::device_status() : gpu::DeviceStatus{};
    if (where == Where::LiveCuda && !device.available) {
        print_note(fmt::format("--on cuda: {}", device.message.en));
        return kUnavailable;
    }
    if (none_left(jobs)) throw Error("no kernel can run this problem", "the lines above say what each of them runs");
    if (where == Where::LiveCuda) {
        leave_out(jobs, table, [&](const auto& kernel, DType dtype) { gpu::check_device(kernel, dtype, device); });
        if (none_left(jobs)) return kUnavailable;
    } else if (!all) {
        gpu::check_target(*chosen.front(), jobs.front().outcome.problem.dtype, target);
    } else {
        leave_out(jobs, table, [&](const auto& kernel, DType dtype) { gpu::check_target(kernel, dtype, target); });
    }

    if (where == Where::Ptx && !ptx) add_ptx(jobs);
    run_jobs(jobs);
    if (without_line != 0 && passed_every_wait(jobs.front().outcome))
        throw Error(fmt::format("--without: line {} of {}.cuh has no barrier and no wait that this run passes",
                                without_line, chosen.front()->id));
    for (const Job& job : jobs)
        if (job.outcome.left_out.empty() && job.outcome.failure.empty() &&
            job.outcome.comparison.verdict == Verdict::NonFinite)
            print_note(fmt::format("{}: non-finite values", job.outcome.kernel->id));
    if (state.json.on()) {
        print_json(state, jobs);
    } else if (table) {
        print_page(
            table_page(jobs, where == Where::Host ? "this CPU (the executor; no GPU involved)"
                             : where == Where::Ptx
                                 ? fmt::format("this CPU, from nvcc's PTX for sm_{} (no GPU involved)", text(target))
                                 : device.name));
    } else {
        std::string page;
        for (const Job& job : jobs) page += outcome_text(job.outcome);
        print_page(page);
    }
    return all_equal(jobs) ? kOk : kDifferent;
}

Action add(const Options& options, const Start&) {
    const auto state = std::make_shared<State>(options);
    options.text("KERNEL", state->kernel,
                 "its id (flashstep list), or all; all without a problem, or with --dtype alone, runs the whole "
                 "table of shapes");
    options.text("--target", state->target,
                 "the architecture that the executor stands for: 75, 80, ..., 90a (90); its kernels, its shared memory",
                 "SM");
    options.text("--on", state->place,
                 "host: the executor on this CPU; ptx: what nvcc makes of the kernel, on the executor; cuda: a GPU "
                 "(host)",
                 "PLACE");
    options.text("--ptx", state->ptx, "with --on ptx: run the entries of this file, and ask no nvcc", "FILE");
    options.text("--fault", state->fault, "run the mirror with this mistake: the kernel has to differ (flashstep list)",
                 "ID");
    options.text("--without", state->without,
                 "the barrier or wait in this line of the kernel's source does nothing: the executor has to notice",
                 "LINE");
    return [state] { return run_check(*state); };
}

}  // namespace

const Command kCheck{"check", "Compares a kernel with its mirror, step by step; exit 1 if they differ", add};

}  // namespace flashstep::cli
