// What the command line needs of the window. A build without it has none.
#pragma once

#include <string>
#include <vector>

#include "viz/app.h"

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
    int (*run_app)(const viz::StartState& start);
    void (*write_shot)(const viz::StartState& start, int width, int height, const std::string& file);
    std::vector<Measure> (*measures)();  // of the app: frame, start
};

// The hooks of this build, nullptr if it has no window. hooks_window.cpp and hooks_none.cpp define it; the build takes
// one.
const WindowHooks* window_hooks();

}  // namespace flashstep::cli
