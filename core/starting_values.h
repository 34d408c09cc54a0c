// What an algorithm starts from beside the problem's inputs.
#pragma once

#include "core/algorithms.h"

namespace flashstep {

// The scores X of an algorithm that reads scores (Inputs::X, or tau Q K^T with the
// mask); what its forward pass left in HBM (O and L, or O, l and m, or S and P) for a backward one; else nothing. The
// recording of an algorithm and the kernels that mirror it start from these same numbers, so that a forward pass is
// recorded once for both. Throws Error as record() does, Cancelled as the task says; its progress is left alone.
StartingValues starting_values(const Algorithm& algorithm, const Problem& problem, const Inputs& inputs,
                               const Task& task = {});

}  // namespace flashstep
