// Registry rows by the names that a person typed. Throw Error with what exists and the nearest name.
#pragma once

#include "cli/problem_options.h"
#include "core/algorithms.h"
#include "core/faults.h"
#include "gpu/registry.h"
#include "lab/recipe.h"
#include "lessons/lesson.h"

namespace flashstep::cli {

const Algorithm& algorithm_named(const std::string& id);
const gpu::KernelInfo& kernel_named(const std::string& id);
const Lesson& lesson_named(const std::string& id);
const Fault* fault_named(const std::string& id);  // null for an empty id
Where place_named(const std::string& place);      // of --on: host, ptx or cuda

// What was typed, as a run of the kernel beside its mirror, the mirror with a mistake where `fault` is not null.
Recipe recipe_of(const gpu::KernelInfo& kernel, const Request& request, const Fault* fault = nullptr);
// The same without a kernel.
Recipe recipe_of(const Algorithm& algorithm, const Request& request, const Fault* fault = nullptr);

}  // namespace flashstep::cli
