// The tooltip of a cell: its value in full, where it comes from, what the kernel has, what was made of it.
#pragma once

#include <vector>

#include "viz/panels/cells.h"

namespace flashstep::viz {

// What is related to a version at the current step: the versions that made it (as far as they are still there), and the
// tiles on chip that were made from it.
struct Related {
    std::vector<int> operands, results;  // versions
};
Related related_to(const AppState& app, int version);

void cell_tip(AppState& app, const CellRef& cell);

}  // namespace flashstep::viz
