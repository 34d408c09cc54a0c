// Arithmetic over the 32 lanes of a warp: a table with one row per opcode. It is compiled twice, for any processor and
// for one with AVX2 and FMA; the rows compute the same bits.
#pragma once

#include <cstdint>
#include <string_view>

#include "gpu/ptx/code.h"

namespace flashstep::gpu::ptx {

// What a row takes and gives: registers have to be as wide, or at least so where the row is narrow (cvt from 8 bits).
struct LaneRow {
    char name[32];
    Handler run;
    Width result;
    Width operands[4];
    int count;  // of operands
    bool narrow;
};

// Names are those of PTX with the modifiers that change nothing left out (add.rn.f32 is add.f32).
struct LaneRows {
    const LaneRow* rows;
    int count;
    void (*multiply)(const TensorOp& op, std::byte* registers);  // mma
};
namespace any_processor {
LaneRows lane_rows();
}
namespace avx2 {
LaneRows lane_rows();
bool supported();  // by the processor that this runs on
}  // namespace avx2

// Null: no row is named so.
const LaneRow* find_row(std::string_view name);

}  // namespace flashstep::gpu::ptx
