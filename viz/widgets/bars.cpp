// Bars: on-chip capacity by tile, traffic by tensor.
#include <algorithm>
#include <cmath>

#include "lab/format.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {

int capacity_bar(Ui& ui, const char* id, std::span<const CapacityPart> parts, std::int64_t capacity,
                 std::int64_t peak) {
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float width = std::max(ui.px(40), ImGui::GetContentRegionAvail().x), height = ui.px(20);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton(id, {width, height});
    const bool over_bar = ImGui::IsItemHovered();

    std::int64_t sum = 0;
    for (const CapacityPart& part : parts) sum += part.bytes;
    const std::int64_t full = std::max<std::int64_t>({capacity, sum, peak, 1});
    const auto x = [&](std::int64_t bytes) {
        return std::round(at.x + width * static_cast<float>(static_cast<double>(bytes) / static_cast<double>(full)));
    };
    const float top = std::round(at.y), bottom = std::round(at.y + height);
    draw->AddRectFilled({at.x, top}, {at.x + width, bottom}, u32(t.raised), ui.px(4));

    int hovered = -1;
    std::int64_t from = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const CapacityPart& part = parts[k];
        const TensorStyle style = tensor_style(part.tensor);
        const ImVec2 a(x(from), top), b(std::max(x(from) + 1, x(from + part.bytes) - 1), bottom);
        from += part.bytes;
        const bool over = over_bar && ImGui::GetIO().MousePos.x >= a.x && ImGui::GetIO().MousePos.x < b.x + 1;
        if (over) {
            hovered = static_cast<int>(k);
            ui.hot.set(part.tensor);
        }
        const Rgb ground = mix(t.raised, t.of(style.family), ui.hot.is(part.tensor) || over ? 0.95f : 0.72f);
        draw->AddRectFilled(a, b, u32(ground, part.alpha), ui.px(2));
        if (style.gradient) hatch(draw, a, b, u32(t.hatch_on(ground), part.alpha), ui.px(5));
        const FormulaLayout& name = ui.formulas.get(ui, name_to_tex(part.tensor), 14);
        if (name.width * ui.scale + ui.px(4) <= b.x - a.x) {
            // On a tint the name takes the tint's text colour, not the tensor's own.
            FormulaLayout plain = name;
            plain.symbols.clear();
            for (FormulaBox& box : plain.boxes) box.symbol = -1;
            const float pen_x = std::round((a.x + b.x - name.width * ui.scale) / 2);
            draw_formula(ui, draw, pen_x, bottom - ui.px(6), plain, u32(t.text_on(ground), part.alpha));
        }
    }
    if (capacity > 0 && sum > capacity) {
        const ImVec2 a(x(capacity), top), b(x(sum), bottom);
        draw->AddRectFilled(a, b, u32(t.alarm, 0.35f));
        hatch(draw, a, b, u32(t.alarm), ui.px(5), ui.px(2));
        draw->AddRectFilled({a.x - ui.px(1), top - ui.px(4)}, {a.x + ui.px(1), bottom + ui.px(4)}, u32(t.alarm));
    }
    if (peak > 0) {  // a notch where it was fullest
        const float px = std::min(x(peak), at.x + width - ui.px(1));
        draw->AddTriangleFilled({px - ui.px(4), bottom + ui.px(5)}, {px + ui.px(4), bottom + ui.px(5)}, {px, bottom},
                                u32(t.quiet));
    }
    return hovered;
}

bool bar_row(Ui& ui, const BarRow& row) {
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = ui.px(24);
    const float label_w = ui.px(row.label.empty() ? 32.0f : 88.0f), number_w = ui.px(84),
                mid = std::round(at.y + height / 2);
    ImGui::Dummy({width, height});
    const bool over = ImGui::IsItemHovered();
    if (over && !row.tensor.empty()) ui.hot.set(row.tensor);

    if (row.label.empty()) {
        tensor_name(ui, draw, {at.x, mid + ui.px(5)}, row.tensor, 17);
    } else if (ImFont* font = ui.fonts.small) {
        draw->AddText(font, font_height(font), {at.x, std::round(mid - font_height(font) / 2)}, u32(t.text),
                      row.label.data(), row.label.data() + row.label.size());
    }
    const float left = std::round(at.x + label_w), room = std::max(ui.px(8), width - label_w - number_w);
    const auto length = [&](double v) {
        return row.full > 0 ? room * static_cast<float>(std::clamp(v / row.full, 0.0, 1.0)) : 0.0f;
    };
    const TensorStyle style = tensor_style(row.tensor);
    const Rgb hue = t.of(style.family);
    const float top = mid - ui.px(5), bottom = mid + ui.px(5);
    // Read solid, write lighter and beside it, with a pixel between.
    const float read = std::round(length(row.read)), end = std::round(length(row.read + row.write));
    if (read >= 1) draw->AddRectFilled({left, top}, {left + read, bottom}, u32(hue));
    if (end > read) {
        const float from = left + read + (read >= 1 && end - read > 2 ? 1.0f : 0.0f);
        draw->AddRectFilled({from, top}, {left + end, bottom}, u32(mix(t.panel, hue, 0.55f)));
    }
    if (style.gradient) hatch(draw, {left, top}, {left + end, bottom}, u32(t.panel, 0.6f), ui.px(5));
    if (row.ghost >= 0) {
        const float ghost = std::max(ui.px(2), std::round(length(row.ghost)));
        draw->AddRect({left, top - ui.px(3)}, {left + ghost, bottom + ui.px(3)}, u32(t.quiet), ui.px(2));
    }
    if (ImFont* font = ui.fonts.number) {
        const ImVec2 size = text_size(font, row.number);
        draw_text(draw, font, {at.x + width - size.x, mid - size.y / 2}, u32(t.text), row.number);
    }
    return over;
}

}  // namespace flashstep::viz
