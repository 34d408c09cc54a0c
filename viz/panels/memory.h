// What the memory panel keeps from frame to frame.
#pragma once

#include <imgui.h>

#include <vector>

#include "core/trace.h"
#include "lab/spoiled.h"
#include "viz/panels/memory_layout.h"
#include "viz/panels/memory_moves.h"

namespace flashstep::viz {

struct MemoryState {
    MemoryLayout layout;
    ImVec2 space, origin;                       // what the layout was made for; its corner on the screen
    float scale = 0;                            // likewise
    std::vector<std::vector<BlockMove>> moves;  // by tensor in HBM
    int view_step = -1, view_head = -1;
    std::vector<Trace::View> views;  // by tensor in HBM, as they are at view_step
    std::vector<char> has_values;    // by tensor: anything is written
    std::vector<Cells> spoiled;      // by tensor, of a matrix and of a tile that is on chip
};

}  // namespace flashstep::viz
