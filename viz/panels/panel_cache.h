// What the panels keep from frame to frame: everything that follows from the run, the step or a panel's size, so that
// drawing only looks it up.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/explain.h"
#include "viz/shell/app_state.h"
#include "viz/panels/memory_layout.h"

namespace flashstep::viz {

struct PanelCache {
    std::shared_ptr<const Run> run;  // held, so that no other run can have its address

    // ---- memory ----
    MemoryLayout memory;
    ImVec2 memory_space, memory_origin;  // what the layout was made for; its corner on the screen
    float memory_scale = 0;
    // A block's way between shelf and bench, and the steps during which its tile is on chip.
    struct Move {
        int step, block;
        TouchKind kind;
        int first, last;
    };
    std::vector<std::vector<Move>> moves;  // by tensor in HBM, in order of the steps
    int view_step = -1, view_head = -1;
    std::vector<Trace::View> views;  // by tensor in HBM, as they are at view_step
    std::vector<char> has_values;    // by tensor: anything is written

    // ---- score map ----
    struct MapTile {
        int first = -1, last = -1;  // steps; -1: never worked on
    };
    int map_head = -1, map_rows = 0, map_cols = 0;
    std::vector<MapTile> map;
    struct Hidden {
        int row, rows, col, cols;  // elements of the score matrix that a mask hides, in tiles that are worked on
    };
    std::vector<Hidden> hidden;
    ImVec2 map_origin;
    float map_cell = 0;

    // ---- explain ----
    int explained_version = -1, explained_row = -1, explained_col = -1;
    Explanation explanation;
    int telling_step = -1;           // the step that `telling` belongs to
    std::optional<CellRef> telling;  // the cell that is explained while none is selected
};

// Made when it is first asked for, emptied when the run has changed.
PanelCache& panel_cache(AppState& app);

// The matrices in HBM at the current step and head.
void refresh_views(PanelCache& cache, const AppState& app);

// The block of a matrix in HBM whose tile is on chip at a step, -1: none. O(log n).
int block_on_chip(const PanelCache& cache, int tensor, int step);

// The version that a cell shows at the current step, with the cell's place in it. -1: not on chip, or not written yet.
struct CellVersion {
    int version = -1;
    int row = 0, col = 0;
};
CellVersion version_of(const AppState& app, const CellRef& cell);

// The place of a step in the walk of its head, counted as the transport bar counts: 0 holds the inputs.
int position_of(const AppState& app, int step);

// The kernel's value of one cell, nullopt where there is no kernel or it does not materialise the tile.
std::optional<double> kernel_cell(const AppState& app, const CellVersion& cell);

}  // namespace flashstep::viz
