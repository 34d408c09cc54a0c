// Runs of a lesson, made lazily.
#include "lessons/scenes.h"

#include <fmt/format.h>

#include "core/algorithms.h"
#include "core/error.h"
#include "lab/presets.h"
#include "lessons/questions.h"

namespace flashstep {

Recipe recipe_of(const Scene& scene) {
    Recipe recipe = scene.recipe;
    recipe.inputs = preset_inputs(*scene.preset, recipe.problem);
    if (recipe.problem == scene.preset->problem) recipe.inputs = scene.preset->inputs(recipe.problem);
    for (const std::string& cell : scene.set) make_change(recipe, cell);
    return recipe;
}

const Scene& Scenes::scene(std::string_view name) const {
    if (const Scene* found = lesson_->find_scene(name)) return *found;
    std::string names;
    for (const Scene& scene : lesson_->scenes) names += (names.empty() ? "" : ", ") + scene.name;
    throw Error(fmt::format("the lesson has no scene called {}", name), "It has " + names);
}

const Recipe& Scenes::recipe(std::string_view name) const {
    const auto shown = stand_ins_.find(name);
    return shown == stand_ins_.end() ? scene(name).recipe : shown->second->recipe;
}

std::shared_ptr<const Run> Scenes::run(std::string_view name) {
    for (const auto* made : {&stand_ins_, &with_kernel_, &runs_})
        if (const auto found = made->find(name); found != made->end()) return found->second;
    Recipe recipe = recipe_of(scene(name));
    recipe.kernel.clear();
    return runs_[std::string(name)] = std::make_shared<const Run>(make_run(recipe));
}

std::shared_ptr<const Run> Scenes::run_with_kernel(std::string_view name) {
    for (const auto* made : {&stand_ins_, &with_kernel_})
        if (const auto found = made->find(name); found != made->end()) return found->second;
    return with_kernel_[std::string(name)] = std::make_shared<const Run>(make_run(recipe_of(scene(name))));
}

const Counts& Scenes::counts(std::string_view name, std::string_view algorithm) {
    const Recipe& recipe = this->recipe(name);
    if (algorithm.empty()) algorithm = recipe.algorithm;
    const std::string key = fmt::format("{}{}:{}", stand_ins_.contains(name) ? "shown " : "", name, algorithm);
    if (const auto found = counts_.find(key); found != counts_.end()) return found->second;
    const Algorithm* which = find_algorithm(algorithm);
    if (!which) throw Error(fmt::format("there is no algorithm called {}", algorithm), "See: flashstep list");
    Problem problem = recipe.problem;
    problem.sram_bytes = 0;  // counts are asked for beside each other, also where one of them does not fit
    return counts_[key] = count(*which, problem);
}

GpuModel Scenes::model(std::string_view name, const Gpu& gpu) const {
    const Recipe& recipe = this->recipe(name);
    return model_of(*find_algorithm(recipe.algorithm), gpu, recipe.problem);
}

void Scenes::stand_in(std::string_view name, std::shared_ptr<const Run> run) {
    std::erase_if(counts_, [](const auto& entry) { return entry.first.starts_with("shown "); });
    if (run)
        stand_ins_[std::string(name)] = std::move(run);
    else if (const auto found = stand_ins_.find(name); found != stand_ins_.end())
        stand_ins_.erase(found);
}

}  // namespace flashstep
