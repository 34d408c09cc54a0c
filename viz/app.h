// The entry points of the app, for the command line. No window-system header here.
#pragma once

#include <optional>
#include <string>

#include "core/problem.h"
#include "viz/strings.h"
#include "viz/theme.h"

namespace flashstep::viz {

// The least window that holds the panels, in design pixels.
constexpr int kLeastWidth = 960, kLeastHeight = 600;

// What the app opens on.
struct StartState {
    std::string lesson = "first_walk";      // lesson id; empty: no lesson text
    std::string preset = "n4d3";            // used where `problem` is not set
    std::string algorithm, kernel;          // empty: the preset's
    std::string fault = {};                 // a known mistake of the algorithm; empty: none
    std::optional<Problem> problem;         // with `inputs`: from the command line
    std::optional<Inputs> inputs;
    int step = 0;
    ThemeMode theme = ThemeMode::Dark;
    Language language = Language::English;
};

// Opens the window and runs until it is closed. Returns the exit status. Throws Error: no display, no OpenGL 3.3.
int run_app(const StartState& start);

// Draws the window's contents without showing it and writes a PNG. Needs a display (Xvfb is enough).
void write_shot(const StartState& start, int width, int height, const std::string& file);

// True if a window can be opened here.
bool display_available();

}  // namespace flashstep::viz
