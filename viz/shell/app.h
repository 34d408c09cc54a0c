// The entry points of the app, for the command line. No window-system header here.
#pragma once

#include <string>

#include "lab/start.h"

namespace flashstep::viz {

// Opens the window where it was left, or, for the first time, on `start` with the tour; runs until it is closed.
// Returns the exit status. Throws Error: no display, no OpenGL 3.3.
int run_app(const StartState& start);

// Draws the window's contents without showing it and writes a PNG. Needs a display (Xvfb is enough).
void write_shot(const StartState& start, int width, int height, const std::string& file);

// True if a window can be opened here.
bool display_available();

}  // namespace flashstep::viz
