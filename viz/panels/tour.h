// The four hints of the first start: each says what to press, beside what it is about, and goes when it was pressed.
#pragma once

#include "viz/shell/frame.h"

namespace flashstep::viz {

void start_tour(AppState& app);
void end_tour(AppState& app);
bool tour_runs(AppState& app);
int tour_hint(AppState& app);             // from 0; -1: it does not run
void show_hint(AppState& app, int hint);  // beyond the last: the tour ends
// The hint that is due, above the frame; it sees whether what it asks for was done.
void draw_tour(AppState& app, const FrameLayout& layout);

}  // namespace flashstep::viz
