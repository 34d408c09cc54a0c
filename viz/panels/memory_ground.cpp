// Grounds and legends of the memory view.
#include "viz/panels/memory_ground.h"

#include <algorithm>
#include <cmath>

#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

void band(const Ui& ui, ImDrawList* draw, ImVec2 a, ImVec2 b) {
    const Theme& t = ui.theme();
    draw->AddRectFilled(a, b, u32(t.raised), ui.px(4));
    draw->AddRect(a, b, u32(t.line), ui.px(4));
}

}  // namespace

bool has_registers(const Trace& trace) {
    return std::ranges::any_of(trace.tensors, [](const Tensor& tensor) { return tensor.registers; });
}

void register_bands(const Ui& ui, ImDrawList* draw, const Trace& trace, const MemoryLayout& layout, ImVec2 origin) {
    const auto in_registers = [&](const MemoryItem& item) { return trace.tensors[item.tensor].registers; };
    const float out = std::round(ui.px(5));
    for (std::size_t k = 0; k < layout.bench.size();) {
        if (!in_registers(layout.bench[k])) {
            ++k;
            continue;
        }
        const MemoryItem& first = layout.bench[k];
        float right = first.corner.x + first.extent.x, bottom = first.corner.y + first.extent.y;
        for (++k; k < layout.bench.size(); ++k) {
            const MemoryItem& next = layout.bench[k];
            if (!in_registers(next) || next.corner.y != first.corner.y || next.corner.x < right) break;
            right = next.corner.x + next.extent.x;
            bottom = std::max(bottom, next.corner.y + next.extent.y);
        }
        band(ui, draw, {origin.x + first.grid.x - out, origin.y + first.corner.y},
             {origin.x + right + out, origin.y + bottom + out});
    }
}

float legend_entry(const Ui& ui, ImDrawList* draw, float right, float base, Rgb color, float thick,
                   std::string_view text) {
    const float side = std::round(ui.px(10)), width = text_width(ui.fonts.small, text) + side + ui.px(6);
    const float x = std::round(right - width), y = base - side;
    // An arrow that passes here passes behind.
    draw->AddRectFilled({x - ui.px(4), y - ui.px(4)}, {right, base + ui.px(5)}, u32(ui.theme().panel));
    draw->AddRect({x, y}, {x + side, y + side}, u32(color), ui.px(2), 0, thick);
    draw_text_on(draw, ui.fonts.small, x + side + ui.px(6), base, u32(ui.theme().quiet), text);
    return width;
}

float registers_legend(const Ui& ui, ImDrawList* draw, float right, float base) {
    const std::string_view text = ui.tr(Str::mem_registers);
    const float side = std::round(ui.px(12)), width = text_width(ui.fonts.small, text) + side + ui.px(6);
    const float x = std::round(right - width);
    draw->AddRectFilled({x - ui.px(4), base - side - ui.px(3)}, {right, base + ui.px(5)}, u32(ui.theme().panel));
    band(ui, draw, {x, base - side + ui.px(1)}, {x + side, base + ui.px(1)});
    draw_text_on(draw, ui.fonts.small, x + side + ui.px(6), base, u32(ui.theme().quiet), text);
    return width;
}

}  // namespace flashstep::viz
