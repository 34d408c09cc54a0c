// The larger of two, element by element.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kMax{
    .op = Op::Max,
    .name = "max",
    .operands = 2,
    .fits = rules::like_a_spread_b,
    .value = [](const ValueTerms& t) -> Matrix { return rules::zip(t, rules::max_of); },
    .cost = rules::one_each,
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return "\\max(" + x.symbols(e.a, r, c) + ", " + x.symbols_of_b(e, r, c) + ")"; },
    .numbers = [](Explainer& x, const Expr& e, int r,
                  int c) { return "\\max(" + x.numbers(e.a, r, c) + ", " + x.numbers_of_b(e, r, c) + ")"; },
    .error = [](const ErrorTerms& t) -> ErrorArray { return t.Ea.max(t.spread(t.Eb)); },
    .elements = rules::same_of_both,
};
}  // namespace flashstep
