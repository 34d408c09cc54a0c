// What the app opens on: a lesson, a preset, or a problem of the command line, and where in it.
#pragma once

#include <optional>
#include <string>

#include "core/problem.h"
#include "core/text.h"

namespace flashstep {

enum class ThemeMode { Dark, Light };

// The least window that holds the panels, in design pixels.
constexpr int kLeastWidth = 960, kLeastHeight = 600;

struct StartState {
    std::string lesson = "fa2_forward";  // lesson id; empty: no lesson text
    std::string preset = "n4d3";         // used where `problem` is not set
    std::string algorithm, kernel;       // empty: the preset's
    std::string fault = {};              // a known mistake of the algorithm; empty: none
    std::optional<Problem> problem;      // with `inputs`: from the command line
    std::optional<Inputs> inputs;
    int step = 0;
    ThemeMode theme = ThemeMode::Dark;
    Language language = Language::English;
};

}  // namespace flashstep
