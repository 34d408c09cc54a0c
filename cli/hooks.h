// What the command line needs of the window. A build without it has none.
#pragma once

#include <string>
#include <vector>

#include "lab/start.h"

namespace flashstep::cli {

// One row of `flashstep bench`.
struct Measure {
    std::string name;
    double value;  // median
    std::string unit;
    std::string note;
};

struct WindowHooks {
    bool (*display_available)();
    int (*run_app)(const StartState& start);
    void (*write_shot)(const StartState& start, int width, int height, const std::string& file);
    std::vector<Measure> (*measures)();  // of the app: frame, start
};

// The hooks of this build, nullptr if it has no window. program/window.cpp and program/no_window.cpp define
// it; the build takes one.
const WindowHooks* window_hooks();

}  // namespace flashstep::cli
