// The operations, one per file of this folder.
#pragma once

#include "core/ops/operation.h"

namespace flashstep {

extern const Operation kLeaf, kInput, kFill, kMatMul, kTranspose, kScale, kAdd, kSub, kMul, kDiv, kMax, kRowMax,
    kRowSum, kExpDiff, kExp, kLog, kReciprocal, kReplace, kToHalf, kPadRows, kDiagMatrix, kDiagMul, kInverse, kMask,
    kExp2Diff, kPart, kStack;

}  // namespace flashstep
