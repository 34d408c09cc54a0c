// e^(A - B) with e^(-inf - -inf) = 0: a row that has seen no key yet weighs nothing. B may be a column.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kExpDiff{
    .op = Op::ExpDiff,
    .name = "difference",
    .operands = 2,
    .fits = rules::like_a_spread_b,
    .value = [](const ValueTerms& t) -> Matrix {
        return rules::zip(t, [](double x, double y) { return x == -kInf && y == -kInf ? 0.0 : std::exp(x - y); });
    },
    .cost = [](Shape a, Shape) { return Cost{.other = 2 * rules::size(a), .exp = rules::size(a)}; },
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return rules::power_symbols(x, e, r, c, "e"); },
    .numbers = [](Explainer& x, const Expr& e, int r, int c) { return rules::power_numbers(x, e, r, c, "e"); },
    .in_row = [](Teller& t, int index, int r) { return rules::power_in_row(t, index, r, "e"); },
    .told = [](Teller& t, int index, int r) { return rules::weights_told(t, index, r, "e"); },
    .telling = rules::rescales,
    .error = [](const ErrorTerms& t) -> ErrorArray { return rules::of_power_of_difference(t, 1); },
    .elements = rules::same_of_both,
    .overflow = rules::kPowerOverflows,
};
}  // namespace flashstep
