// The arrow of a load or store: out of a block's side, down the free lane beside it, into the tile's side, so that it
// crosses no number.
#pragma once

#include <imgui.h>

#include <span>
#include <string_view>

#include "viz/ui.h"

namespace flashstep::viz {

// Through `points` with rounded corners; of it `progress` (0..1) has been travelled. The label stands on the line at
// `label_at`, within `left` and `right`.
void route_arrow(Ui& ui, ImDrawList* draw, std::span<const ImVec2> points, Rgb color, std::string_view label,
                 ImVec2 label_at, float left, float right, float progress);

}  // namespace flashstep::viz
