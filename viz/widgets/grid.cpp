// A matrix as a grid of cells: tints, aligned numbers, block rules, frames, crosshair.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "lab/format.h"
#include "viz/text/font.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

ImU32 faded(ImU32 color, float alpha) {
    const auto a = static_cast<ImU32>(static_cast<float>(color >> IM_COL32_A_SHIFT & 255) * alpha + 0.5f);
    return (color & ~IM_COL32_A_MASK) | a << IM_COL32_A_SHIFT;
}

bool is_alarm(double v) { return std::isnan(v) || (std::isinf(v) && v > 0); }

// Everything that drawing one grid needs; edges of cells are whole pixels.
struct Painter {
    Ui& ui;
    const MatrixGrid& g;
    const GridFit& fit;
    ImVec2 at;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const Theme& t = ui.theme();
    TensorStyle style = tensor_style(g.tensor);
    int row0 = 0, row1 = 0, col0 = 0, col1 = 0;  // visible

    float x(int col) const { return at.x + std::round(static_cast<float>(col) * fit.cell_w); }
    float y(int row) const { return at.y + std::round(static_cast<float>(row) * fit.cell_h); }
    std::ptrdiff_t index(int row, int col) const { return std::ptrdiff_t{row} * g.cols + col; }
    double value(int row, int col) const { return g.data[index(row, col)]; }
    bool empty(int row, int col) const { return g.written && !g.written[index(row, col)]; }
    ImU32 color(Rgb c, float alpha = 1) const { return u32(c, alpha * g.alpha); }

    const TintLevel& level(double v) const {
        if (std::isinf(v)) return t.level(style.family, 0);  // -inf: masked, no magnitude
        return t.level(style.family, g.scale > 0 ? static_cast<float>(v / g.scale) : 0.0f);
    }

    void clip() {
        const ImVec2 a = draw->GetClipRectMin(), b = draw->GetClipRectMax();
        const auto range = [](float lo, float hi, float origin, float cell, int count, int& first, int& last) {
            first = std::clamp(static_cast<int>((lo - origin) / cell) - 1, 0, count);
            last = std::clamp(static_cast<int>((hi - origin) / cell) + 2, 0, count);
        };
        range(a.y, b.y, at.y, fit.cell_h, g.rows, row0, row1);
        range(a.x, b.x, at.x, fit.cell_w, g.cols, col0, col1);
    }

    void grounds() {
        const ImVec2 size = grid_size(g, fit);
        draw->AddRectFilled(at, {at.x + size.x, at.y + size.y}, color(g.data ? t.panel : t.raised));
        if (!g.data) return;
        // Cells smaller than a pixel: the largest of those that share it, so that no outlier is lost.
        const int step_r = std::max(1, static_cast<int>(std::ceil(1 / fit.cell_h)));
        const int step_c = std::max(1, static_cast<int>(std::ceil(1 / fit.cell_w)));
        const float gap = fit.number_px > 0 || std::min(fit.cell_w, fit.cell_h) >= 8 ? 1.0f : 0.0f;
        for (int r = row0 / step_r * step_r; r < row1; r += step_r) {
            const int cells = (col1 - col0 + step_c - 1) / step_c + 1;
            draw->PrimReserve(cells * 6, cells * 4);
            int drawn = 0;
            const float top = y(r), bottom = std::max(top + 1, y(std::min(r + step_r, g.rows)) - gap);
            for (int c = col0 / step_c * step_c; c < col1; c += step_c, ++drawn) {
                double v = value(r, c);
                if (step_r * step_c > 1) v = strongest(r, c, step_r, step_c);
                const ImU32 fill = empty(r, c) ? u32(t.raised) : is_alarm(v) ? u32(t.alarm, 0.35f) : level(v).ground;
                const float left = x(c), right = std::max(left + 1, x(std::min(c + step_c, g.cols)) - gap);
                draw->PrimRect({left, top}, {right, bottom}, faded(fill, g.alpha));
            }
            draw->PrimUnreserve((cells - drawn) * 6, (cells - drawn) * 4);
        }
    }

    double strongest(int r, int c, int rows, int cols) const {
        double best = value(r, c);
        for (int y = r; y < std::min(r + rows, g.rows); ++y) {
            for (int x = c; x < std::min(c + cols, g.cols); ++x) {
                const double v = value(y, x);
                if (empty(y, x)) continue;
                if (is_alarm(v)) return v;
                if (!(std::abs(best) >= std::abs(v)) || std::isinf(best)) best = v;
            }
        }
        return best;
    }

    void hatching() {
        if (!style.gradient || !g.data) return;
        const ImVec2 size = grid_size(g, fit);
        if (fit.number_px <= 0) {
            hatch(draw, at, {at.x + size.x, at.y + size.y}, color(t.panel, 0.45f), ui.px(5));
            return;
        }
        // Cell by cell, away from the colour of the number, so that lines never cost it contrast.
        for (int r = row0; r < row1; ++r) {
            for (int c = col0; c < col1; ++c) {
                const double v = value(r, c);
                if (is_alarm(v)) continue;
                hatch(draw, {x(c), y(r)}, {x(c + 1) - 1, y(r + 1) - 1}, faded(level(v).hatch, g.alpha), ui.px(8));
            }
        }
    }

    void numbers() {
        if (fit.number_px <= 0 || !g.data) return;
        ImFont* font = fit.number_px < 14 ? ui.fonts.number_small : ui.fonts.number;
        if (!font) return;
        const float advance = char_advance(font, '0');
        const float drop = std::floor((fit.cell_h - 1 - font_height(font)) / 2);
        std::array<NumberText, 128> column;  // written once where it has room
        constexpr int kKept = static_cast<int>(column.size());
        for (int c = col0; c < col1; ++c) {
            // Points align over the whole column, hidden rows included, so that scrolling moves no digit.
            int whole = 0, rest = 0;
            for (int r = 0; r < g.rows; ++r) {
                if (empty(r, c)) continue;
                const NumberText n = short_number(value(r, c));
                if (r < kKept) column[static_cast<std::size_t>(r)] = n;
                if (!std::isfinite(value(r, c))) continue;
                whole = std::max(whole, n.whole);
                rest = std::max(rest, n.width - n.whole);
            }
            const float width = static_cast<float>(whole + rest) * advance;
            const float left = x(c) + std::max(0.0f, (x(c + 1) - 1 - x(c) - width) / 2);
            for (int r = row0; r < row1; ++r) {
                if (empty(r, c)) continue;
                const double v = value(r, c);
                const NumberText n = r < kKept ? column[static_cast<std::size_t>(r)] : short_number(v);
                ImU32 ink = n.alarm ? u32(t.text_on(mix(t.panel, t.alarm, 0.35f))) : level(v).text;
                if (std::isinf(v) && v < 0) ink = u32(t.quiet);
                ImVec2 pen(std::round(left + static_cast<float>(whole - n.whole) * advance), y(r) + drop);
                if (!std::isfinite(v)) {  // a sign, no number: in the middle
                    pen.x = std::round(x(c) + (x(c + 1) - 1 - x(c) - static_cast<float>(n.width) * advance) / 2);
                }
                draw->AddText(font, font_height(font), pen, faded(ink, g.alpha), n.text, n.text + n.bytes);
            }
        }
    }

    void rules() {
        const ImVec2 size = grid_size(g, fit);
        const float thick = std::max(1.0f, std::round(ui.px(2)));
        const ImU32 ink = color(mix(t.line, t.quiet, 0.7f));
        if (g.row_block > 0) {
            for (int r = g.row_block; r < g.rows; r += g.row_block) {
                const float at_y = y(r) - std::ceil(thick / 2);
                draw->AddRectFilled({at.x, at_y}, {at.x + size.x, at_y + thick}, ink);
            }
        }
    }

    void block_numbers() {
        if (!g.block_numbers) return;
        ImFont* font = ui.fonts.number_small;
        if (!font) return;
        const auto label = [&](int index, ImVec2 center, bool now) {
            char text[12];
            const int n = std::snprintf(text, sizeof text, "%d", index);
            const ImVec2 pen(std::round(center.x - static_cast<float>(n) * char_advance(font, '0') / 2),
                             std::round(center.y - font_height(font) / 2));
            draw->AddText(font, font_height(font), pen, color(now ? t.accent : t.quiet), text);
        };
        // Where blocks lie closer than a line, only each 5th, 10th, ... is numbered.
        const auto every = [&](float distance) {
            int n = 1;
            for (const int step : {1, 5, 10, 50, 100, 500}) {
                n = step;
                if (distance * static_cast<float>(step) >= font_height(font)) break;
            }
            return n;
        };
        const float gutter = ui.px(kGridGutter) / 2;
        if (g.row_block > 0) {
            const int step = every(fit.cell_h * static_cast<float>(g.row_block));
            for (int b = 0; b * g.row_block < g.rows; ++b) {
                const int r = b * g.row_block, end = std::min(r + g.row_block, g.rows);
                const bool now = g.frame.rows > 0 && r < g.frame.row + g.frame.rows && end > g.frame.row;
                if (now || b == 0 || (b + 1) % step == 0) label(b + 1, {at.x - gutter, (y(r) + y(end)) / 2}, now);
            }
        }
    }

    void spoiled() const {
        if (!g.spoiled) return;
        for (int r = row0; r < row1; ++r)
            for (int c = col0; c < col1; ++c)
                if (g.spoiled[index(r, c)] && !empty(r, c))
                    spoiled_corner(ui, draw, {x(c), y(r)},
                                   {std::max(x(c) + 1, x(c + 1) - 1), std::max(y(r) + 1, y(r + 1) - 1)}, g.alpha);
    }

    void frame(const GridRange& range, ImU32 ink, float thick, float out) const {
        if (range.rows <= 0 || range.cols <= 0) return;
        draw->AddRect({x(range.col) - out, y(range.row) - out},
                      {x(range.col + range.cols) - 1 + out, y(range.row + range.rows) - 1 + out}, ink, ui.px(2), 0,
                      thick);
    }

    void crosshair(int row, int col) const {
        const ImVec2 size = grid_size(g, fit);
        const ImU32 ink = color(t.text, 0.55f);
        const float l = x(col), r = std::max(l + 1, x(col + 1) - 1), top = y(row),
                    b = std::max(top + 1, y(row + 1) - 1);
        draw->AddRectFilled({at.x, top - 1}, {at.x + size.x, top}, ink);
        draw->AddRectFilled({at.x, b}, {at.x + size.x, b + 1}, ink);
        draw->AddRectFilled({l - 1, at.y}, {l, at.y + size.y}, ink);
        draw->AddRectFilled({r, at.y}, {r + 1, at.y + size.y}, ink);
    }
};

}  // namespace

void spoiled_corner(const Ui& ui, ImDrawList* draw, ImVec2 a, ImVec2 b, float alpha) {
    constexpr float kCornerSide = 7, kLeastCell = 6;  // design pixels; smaller cells are filled
    const ImU32 ink = u32(ui.theme().alarm, alpha);
    if (std::min(b.x - a.x, b.y - a.y) < ui.px(kLeastCell)) {
        draw->AddRectFilled(a, b, u32(ui.theme().alarm, 0.75f * alpha));
        return;
    }
    const float side = std::round(std::min(ui.px(kCornerSide), (b.y - a.y) * 0.6f));
    draw->AddTriangleFilled({b.x - side, a.y}, {b.x, a.y}, {b.x, a.y + side}, ink);
}

GridEvent matrix_grid(Ui& ui, const MatrixGrid& grid, const GridFit& fit, ImVec2 at) {
    GridEvent event;
    if (grid.rows <= 0 || grid.cols <= 0 || fit.cell_w <= 0 || fit.cell_h <= 0) return event;
    at = {std::round(at.x), std::round(at.y)};
    const Theme& t = ui.theme();
    const ImVec2 size = grid_size(grid, fit);

    ImGui::SetCursorScreenPos(at);
    event.clicked = ImGui::InvisibleButton(grid.id, {std::max(1.0f, size.x), std::max(1.0f, size.y)});
    event.hovered = ImGui::IsItemHovered();
    if (event.hovered || event.clicked) {
        const ImVec2 mouse = ImGui::GetIO().MousePos;
        event.col = std::clamp(static_cast<int>((mouse.x - at.x) / fit.cell_w), 0, grid.cols - 1);
        event.row = std::clamp(static_cast<int>((mouse.y - at.y) / fit.cell_h), 0, grid.rows - 1);
    }
    if (event.hovered) ui.hot.set(grid.tensor);

    Painter p{ui, grid, fit, at};
    if (grid.flash > 0) {  // a halo of the tensor's hue: the numbers stay legible while it fades
        const float out = ui.px(6);
        p.draw->AddRectFilled({at.x - out, at.y - out}, {at.x + size.x + out, at.y + size.y + out},
                              p.color(t.of(p.style.family), 0.55f * std::clamp(grid.flash, 0.0f, 1.0f)), ui.px(6));
    }
    if (ui.hot.is(grid.tensor) && !event.hovered) {
        const float out = ui.px(3);
        p.draw->AddRect({at.x - out, at.y - out}, {at.x + size.x + out - 1, at.y + size.y + out - 1},
                        p.color(t.text_of(p.style.family), 0.8f), ui.px(4), 0, ui.px(1));
    }
    p.clip();
    p.grounds();
    p.hatching();
    p.rules();
    p.numbers();
    p.spoiled();
    p.block_numbers();
    p.frame(grid.read, p.color(t.text), std::max(1.0f, ui.px(1.5f)), 1);
    p.frame(grid.frame, p.color(t.accent), std::max(2.0f, ui.px(2)), 1);
    if (grid.mark_row >= 0 && grid.mark_col >= 0) {
        p.frame({grid.mark_row, grid.mark_col, 1, 1}, p.color(t.alarm), std::max(2.0f, ui.px(2)), 2);
    }
    if (event.hovered) p.crosshair(event.row, event.col);
    return event;
}

}  // namespace flashstep::viz
