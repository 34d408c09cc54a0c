// 1 / A, and 0 where A is 0.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kInverse{
    .op = Op::Inverse,
    .name = "inverse",
    .operands = 1,
    .fits = rules::like_a,
    .value = [](const ValueTerms& t) -> Matrix {
        return rules::map(t, [](double x) { return x == 0 ? 0.0 : 1.0 / x; });
    },
    .cost = rules::one_each,
    .symbols = rules::reciprocal_symbols,
    .numbers = rules::inverse_numbers,
    .in_row = rules::inverse_in_row,
    .error = rules::of_inverse,
    .elements = rules::same_of_a,
    .overflow = rules::kDivisionByZero,
};
}  // namespace flashstep
