// A square matrix with the row A on its diagonal.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kDiagMatrix{
    .op = Op::DiagMatrix,
    .name = "diagonal matrix",
    .operands = 1,
    .fits = [](const Expr& e, const Expr& a,
               const Expr&) { return a.rows == 1 && e.rows == a.cols && e.cols == a.cols; },
    .value = [](const ValueTerms& t) -> Matrix { return Matrix(t.a.row(0).asDiagonal()); },
    .symbols = [](const Explainer& x, const Expr& e, Index,
                  Index c) { return "\\mathrm{diag}(" + x.symbols(e.a, Index{}, c) + ")"; },
    .numbers = [](Explainer& x, const Expr& e, int r,
                  int c) { return r == c ? x.numbers(e.a, 0, c) : std::string("0"); },
    .in_row =
        [](Teller& t, int index, int r) {
            const Sentence of = t.names(t.expr(index).a, r);
            return say("diag({})", "diag({})", of);
        },
    .error = [](const ErrorTerms& t) -> ErrorArray { return Matrix(t.Ea.matrix().row(0).asDiagonal()).array(); },
    .elements =
        [](const Expr&, Shape, int, int c) {
            return std::vector<Element>{{Element::A, 0, c}};
        },
};
}  // namespace flashstep
