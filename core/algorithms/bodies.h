// The algorithms, one per file of this folder.
#pragma once

#include <algorithm>

#include "core/algorithms.h"

namespace flashstep {

using enum TensorKind;  // what a tensor is stands beside its name

extern const Algorithm kNaiveSoftmax, kSafeSoftmax, kOnlineSoftmax, kOnlineSoftmaxBlocks, kSoftmaxBackward,
    kStandardAttention, kStandardBackward, kFa1Forward, kFa1Backward, kFa2Forward, kFa2Backward, kFa2BackwardTwoPass,
    kWarpsSplitK, kWarpsSplitQ;

}  // namespace flashstep
