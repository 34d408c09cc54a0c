// A window on top of the panels, open while a flag is set: a popup, so that a click beside it closes it.
#pragma once

#include <imgui.h>

#include "viz/shell/app_state.h"

namespace flashstep::viz {

// Begins it at `at` with `size` (screen pixels; height 0: what it needs) and returns true, or clears `open` where it
// was closed. Call end_overlay() after true.
bool begin_overlay(AppState& app, const char* id, bool& open, ImVec2 at, ImVec2 size);
void end_overlay();
// Bold title with a button that closes the overlay.
void overlay_title(AppState& app, const char* title, bool& open);

}  // namespace flashstep::viz
