// A o B, element by element.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kMul{
    .op = Op::Mul,
    .name = "element-wise product",
    .operands = 2,
    .fits = rules::like_a_spread_b,
    .value = [](const ValueTerms& t) -> Matrix { return rules::zip(t, [](double x, double y) { return x * y; }); },
    .cost = rules::one_each,
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return x.factor(e.a, r, c) + " " + x.factor_of_b(e, r, c); },
    .numbers = [](Explainer& x, const Expr& e, int r,
                  int c) { return x.factor(e.a, r, c) + " \\cdot " + x.factor_of_b(e, r, c); },
    .in_row =
        [](Teller& t, int index, int r) {
            const Expr& e = t.expr(index);
            return say("{} ∘ {}", "{} ∘ {}", t.factor(e.a, r), t.factor(e.b, r));
        },
    .error = [](const ErrorTerms& t) -> ErrorArray {
        const ErrorArray A = t.A(), B = t.spread(t.B());
        return t.Ea * B + A * t.spread(t.Eb) + t.value() + underflow(A * B);
    },
    .elements = rules::same_of_both,
};
}  // namespace flashstep
