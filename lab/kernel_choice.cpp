// From a kernel's row to a problem, and back.
#include "lab/kernel_choice.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "gpu/run.h"

namespace flashstep {
namespace {

bool runs(const gpu::KernelInfo& kernel, const Problem& problem) {
    try {
        gpu::check_runnable(kernel, problem);
        return true;
    } catch (const Error&) { return false; }
}

}  // namespace

Problem problem_for(const gpu::KernelInfo& kernel, Problem problem) {
    problem.base2 = kernel.base2;
    if (!kernel.dtypes.empty() && std::ranges::find(kernel.dtypes, problem.dtype) == kernel.dtypes.end())
        problem.dtype = kernel.dtypes.front();
    if (kernel.br > 0) problem.br = kernel.br;
    if (kernel.bc > 0) problem.bc = kernel.bc;
    return problem;
}

Problem own_problem(const gpu::KernelInfo& kernel) {
    Problem problem;
    if (!kernel.dtypes.empty()) problem.dtype = kernel.dtypes.front();
    if (!kernel.head_dims.empty()) problem.d = problem.dv = kernel.head_dims.front();
    problem.scale = 1 / std::sqrt(static_cast<double>(problem.d));
    return problem_for(kernel, problem);
}

bool has_kernel(std::string_view algorithm) {
    return std::ranges::any_of(gpu::kernels(), [&](const gpu::KernelInfo& k) { return k.algorithm == algorithm; });
}

std::string_view kernel_for(std::string_view algorithm, const Problem& problem) {
    for (const gpu::KernelInfo& kernel : gpu::kernels())
        if (kernel.algorithm == algorithm && kernel.base2 == problem.base2 && runs(kernel, problem)) return kernel.id;
    return {};
}

}  // namespace flashstep
