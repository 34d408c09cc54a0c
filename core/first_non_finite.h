// Where a run leaves the finite numbers: the first infinity or NaN that no mask explains.
#pragma once

#include <optional>
#include <string>

#include "core/trace.h"

namespace flashstep {

struct NonFinite {
    enum class Cause {
        Given,     // it stands in an input
        Computed,  // finite operands gave it: an overflow, a division by zero
        Rounded,   // finite on chip, too large for the format in HBM
    };
    Cause cause;
    int version, row, col;  // the element, 0-based, in Trace::versions
    Op op;                  // Computed: the operation
};

// In order of the steps, then of the rows and columns. Minus infinity where a mask hides a key, in the first maximum
// and in L of a row that sees nothing is what the algorithms mean, and is passed over, as it is in M and X.
std::optional<NonFinite> first_non_finite(const Trace& trace, const Task& task = {});

// "step 7, line 8, i=1 j=1: S_ij[1,2] is inf: ..." in one line.
std::string describe(const Trace& trace, const NonFinite& found);

}  // namespace flashstep
