// What a matrix on the shelf and a tile on the bench have in common: name, outline, frames, the mouse.
#include <algorithm>
#include <cmath>

#include "viz/panels/memory_view.h"
#include "viz/text/text.h"
#include "viz/widgets/measures.h"

namespace flashstep::viz {
namespace {

constexpr float kNameSize = 17;      // design pixels, of the formula
constexpr float kRelatedFrame = 4;   // how far the frame of what is related stands off
constexpr float kSelectedFrame = 1;  // likewise of the selected cell

}  // namespace

void take_mouse(MemoryView& view, const GridEvent& event, int tensor) {
    if (event.hovered) view.hovered = CellRef{tensor, event.row, event.col};
    if (event.clicked) view.app.selected = CellRef{tensor, event.row, event.col};
}

void draw_item_name(MemoryView& view, const MemoryItem& item, NameLook look) {
    Ui& ui = view.ui;
    const Trace& trace = view.trace;
    const Tensor& tensor = trace.tensors[item.tensor];
    const ImVec2 pen = view.at(item.name);
    if (look == NameLook::Quiet) {
        FormulaLayout plain = ui.formulas.get(ui, name_to_tex(tensor.name), kNameSize);
        plain.symbols.clear();
        for (FormulaBox& box : plain.boxes) box.symbol = -1;
        draw_formula(ui, view.draw, pen.x, pen.y, plain, u32(view.t.quiet));
        return;
    }
    const float width = tensor_name(ui, view.draw, pen, tensor.name, kNameSize);
    if (!item.shows_shape) return;
    int rows = tensor.rows, cols = tensor.cols;
    if (tensor.space == Space::Sram) {
        const int version = trace.tile_at(item.tensor, view.step);
        if (version >= 0) rows = trace.versions[version].rows, cols = trace.versions[version].cols;
    }
    draw_text_on(view.draw, ui.fonts.small, pen.x + width + ui.px(kGap), pen.y, u32(view.t.quiet),
                 shape_text(rows, cols));
}

void outline_cells(MemoryView& view, ImVec2 a, ImVec2 b) {
    view.draw->AddRect({std::round(a.x) - kHair, std::round(a.y) - kHair},
                       {std::round(b.x) + kHair, std::round(b.y) + kHair}, u32(view.t.line), view.ui.px(kSmallCorner));
}

void frame_related(MemoryView& view, ImVec2 a, ImVec2 b) {
    const float out = std::round(view.ui.px(kRelatedFrame));
    view.draw->AddRect({a.x - out, a.y - out}, {b.x + out - 1, b.y + out - 1}, u32(view.t.text), view.ui.px(kCorner), 0,
                       std::max(kHair, view.ui.px(kStroke)));
}

void frame_selected_cell(MemoryView& view, const MemoryItem& item) {
    const auto& selected = view.app.selected;
    if (!selected || selected->tensor != item.tensor) return;
    const Ui& ui = view.ui;
    const ImVec2 p = view.at(item.grid);
    const float x = std::round(p.x), y = std::round(p.y), out = ui.px(kSelectedFrame);
    const ImVec2 a(x + std::round(static_cast<float>(selected->col) * item.fit.cell_w) - out,
                   y + std::round(static_cast<float>(selected->row) * item.fit.cell_h) - out);
    const ImVec2 b(x + std::round(static_cast<float>(selected->col + 1) * item.fit.cell_w) - 1 + out,
                   y + std::round(static_cast<float>(selected->row + 1) * item.fit.cell_h) - 1 + out);
    // A line in the panel's colour round it, so that it stands off from any tint.
    const float corner = ui.px(kSmallCorner);
    view.draw->AddRect({a.x - 1, a.y - 1}, {b.x + 1, b.y + 1}, u32(view.t.panel), corner, 0,
                       std::max(kHair, ui.px(kHair)));
    view.draw->AddRect(a, b, u32(view.t.text), corner, 0, std::max(kStroke, ui.px(kStroke)));
}

const bool* spoiled_of(const MemoryView& view, const MemoryItem& item) {
    const Cells& cells = view.state.spoiled[item.tensor];
    return cells.size() > 0 ? cells.data() : nullptr;
}

void mark_bad_cell(const MemoryView& view, MatrixGrid& grid, int version, int row0, int col0) {
    if (version < 0) return;
    if (view.run.fault) {  // what it spoils is marked cell by cell
        const std::optional<Departure>& first = view.run.departure;
        if (first && first->version == version) grid.mark_row = row0 + first->row, grid.mark_col = col0 + first->col;
        return;
    }
    if (!view.run.comparison) return;
    const Comparison& comparison = *view.run.comparison;
    const int index = comparison.by_version[version];
    if (index < 0 || comparison.tiles[index].verdict == Verdict::Equal) return;
    grid.mark_row = row0 + comparison.tiles[index].row;
    grid.mark_col = col0 + comparison.tiles[index].col;
}

}  // namespace flashstep::viz
