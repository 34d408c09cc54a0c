// 1 / A, infinite where A is 0: what a printed inverse would do.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kReciprocal{
    .op = Op::Reciprocal,
    .name = "inverse",
    .operands = 1,
    .fits = rules::like_a,
    .value = [](const ValueTerms& t) -> Matrix { return rules::map(t, [](double x) { return 1.0 / x; }); },
    .symbols = rules::reciprocal_symbols,
    .numbers = rules::reciprocal_numbers,
    .in_row = rules::reciprocal_in_row,
    .error = rules::of_inverse,
    .elements = rules::same_of_a,
    .overflow = rules::kDivisionByZero,
};
}  // namespace flashstep
