// The arrow of a load or store: out of a block's side, down the free lane beside it, into the tile's side, so that it
// crosses no number.
#pragma once

#include <imgui.h>

#include <span>
#include <string>

#include "viz/shell/ui.h"

namespace flashstep::viz {

// Through `points` with rounded corners; of it `progress` (0..1) has been travelled.
void route_arrow(Ui& ui, ImDrawList* draw, std::span<const ImVec2> points, Rgb color, float progress);

// The bytes on an arrow, around `middle`, within `left` and `right`. Drawn after all arrows, so that none crosses it.
struct ArrowLabel {
    std::string text;
    Rgb color;
    ImVec2 middle;
};
void draw_arrow_label(Ui& ui, ImDrawList* draw, const ArrowLabel& label, float left, float right);

}  // namespace flashstep::viz
