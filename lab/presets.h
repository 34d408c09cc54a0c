// Named problems with their inputs: an explicit ordered table. Adding one is a line in presets.cpp.
#pragma once

#include <span>
#include <string_view>

#include "core/problem.h"
#include "core/text.h"
#include "lab/recipe.h"

namespace flashstep {

struct Preset {
    std::string_view id;
    Text title;
    std::string_view algorithm, kernel;  // what the app shows it with
    Problem problem;
    Inputs (*inputs)(const Problem&);  // for `problem` itself
};

std::span<const Preset> presets();
const Preset* find_preset(std::string_view id);  // nullptr: unknown

// The preset's inputs for a problem that started from it: a matrix whose shape was changed is random (Problem::seed).
Inputs preset_inputs(const Preset& preset, const Problem& problem);

// The preset as the app opens it, or with another algorithm, kernel or mistake: what is not named follows from what is
// (an algorithm brings a kernel that runs the problem, a kernel or a mistake its algorithm).
struct Instead {
    std::string_view algorithm = {}, kernel = {}, fault = {};  // ids; empty: the preset's; kernel "none": none
};
// Throws Error: an unknown id, or a kernel and a mistake of two algorithms.
Recipe recipe_of(const Preset& preset, const Instead& instead = {});

}  // namespace flashstep
