// Hatching, tensor names, and the arrows of loads and stores.
#include <algorithm>
#include <cmath>

#include "viz/widgets/widgets.h"

namespace flashstep::viz {

void hatch(ImDrawList* draw, ImVec2 min, ImVec2 max, unsigned color, float spacing, float thickness) {
    if (max.x <= min.x || max.y <= min.y || spacing < 1) return;
    const float w = max.x - min.x, h = max.y - min.y;
    // Lines x + y = c, cut at the rectangle's sides; anchored to the screen, so that neighbours continue one another.
    const float c0 = std::ceil((min.x + min.y) / spacing) * spacing;
    for (float c = c0; c < max.x + max.y; c += spacing) {
        const float d = c - min.x - min.y;  // in the rectangle's own coordinates
        const float x0 = std::max(0.0f, d - h), x1 = std::min(w, d);
        if (x1 <= x0) continue;
        draw->AddLine({min.x + x0, min.y + d - x0}, {min.x + x1, min.y + d - x1}, color, thickness);
    }
}

float tensor_name(Ui& ui, ImDrawList* draw, ImVec2 at, std::string_view tensor, float design_px) {
    const FormulaLayout& name = ui.formulas.get(ui, name_to_tex(tensor), design_px);
    draw_formula(ui, draw, at.x, at.y, name);
    return name.width * ui.scale;
}

float ease_out(float t) {
    t = std::clamp(t, 0.0f, 1.0f);
    return 1 - (1 - t) * (1 - t) * (1 - t);
}

}  // namespace flashstep::viz
