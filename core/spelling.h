// How an algorithm's pseudo-code spells a tile: one spelling for a tensor, in the code, on its tile and in sentences.
#pragma once

#include <string>
#include <string_view>

#include "core/algorithms.h"

namespace flashstep {

// A line has its result first and its operands behind it: O_i <- O~_i / l_i has both spellings.
enum class Use { Result, Operand };

// Mini-TeX of the tile at a line: "\tilde{O}_i" for "O_i". Where the line does not name the tile, the nearest line
// above that does decides; where none does, the nearest below, and else the name alone.
std::string spelled(const Algorithm& algorithm, int line, std::string_view tensor, Use use);

}  // namespace flashstep
