// Natural logarithm.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kLog{
    .op = Op::Log,
    .name = "log",
    .operands = 1,
    .fits = rules::like_a,
    .value = [](const ValueTerms& t) -> Matrix { return rules::map(t, [](double x) { return std::log(x); }); },
    .cost = rules::one_each,
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return "\\log(" + x.symbols(e.a, r, c) + ")"; },
    .numbers = [](Explainer& x, const Expr& e, int r, int c) { return "\\log(" + x.numbers(e.a, r, c) + ")"; },
    .in_row =
        [](Teller& t, int index, int r) {
            const Sentence of = t.factor(t.expr(index).a, r);
            return say("log {}", "log {}", of);
        },
    .error = [](const ErrorTerms& t) -> ErrorArray { return finite(t.Ea / t.A()) + t.value(); },
    .elements = rules::same_of_a,
    // The sum of a row that sees no key is 0.
    .meant = [](const Expr&, const Problem&, const Matrix& a, int r, int c) { return a(r, c) == 0; },
};
}  // namespace flashstep
