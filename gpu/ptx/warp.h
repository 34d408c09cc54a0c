// A warp that the interpreter runs: its registers and where its lanes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/ptx/code.h"

namespace flashstep::gpu::ptx {

class Machine;

// Lanes that are at the same instruction.
struct Group {
    std::uint32_t pc = 0, lanes = 0;
};

struct Warp {
    std::byte* registers = nullptr;
    std::uint32_t active = kAllLanes;  // lanes that the instruction is for
    Machine* machine = nullptr;
    int number = 0;              // in its block
    std::uint32_t live = 0;      // lanes that have not ended
    std::uint32_t pc = 0;        // of the active ones
    std::vector<Group> others;   // lanes elsewhere that can go on, lowest first
    std::vector<Group> waiting;  // at a barrier of the block, or at a collective
    bool at_barrier = false;     // all live lanes wait at the block's barrier
};

}  // namespace flashstep::gpu::ptx
