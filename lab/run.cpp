// Mirror, kernel, comparison, measures: in this order.
#include "lab/run.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "core/say.h"
#include "gpu/ptx/compile.h"
#include "gpu/run.h"
#include "lab/format.h"
#include "lab/spoiled.h"

namespace flashstep {
namespace {

KernelFailure failure_in(Where where) {
    return where == Where::LiveCuda   ? KernelFailure::Device
           : where == Where::Recorded ? KernelFailure::Recording
                                      : KernelFailure::Problem;
}

KernelRun recorded_run(const Recipe& recipe) {
    if (!is_recording_of(recipe.recording, recipe))
        throw Error(say("the recording of {} is none of this kernel, problem and inputs",
                        "录制结果 {} 与当前的 kernel、问题和输入不符",
                        recording_name(recipe.recording.preset, recipe.recording.kernel)));
    return read_recording(recipe.recording);
}

struct Compared {
    KernelRun run;
    Comparison comparison;
};

Compared run_beside(const Run& run, const gpu::KernelInfo& kernel, const StartingValues& start, gpu::Capture capture,
                    RunTask& task) {
    const Recipe& recipe = run.recipe;
    gpu::RunOptions options;
    options.where = recipe.where;
    options.capture = capture;
    options.target = recipe.target;
    options.without_line = recipe.without_line;
    options.start = &start;
    options.cancel = &task.cancel;
    options.progress = &task.kernel_ran;
    if (recipe.where == Where::Ptx)
        options.ptx = recipe.ptx ? recipe.ptx : gpu::ptx::compile_kernel(kernel.id, recipe.target);
    Compared made{recipe.where == Where::Recorded ? recorded_run(recipe)
                                                  : gpu::run_kernel(kernel, recipe.problem, recipe.inputs, options),
                  {}};
    task.kernel_ran = 1;
    made.comparison = compare(run.trace, made.run, gpu::expected_bytes(kernel, recipe.problem, run.trace, made.run),
                              {.cancel = &task.cancel, .progress = &task.compared});
    return made;
}

// The kernel's run of the recipe, or the reason why there is none. What fails here is no failure of the run: its trace
// is shown.
void add_kernel(Run& run, const StartingValues& start, RunTask& task) {
    const Recipe& recipe = run.recipe;
    const gpu::KernelInfo* kernel = gpu::find_kernel(recipe.kernel);
    if (!kernel) return;
    const auto fail = [&](KernelFailure failure, const Sentence& message) {
        run.kernel_run.reset(), run.comparison.reset();
        run.kernel_failure = failure, run.kernel_message = message;
    };
    if (kernel->algorithm != recipe.algorithm) {
        fail(KernelFailure::Problem, say("{} mirrors {}", "{} 对应的算法是 {}", kernel->id, kernel->algorithm));
        return;
    }
    KernelFailure failure = KernelFailure::Problem;
    try {
        gpu::check_runnable(*kernel, recipe.problem);
        failure = failure_in(recipe.where);
        Compared made = run_beside(run, *kernel, start, gpu::Capture::On, task);
        const bool probe_changes_code = recipe.where == Where::LiveCuda || recipe.where == Where::Ptx;
        if (probe_changes_code && made.comparison.verdict == Verdict::Equal) {
            Compared untraced = run_beside(run, *kernel, start, gpu::Capture::Off, task);
            // How often instructions ran is of interest without those that the probe adds.
            made.run.instructions = untraced.run.instructions;
            if (untraced.comparison.verdict != Verdict::Equal) made = std::move(untraced);
        }
        if (made.comparison.first) run.first_difference = made.comparison.first->step;
        run.kernel_run = std::move(made.run), run.comparison = std::move(made.comparison);
    } catch (const Error& error) { fail(failure, error.whole()); } catch (const std::bad_alloc&) {
        fail(failure, {"not enough memory for what the kernel captures. Choose a smaller problem",
                       "内存不足，放不下 kernel 采集的数值；请缩小问题规模"});
    } catch (const std::exception& error) { fail(failure, Sentence(error.what())); }
}

void measure_tensors(Run& run, const Task& task) {
    Pace pace(task);
    const Trace& trace = run.trace;
    run.tensor_scale.assign(trace.tensors.size(), 1e-30);
    std::vector<int> whole(trace.tensors.size(), 1), rest(trace.tensors.size(), 0);
    for (const Version& version : trace.versions) {
        double& scale = run.tensor_scale[version.tensor];
        const auto values = trace.value(version);
        for (double value : values.reshaped()) {
            if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
            // Decimal points stand under each other: the longest whole part and the longest rest need not be one
            // number's.
            const NumberText text = short_number(value);
            whole[version.tensor] = std::max(whole[version.tensor], text.whole);
            rest[version.tensor] = std::max(rest[version.tensor], text.width - text.whole);
            pace.did(16);  // as much as that many additions
        }
    }
    for (std::size_t t = 0; t < whole.size(); ++t) run.widest.push_back(whole[t] + rest[t]);
    // A tile shares the scale of the matrix it is a block of, so that a colour means the same on the shelf and the
    // bench.
    for (const Touch& touch : trace.touches) {
        if (touch.partner < 0) continue;
        double& a = run.tensor_scale[touch.tensor];
        double& b = run.tensor_scale[touch.partner];
        if (touch.kind == TouchKind::Load) b = a = std::max(a, b);
    }
}

void add_measures(Run& run, const Task& task) {
    Problem unlimited = run.recipe.problem;
    unlimited.sram_bytes = 0;
    run.plain = yardstick_of(*run.algorithm);
    if (run.plain) run.standard = count(*run.plain, unlimited, task);
    run.non_finite = first_non_finite(run.trace, task);
    measure_tensors(run, task);
}

void add_departure(Run& run, const StartingValues& start, const Task& task) {
    if (!run.fault) return;
    run.right = record(*run.algorithm, run.recipe.problem, run.recipe.inputs, start, nullptr, task);
    run.departure = departure_of(run.trace, *run.right);
    if (run.departure && run.first_difference < 0)
        run.first_difference = run.trace.versions[run.departure->version].step;
}

}  // namespace

Run make_run(const Recipe& recipe, RunTask* given_task, Parts parts) {
    RunTask own_task;
    RunTask& task = given_task ? *given_task : own_task;
    Run run;
    run.recipe = recipe;
    run.algorithm = find_algorithm(recipe.algorithm);
    if (!run.algorithm) throw Error("there is no algorithm called " + recipe.algorithm);
    run.fault = find_fault(recipe.fault);
    if (!run.fault && !recipe.fault.empty()) throw Error("there is no mistake called " + recipe.fault);
    const Task cancel{.cancel = &task.cancel};
    Recorded recorded = record_with_start(*run.algorithm, recipe.problem, recipe.inputs, run.fault,
                                          {.cancel = &task.cancel, .progress = &task.recorded});
    run.trace = std::move(recorded.trace);
    task.recorded = 1;
    cancel.checkpoint();
    add_kernel(run, recorded.start, task);
    task.kernel_ran = 1;
    cancel.checkpoint();
    if (parts == Parts::All) {
        add_departure(run, recorded.start, cancel);
        add_measures(run, cancel);
    }
    task.compared = 1;
    cancel.checkpoint();
    return run;
}

}  // namespace flashstep
