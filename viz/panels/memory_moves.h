// Ways of blocks between HBM and the chip: which block's tile is on chip at a step.
#pragma once

#include <span>
#include <vector>

#include "core/trace.h"

namespace flashstep::viz {

// A load or a store of a block, and the steps during which its tile is on chip.
struct BlockMove {
    int step, block;
    TouchKind kind;
    int first, last;
};

// By tensor in HBM, in order of the steps.
std::vector<std::vector<BlockMove>> find_moves(const Trace& trace);

// The block of a matrix in HBM whose tile is on chip at a step, -1: none. `moves`: of that matrix. O(log n).
int block_on_chip(std::span<const BlockMove> moves, int step);

}  // namespace flashstep::viz
