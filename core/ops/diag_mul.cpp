// diag(A) B with a column A: row r of B times A[r].
#include "core/ops/rules.h"

namespace flashstep {

const Operation kDiagMul{
    .op = Op::DiagMul,
    .name = "diagonal product",
    .operands = 2,
    .fits = [](const Expr& e, const Expr& a,
               const Expr& b) { return a.cols == 1 && a.rows == b.rows && e.rows == b.rows && e.cols == b.cols; },
    .value = [](const ValueTerms& t) -> Matrix {
        return rules::zip(t.b, t.a, t.task, [](double x, double factor) { return factor * x; });
    },
    .cost = [](Shape, Shape b) { return Cost{.other = rules::size(b)}; },
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return x.factor(e.a, r, Index{}) + " " + x.factor(e.b, r, c); },
    .numbers = [](Explainer& x, const Expr& e, int r,
                  int c) { return x.factor(e.a, r, 0) + " \\cdot " + x.factor(e.b, r, c); },
    .in_row =
        [](Teller& t, int index, int r) {
            const Expr& e = t.expr(index);
            return say("{} × {}", "{} × {}", t.factor(e.b, r), t.factor(e.a, r));
        },
    .error = [](const ErrorTerms& t) -> ErrorArray {
        const ErrorArray factor = t.spread(t.A()), B = t.B();
        return t.spread(t.Ea) * B + factor * t.Eb + t.value() + underflow(factor * B);
    },
    .elements =
        [](const Expr&, Shape, int r, int c) {
            return std::vector<Element>{{Element::A, r, 0}, {Element::B, r, c}};
        },
};
}  // namespace flashstep
