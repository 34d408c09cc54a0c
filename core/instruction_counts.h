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

// One instruction of the code, in the order of its text.
struct ExecutedInstruction {
    std::string entry = {};  // of the first instruction of an entry: its name; empty else
    std::string label = {};  // that stands before it; empty: none
    std::string text = {};   // "fma.rn.f32 %f3, %f1, %f2, %f3;"
    std::string what = {};   // its class
    std::string file = {};   // of the kernel's line that it does the work of; empty: the text does not say
    int line = 0;
    std::int64_t warps = 0, lanes = 0;
};

struct InstructionCounts {
    std::int64_t warps = 0, lanes = 0;
    std::vector<ExecutedInstruction> code;
    std::vector<Executed> opcodes, classes;  // most often executed first
    std::vector<Executed> lines;             // by the kernel's line, in the order of the source
    std::vector<Executed> innermost;         // by the line that the instruction itself comes from, often a helper's
};

}  // namespace flashstep
