// How often the instructions of a kernel's code ran: plain data, for whoever shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flashstep {

struct Executed {
    std::string what;  // an opcode, a class of them, or a line of the source ("fa2_forward_1_tile.cuh:88")
    std::int64_t warps = 0, lanes = 0;
    int in_text = 0;  // how many instructions of the code these are
};

struct InstructionCounts {
    std::int64_t warps = 0, lanes = 0;
    std::vector<Executed> opcodes, classes;  // most often executed first
    std::vector<Executed> lines;             // by the kernel's line, in the order of the source
    std::vector<Executed> innermost;         // by the line that the instruction itself comes from, often a helper's
};

}  // namespace flashstep
