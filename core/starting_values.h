// What an algorithm starts from beside the problem's inputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/algorithms.h"

namespace flashstep {

// By matrix, one entry per query head: the scores X of an algorithm that reads scores (Inputs::X, or tau Q K^T with the
// mask); what its forward pass left in HBM (O and L, or O, l and m, or S and P) for a backward one; else nothing. The
// recording of an algorithm and the kernels that mirror it start from these same numbers. Throws Error as record()
// does.
std::map<std::string, std::vector<Matrix>> starting_values(const Algorithm& algorithm, const Problem& problem,
                                                           const Inputs& inputs);

}  // namespace flashstep
