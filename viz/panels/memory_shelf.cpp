// The shelf of the memory view: the matrices in HBM, with the block that moves and the blocks whose tiles are on chip.
#include "viz/panels/memory_view.h"
#include "viz/shell/lesson_walk.h"

namespace flashstep::viz {
namespace {

GridRange range_of(const MemoryView& view, int tensor, int block) {
    const Trace::Range r = view.trace.block_range(tensor, block);
    return {r.row0, r.col0, r.rows, r.cols};
}

// Frames what the step moves of the matrix; else what is on chip of it.
void mark_blocks(const MemoryView& view, MatrixGrid& grid, int tensor) {
    if (const Change* move = view.app.player->view().move_of(tensor)) {
        grid.frame = range_of(view, tensor, move->block);
        const int stored = move->kind == Change::Kind::Store ? move->version : -1;
        mark_bad_cell(view, grid, stored, grid.frame.row, grid.frame.col);
        return;
    }
    const int on_chip = block_on_chip(view.state.moves[tensor], view.step);
    if (on_chip >= 0) grid.read = range_of(view, tensor, on_chip);
}

void draw_matrix(MemoryView& view, const MemoryItem& item) {
    const Tensor& tensor = view.trace.tensors[item.tensor];
    const Trace::View& values = view.state.views[item.tensor];
    MatrixGrid grid;
    grid.id = tensor.name.c_str();
    grid.tensor = tensor.name;
    grid.rows = tensor.rows, grid.cols = tensor.cols;
    if (view.state.has_values[item.tensor]) {
        grid.data = values.values.data();
        grid.written = values.written.data();
    }
    grid.spoiled = spoiled_of(view, item);
    grid.scale = view.run.tensor_scale[item.tensor];
    grid.row_block = item.row_block;
    grid.block_numbers = item.row_block > 0;
    mark_blocks(view, grid, item.tensor);
    if (!in_focus(view.app, tensor)) grid.alpha = kOutOfFocus;
    const ImVec2 corner = view.at(item.grid);
    outline_cells(view, corner, view.at(item.grid_end()));
    take_mouse(view, matrix_grid(view.ui, grid, item.fit, corner), item.tensor);
    draw_item_name(view, item, NameLook::Live);
    for (const auto* list : {&view.related.operands, &view.related.results}) {
        for (const int v : *list) {
            if (view.trace.versions[v].tensor != item.tensor) continue;
            const GridRange r = range_of(view, item.tensor, view.trace.versions[v].block);
            frame_related(view,
                          {corner.x + item.fit.cell_w * static_cast<float>(r.col),
                           corner.y + item.fit.cell_h * static_cast<float>(r.row)},
                          {corner.x + item.fit.cell_w * static_cast<float>(r.col + r.cols),
                           corner.y + item.fit.cell_h * static_cast<float>(r.row + r.rows)});
        }
    }
    frame_selected_cell(view, item);
}

}  // namespace

void draw_shelf(MemoryView& view) {
    ImGui::PushID("hbm");
    for (const MemoryItem& item : view.layout.shelf) draw_matrix(view, item);
    ImGui::PopID();
}

}  // namespace flashstep::viz
