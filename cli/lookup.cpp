// Registry rows, and recipes made of them.
#include "cli/lookup.h"

#include <fmt/format.h>

#include "cli/names.h"
#include "lessons/lessons.h"

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

const Lesson& lesson_named(const std::string& id) {
    const Lesson* found = find_lesson(id);
    if (id.empty()) throw Error("a LESSON is needed", fmt::format("there are: {}", fmt::join(ids(lessons()), ", ")));
    if (!found) throw unknown_name("lesson", id, ids(lessons()));
    return *found;
}

const Fault* fault_named(const std::string& id) {
    const Fault* found = find_fault(id);
    if (!id.empty() && !found) throw unknown_name("--fault", id, ids(faults()));
    return found;
}

Where place_named(const std::string& place) {
    static constexpr std::array<std::string_view, 3> kPlaces = {"host", "ptx", "cuda"};
    if (std::ranges::find(kPlaces, place) == kPlaces.end()) throw unknown_name("--on", place, kPlaces);
    return place == "cuda" ? Where::LiveCuda : place == "ptx" ? Where::Ptx : Where::Host;
}

Recipe recipe_of(const gpu::KernelInfo& kernel, const Request& request, const Fault* fault) {
    Recipe recipe = recipe_of(*find_algorithm(kernel.algorithm), request, fault);
    recipe.kernel = kernel.id;
    return recipe;
}

Recipe recipe_of(const Algorithm& algorithm, const Request& request, const Fault* fault) {
    Recipe recipe;
    recipe.algorithm = algorithm.id, recipe.kernel.clear();
    recipe.problem = request.problem, recipe.inputs = request.inputs;
    if (fault) recipe.fault = fault->id;
    return recipe;
}

}  // namespace flashstep::cli
