// What a kernel fixes in a problem, and which kernel a problem can be given.
#pragma once

#include <string_view>

#include "core/problem.h"
#include "gpu/registry.h"

namespace flashstep {

// The problem with what a kernel fixes: its exponentials, a format that it runs, its blocks.
Problem problem_for(const gpu::KernelInfo& kernel, Problem problem);

// A small problem that the kernel is made for: its own format and head dimension beside what it fixes.
Problem own_problem(const gpu::KernelInfo& kernel);

bool has_kernel(std::string_view algorithm);
// The first of an algorithm's kernels that runs the problem as it is; empty: none does.
std::string_view kernel_for(std::string_view algorithm, const Problem& problem);

}  // namespace flashstep
