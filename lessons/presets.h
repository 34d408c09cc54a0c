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
    Inputs (*inputs)(const Problem&);
};

std::span<const Preset> presets();
const Preset* find_preset(std::string_view id);  // nullptr: unknown

}  // namespace flashstep
