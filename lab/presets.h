// Named problems with their inputs: an explicit ordered table. Adding one is a line in presets.cpp.
#pragma once

#include <span>
#include <string_view>

#include "core/problem.h"

namespace flashstep {

struct Preset {
    std::string_view id;
    std::string_view title;
    std::string_view algorithm, kernel;  // what the app shows it with
    Problem problem;
    Inputs (*inputs)(const Problem&);  // for `problem` itself
};

std::span<const Preset> presets();
const Preset* find_preset(std::string_view id);  // nullptr: unknown

// The preset's inputs for a problem that started from it: a matrix whose shape was changed is random (Problem::seed).
Inputs preset_inputs(const Preset& preset, const Problem& problem);

}  // namespace flashstep
