// Grounds and legends of the memory view.
#include "viz/panels/memory_ground.h"

#include <algorithm>
#include <cmath>

#include "viz/text/text.h"
#include "viz/widgets/measures.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kMemSpoiled{"wrong by the mistake", "因错误而不对"};
constexpr Text kMemRegisters{"in registers", "在寄存器中"};

// Design pixels.
constexpr float kBandMargin = 5;   // of the ground of registers round the tiles
constexpr float kSwatch = 10;      // side of a legend's square
constexpr float kBandSwatch = 12;  // likewise where it shows a ground
constexpr float kSwatchGap = 6;    // from the square to its words
constexpr float kDescent = 5;      // of the ground behind an entry, below the baseline

void band(const Ui& ui, ImDrawList* draw, ImVec2 a, ImVec2 b) {
    const Theme& t = ui.theme();
    draw->AddRectFilled(a, b, u32(t.raised), ui.px(kCorner));
    draw->AddRect(a, b, u32(t.line), ui.px(kCorner));
}

}  // namespace

bool has_registers(const Trace& trace) {
    return std::ranges::any_of(trace.tensors, [](const Tensor& tensor) { return tensor.registers; });
}

void register_bands(const Ui& ui, ImDrawList* draw, const Trace& trace, const MemoryLayout& layout, ImVec2 origin) {
    const auto in_registers = [&](const MemoryItem& item) { return trace.tensors[item.tensor].registers; };
    const float out = std::round(ui.px(kBandMargin));
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
    const float side = std::round(ui.px(kSwatch)), width = text_width(ui.fonts.small, text) + side + ui.px(kSwatchGap);
    const float x = std::round(right - width), y = base - side;
    // An arrow that passes here passes behind.
    draw->AddRectFilled({x - ui.px(kSmallGap), y - ui.px(kSmallGap)}, {right, base + ui.px(kDescent)},
                        u32(ui.theme().panel));
    draw->AddRect({x, y}, {x + side, y + side}, u32(color), ui.px(kSmallCorner), 0, thick);
    draw_text_on(draw, ui.fonts.small, x + side + ui.px(kSwatchGap), base, u32(ui.theme().quiet), text);
    return width;
}

float spoiled_legend(const Ui& ui, ImDrawList* draw, float right, float base) {
    const std::string_view text = ui.tr(kMemSpoiled);
    const float width = legend_entry(ui, draw, right, base, ui.theme().line, kHair, text);
    const float side = std::round(ui.px(kSwatch)), x = std::round(right - width);
    spoiled_corner(ui, draw, {x, base - side}, {x + side, base});
    return width;
}

float registers_legend(const Ui& ui, ImDrawList* draw, float right, float base) {
    const std::string_view text = ui.tr(kMemRegisters);
    const float side = std::round(ui.px(kBandSwatch)),
                width = text_width(ui.fonts.small, text) + side + ui.px(kSwatchGap);
    const float x = std::round(right - width);
    const float sunk = ui.px(kHair);  // the square stands a little below the baseline
    draw->AddRectFilled({x - ui.px(kSmallGap), base - side + sunk - ui.px(kSmallGap)}, {right, base + ui.px(kDescent)},
                        u32(ui.theme().panel));
    band(ui, draw, {x, base - side + sunk}, {x + side, base + sunk});
    draw_text_on(draw, ui.fonts.small, x + side + ui.px(kSwatchGap), base, u32(ui.theme().quiet), text);
    return width;
}

}  // namespace flashstep::viz
