// A / B, and 0 where B is 0; B may be a column.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kDiv{
    .op = Op::Div,
    .name = "quotient",
    .operands = 2,
    .fits = rules::like_a_spread_b,
    .value = [](const ValueTerms& t) -> Matrix {
        return rules::zip(t, [](double x, double y) { return y == 0 ? 0.0 : x / y; });
    },
    .cost = rules::one_each,
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return fmt::format("\\frac{{{}}}{{{}}}", x.symbols(e.a, r, c), x.symbols_of_b(e, r, c)); },
    .numbers = [](Explainer& x, const Expr& e, int r,
                  int c) { return fmt::format("\\frac{{{}}}{{{}}}", x.numbers(e.a, r, c), x.numbers_of_b(e, r, c)); },
    .in_row =
        [](Teller& t, int index, int r) {
            const Expr& e = t.expr(index);
            return say("{} ÷ {}", "{} ÷ {}", t.factor(e.a, r), t.factor(e.b, r));
        },
    .error = [](const ErrorTerms& t) -> ErrorArray {
        const ErrorArray value = t.value();
        return finite((t.Ea + value * t.spread(t.Eb)) / t.spread(t.B())) + value + underflow(t.A());
    },
    .elements = rules::same_of_both,
    .overflow = rules::kDivisionByZero,
};
}  // namespace flashstep
