// The table of operations, in the order of the enum.
#include <array>

#include "core/ops/rows.h"

namespace flashstep {

std::span<const Operation* const> operations() {
    static constexpr std::array<const Operation*, kOperations> table = {
        &kLeaf,   &kInput,   &kFill,       &kMatMul,  &kTranspose, &kScale, &kAdd,      &kSub,        &kMul,
        &kDiv,    &kMax,     &kRowMax,     &kRowSum,  &kExpDiff,   &kExp,   &kLog,      &kReciprocal, &kReplace,
        &kToHalf, &kPadRows, &kDiagMatrix, &kDiagMul, &kInverse,   &kMask,  &kExp2Diff, &kPart,       &kStack,
    };
    return table;
}

}  // namespace flashstep
