// Registry rows, and a kernel's run beside its mirror's.
#include "cli/lookup.h"

#include <fmt/format.h>

#include "cli/names.h"

namespace flashstep::cli {

const Algorithm& algorithm_named(const std::string& id) {
    const Algorithm* found = find_algorithm(id);
    if (id.empty())
        throw Error("an ALGORITHM is needed", fmt::format("there are: {}", fmt::join(ids(algorithms()), ", ")));
    if (!found) throw unknown_name("algorithm", id, ids(algorithms()));
    return *found;
}

const gpu::KernelInfo& kernel_named(const std::string& id) {
    const gpu::KernelInfo* found = gpu::find_kernel(id);
    if (!found) throw unknown_name("kernel", id, ids(gpu::kernels()));
    return *found;
}

const Fault* fault_named(const std::string& id) {
    const Fault* found = find_fault(id);
    if (!id.empty() && !found) throw unknown_name("--fault", id, ids(faults()));
    return found;
}

Defaults defaults_of(const gpu::KernelInfo& kernel) {
    Defaults defaults;
    if (!kernel.dtypes.empty()) defaults.dtype = kernel.dtypes.front();
    if (!kernel.head_dims.empty()) defaults.d = kernel.head_dims.front();
    defaults.base2 = kernel.base2;
    if (kernel.br > 0) defaults.br = kernel.br, defaults.bc = kernel.bc;
    return defaults;
}

CheckedRun run_checked(const gpu::KernelInfo& kernel, const Request& request, Place place, const Fault* fault) {
    const Problem& problem = request.problem;
    CheckedRun result{.mirror = record(algorithm_named(std::string(kernel.algorithm)), problem, request.inputs, fault),
                      .run = {},
                      .comparison = {}};
    gpu::RunOptions options;
    options.where = place.where, options.target = place.target;
    const auto expected = kernel.bytes_equal_mirror ? bytes_of(result.mirror) : gpu::own_bytes(kernel, problem);
    const auto run = [&](gpu::Capture capture) {
        options.capture = capture;
        result.run = gpu::run_kernel(kernel, problem, request.inputs, options);
        result.comparison = compare(result.mirror, result.run, expected);
        return result;
    };
    const CheckedRun traced = run(gpu::Capture::On);
    if (place.where == Where::Host || traced.comparison.verdict != Verdict::Equal) return traced;
    const CheckedRun untraced = run(gpu::Capture::Off);
    return untraced.comparison.verdict == Verdict::Equal ? traced : untraced;
}

}  // namespace flashstep::cli
