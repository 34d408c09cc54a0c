// Hatching, tensor names, and the arrows of loads and stores.
#include <algorithm>
#include <cmath>

#include "viz/widgets.h"

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

void transfer_arrow(Ui& ui, ImDrawList* draw, ImVec2 from, ImVec2 to, Rgb color, std::string_view label,
                    float progress) {
    const Theme& t = ui.theme();
    progress = std::clamp(progress, 0.0f, 1.0f);
    // Leaves and arrives vertically: shelf and bench lie above each other.
    const float bend = (to.y - from.y) * 0.45f;
    const ImVec2 p1(from.x, from.y + bend), p2(to.x, to.y - bend);
    const auto point = [&](float s) {
        const float r = 1 - s;
        return ImVec2(r * r * r * from.x + 3 * r * r * s * p1.x + 3 * r * s * s * p2.x + s * s * s * to.x,
                      r * r * r * from.y + 3 * r * r * s * p1.y + 3 * r * s * s * p2.y + s * s * s * to.y);
    };
    constexpr int kPieces = 24;
    const float width = std::max(1.5f, ui.px(2)), head = ui.px(8);
    const ImVec2 tip = point(progress);
    for (int k = 0; k <= kPieces; ++k) draw->PathLineTo(point(progress * static_cast<float>(k) / kPieces));
    draw->PathStroke(u32(color), 0, width);
    const ImVec2 before = point(std::max(0.0f, progress - 0.06f));
    float dx = tip.x - before.x, dy = tip.y - before.y;
    const float length = std::sqrt(dx * dx + dy * dy);
    if (length > 0.01f) {
        dx /= length;
        dy /= length;
        const ImVec2 end(tip.x + dx * head * 0.4f, tip.y + dy * head * 0.4f);
        draw->AddTriangleFilled(end, {end.x - dx * head - dy * head * 0.55f, end.y - dy * head + dx * head * 0.55f},
                                {end.x - dx * head + dy * head * 0.55f, end.y - dy * head - dx * head * 0.55f},
                                u32(color));
    }
    draw->AddCircleFilled(from, width * 1.5f, u32(color));
    if (label.empty()) return;
    // The label rides in the middle of what has been travelled, on a ground of its own.
    ImFont* font = ui.fonts.number_small ? ui.fonts.number_small : ImGui::GetFont();
    const ImVec2 size = font->CalcTextSizeA(font->FontSize, 1e9f, 0, label.data(), label.data() + label.size());
    const ImVec2 middle = point(progress * 0.5f);
    const ImVec2 at(std::round(middle.x - size.x / 2), std::round(middle.y - size.y / 2)), pad(ui.px(4), ui.px(2));
    draw->AddRectFilled({at.x - pad.x, at.y - pad.y}, {at.x + size.x + pad.x, at.y + size.y + pad.y}, u32(t.raised),
                        ui.px(4));
    draw->AddRect({at.x - pad.x, at.y - pad.y}, {at.x + size.x + pad.x, at.y + size.y + pad.y}, u32(color), ui.px(4));
    draw->AddText(font, font->FontSize, at, u32(t.text), label.data(), label.data() + label.size());
}

}  // namespace flashstep::viz
