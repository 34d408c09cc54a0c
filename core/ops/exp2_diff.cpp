// 2^(A - B), as exp_diff: exponentials in base 2.
#include <numbers>

#include "core/ops/rules.h"

namespace flashstep {

const Operation kExp2Diff{
    .op = Op::Exp2Diff,
    .name = "difference",
    .operands = 2,
    .fits = rules::like_a_spread_b,
    .value = [](const ValueTerms& t) -> Matrix {
        return rules::zip(t, [](double x, double y) { return x == -kInf && y == -kInf ? 0.0 : std::exp2(x - y); });
    },
    .cost = [](Shape a, Shape) { return Cost{.other = 2 * rules::size(a), .exp = rules::size(a)}; },
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return rules::power_symbols(x, e, r, c, "2"); },
    .numbers = [](Explainer& x, const Expr& e, int r, int c) { return rules::power_numbers(x, e, r, c, "2"); },
    .in_row = [](Teller& t, int index, int r) { return rules::power_in_row(t, index, r, "2"); },
    .told = [](Teller& t, int index, int r) { return rules::weights_told(t, index, r, "2"); },
    .telling = rules::rescales,
    .error = [](const ErrorTerms& t) -> ErrorArray { return rules::of_power_of_difference(t, std::numbers::ln2); },
    .elements = rules::same_of_both,
    .overflow = rules::kPowerOverflows,
};
}  // namespace flashstep
