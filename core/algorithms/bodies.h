// The algorithms, one per file of this folder.
#pragma once

#include <algorithm>

#include "core/algorithms.h"

namespace flashstep {

extern const Algorithm kSafeSoftmax, kOnlineSoftmax, kStandardAttention, kFa2Forward;

}  // namespace flashstep
