// What the app opens on: a lesson, a preset, or a problem of the command line, and where in it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/kernel_run.h"
#include "core/problem.h"
#include "core/text.h"

namespace flashstep {

enum class ThemeMode { Dark, Light };

// The least window that holds the panels, in design pixels.
constexpr int kLeastWidth = 960, kLeastHeight = 600;

// How panels divide the window: viz/shell/layouts.h has a row for each.
constexpr std::array<std::string_view, 2> kLayoutIds = {"lesson", "workbench"};

// What the source panel shows; in the order of viz's SourceView.
constexpr std::array<std::string_view, 3> kSourceIds = {"pseudo-code", "cuda", "ptx"};

struct StartState {
    std::string lesson = "fa2_forward";  // lesson id; empty: no lesson text
    std::string preset = "n4d3";         // used where neither `lesson` nor `problem` is set
    std::string algorithm, kernel;       // empty: the preset's
    std::string fault = {};              // a known mistake of the algorithm; empty: none
    std::optional<Problem> problem;      // with `inputs`: from the command line
    std::optional<Inputs> inputs;
    std::optional<int> step = {};  // none: where the lesson begins, or the inputs
    int beat = 0;                  // of the lesson, from 1; 0: the first, or where `step` is
    std::string layout = {};       // of kLayoutIds; empty: the lesson's with a lesson, else the workbench
    std::string source = {};       // of kSourceIds; empty: the first
    Where where = Where::Host;     // the kernel runs
    std::string press = {};        // keys and clicks before a picture is taken: "Space Shift+Right 640,300"
    ThemeMode theme = ThemeMode::Dark;
    Language language = Language::English;
};

}  // namespace flashstep
