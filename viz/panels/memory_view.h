// One frame of the memory panel: what its parts draw with. Each part is a file of its own.
#pragma once

#include <imgui.h>

#include <optional>

#include "viz/panels/cell_tip.h"
#include "viz/panels/memory.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {

constexpr float kOutOfFocus = 0.5f;  // alpha of what a lesson's beat does not speak of

struct MemoryView {
    AppState& app;
    MemoryState& state;
    ImVec2 origin;  // of the panel's contents on the screen
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const Run& run = *app.run;
    const Trace& trace = run.trace;
    const MemoryLayout& layout = state.layout;
    const int step = app.player->step();
    const float motion = app.motion();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    Related related = {};  // to the cell that was hovered in the last frame
    std::optional<CellRef> hovered = {};

    ImVec2 at(ImVec2 p) const { return {origin.x + p.x, origin.y + p.y}; }
};

// In this order: what comes later lies above.
void draw_shelf(MemoryView& view);           // matrices in HBM
void draw_bench(MemoryView& view);           // tiles on chip, or the chip that library calls stream through
void draw_memory_arrows(MemoryView& view);   // the step's loads and stores
void draw_memory_headers(MemoryView& view);  // HBM and SRAM with their legends; the capacity bar

// ---- What a matrix and a tile have in common (memory_item.cpp)

// The grid is what the mouse is over, or was clicked in.
void take_mouse(MemoryView& view, const GridEvent& event, int tensor);
enum class NameLook { Live, Quiet };  // quiet: of an empty place
void draw_item_name(MemoryView& view, const MemoryItem& item, NameLook look);
// A thin line round the cells from `a` to `b`: those near zero have the panel's colour.
void outline_cells(MemoryView& view, ImVec2 a, ImVec2 b);
// Round what is related to the cell under the mouse.
void frame_related(MemoryView& view, ImVec2 a, ImVec2 b);
void frame_selected_cell(MemoryView& view, const MemoryItem& item);
// By cell: whether the run's mistake made it wrong; null: none is.
const bool* spoiled_of(const MemoryView& view, const MemoryItem& item);
// Points out the first element of a version that the mistake made wrong, if it is the first of all, or that the kernel
// does not agree with. The version's first element is at row0, col0 of the grid.
void mark_bad_cell(const MemoryView& view, MatrixGrid& grid, int version, int row0, int col0);

}  // namespace flashstep::viz
