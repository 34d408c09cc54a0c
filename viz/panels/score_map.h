// What the score map keeps from frame to frame: the tiles of the head that is shown, and what masks hide in them.
#pragma once

#include <imgui.h>

#include <vector>

#include "viz/shell/app_state.h"

namespace flashstep::viz {

struct ScoreMap {
    struct Tile {
        int first = -1, last = -1;  // steps; -1: never worked on
    };
    struct Hidden {
        int row, rows, col, cols;  // elements of the score matrix that a mask hides, in tiles that are worked on
    };
    int head = -1, rows = 0, cols = 0;
    std::vector<Tile> tiles;  // row by row; empty: no loops, whole matrices
    std::vector<Hidden> hidden;
    ImVec2 origin;  // of the first tile on the screen
    float cell = 0;
};

// Takes over the tiles of the head that is shown.
void find_map_tiles(ScoreMap& map, const AppState& app);

}  // namespace flashstep::viz
