// What came out of the comparison, in the top bar, and in its place how far a run is.
#pragma once

#include <string>

#include "viz/shell/app_state.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {

struct Verdicts {
    BadgeKind kind = BadgeKind::Neutral;
    std::string where, where_short, text, why;
};

Verdicts verdict_of(const AppState& app);
float verdict_width(const Ui& ui, const Verdicts& v);
// Each takes `width` at the cursor.
void draw_verdict(AppState& app, const Verdicts& v, float width);
void draw_progress(AppState& app, float width);

}  // namespace flashstep::viz
