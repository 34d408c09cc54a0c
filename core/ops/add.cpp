// A + B; B may be a row, a column or one number.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kAdd{
    .op = Op::Add,
    .name = "sum",
    .operands = 2,
    .fits = rules::like_a_spread_b,
    .value = [](const ValueTerms& t) -> Matrix { return rules::zip(t, [](double x, double y) { return x + y; }); },
    .cost = rules::one_each,
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return x.symbols(e.a, r, c) + " + " + x.symbols_of_b(e, r, c); },
    .numbers = [](Explainer& x, const Expr& e, int r,
                  int c) { return x.numbers(e.a, r, c) + " + " + wrapped(x.numbers_of_b(e, r, c)); },
    .form = Form::Sum,
    .in_row =
        [](Teller& t, int index, int r) {
            const Expr& e = t.expr(index);
            return say("{} + {}", "{} + {}", t.row(e.a, r), t.row(e.b, r));
        },
    .error = rules::of_sum,
    .elements = rules::same_of_both,
};
}  // namespace flashstep
