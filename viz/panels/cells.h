// What a cell shows at the step that is shown; several panels ask.
#pragma once

#include <optional>
#include <string>

#include "viz/shell/app_state.h"

namespace flashstep::viz {

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

// What a cell would hold without the run's mistake, and whether it is the first that the mistake made wrong; empty: it
// holds it.
std::string right_value_text(const AppState& app, const CellVersion& cell);

}  // namespace flashstep::viz
