// Where every matrix and every tile stands in the memory view: decided once per run and panel size, from the whole
// trace, so that nothing jumps from step to step.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "lab/session.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {

// A matrix on the shelf or a tile on the bench. Positions are screen pixels from the corner of the panel's contents.
struct MemoryItem {
    int tensor = -1;
    GridFit fit;
    int rows = 0, cols = 0;   // of the grid: a tile's largest shape
    ImVec2 corner, extent;    // the whole place, name and gutter included
    ImVec2 grid;              // first cell
    ImVec2 name;              // left end of the name's baseline
    bool shows_shape = true;  // beside the name, where there is room
    int row_block = 0;        // rows between rules; 0: none
    ImVec2 grid_end() const {
        return {grid.x + fit.cell_w * static_cast<float>(cols), grid.y + fit.cell_h * static_cast<float>(rows)};
    }
};

struct MemoryLayout {
    std::vector<MemoryItem> shelf, bench;
    std::vector<int> place;        // by tensor: index into `shelf` or `bench`
    ImVec2 size;                   // of all of it; higher than the panel only where nothing smaller helps
    float shelf_header = 0;        // top of the line that says HBM
    float bench_header = 0;        // top of the line that says SRAM, with the capacity bar
    float lane = 0, lane_end = 0;  // the strip between shelf and bench that arrows cross
    ImVec2 chip, chip_end;         // where library calls stream to; empty where SRAM is modelled
};

// The largest cells with which everything fits into `space`: numbers before heat maps, and a tile stands below the
// matrix that it is loaded from or stored to.
MemoryLayout layout_memory(Ui& ui, const Run& run, ImVec2 space);

// "4 × 3"
std::string shape_text(int rows, int cols);

}  // namespace flashstep::viz
