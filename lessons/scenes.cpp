// Runs of a lesson, made lazily.
#include "lessons/scenes.h"

#include <fmt/format.h>

#include "core/algorithms.h"
#include "core/error.h"
#include "lab/presets.h"
#include "lessons/questions.h"

namespace flashstep {
namespace {

constexpr std::string_view kShown = "shown ";

}  // namespace

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
    const std::string key = this->key(name, algorithm);
    if (const auto found = counts_.find(key); found != counts_.end()) return found->second;
    const Algorithm* which = find_algorithm(algorithm);
    if (!which) throw Error(fmt::format("there is no algorithm called {}", algorithm), "See: flashstep list");
    Problem problem = recipe.problem;
    problem.sram_bytes = 0;  // counts are asked for beside each other, also where one of them does not fit
    return counts_[key] = count(*which, problem);
}

const GpuModel& Scenes::model(std::string_view name, const Gpu& gpu) {
    const std::string key = this->key(name, gpu.id);
    if (const auto found = models_.find(key); found != models_.end()) return found->second;
    const Recipe& recipe = this->recipe(name);
    return models_.emplace(key, model_of(*find_algorithm(recipe.algorithm), gpu, recipe.problem)).first->second;
}

// What is counted of a run that stands for a scene is forgotten with the next one.
std::string Scenes::key(std::string_view name, std::string_view of) const {
    return fmt::format("{}{}:{}", stand_ins_.contains(name) ? kShown : "", name, of);
}

void Scenes::stand_in(std::string_view name, std::shared_ptr<const Run> run) {
    std::erase_if(counts_, [](const auto& entry) { return entry.first.starts_with(kShown); });
    std::erase_if(models_, [](const auto& entry) { return entry.first.starts_with(kShown); });
    if (run)
        stand_ins_[std::string(name)] = std::move(run);
    else if (const auto found = stand_ins_.find(name); found != stand_ins_.end())
        stand_ins_.erase(found);
}

}  // namespace flashstep
