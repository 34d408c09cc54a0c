// From what the command line asks for to the state of the app.
#pragma once

#include "viz/shell/app.h"
#include "viz/shell/app_state.h"

namespace flashstep::viz {

// Opens the lesson or preset and asks the session for the run. Throws Error naming an unknown lesson or preset.
void open_start(AppState& app, const StartState& start);

// Takes over what the window (or the headless context) baked and measured, before a frame.
void take_ui(AppState& app, const Ui& from);

}  // namespace flashstep::viz
