// A with zero rows below.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kPadRows{
    .op = Op::PadRows,
    .name = "padding",
    .operands = 1,
    .fits = [](const Expr& e, const Expr& a, const Expr&) { return e.rows >= a.rows && e.cols == a.cols; },
    .value = [](const ValueTerms& t) -> Matrix {
        Matrix result = Matrix::Zero(t.e.rows, t.e.cols);
        result.topRows(t.a.rows()) = t.a;
        return result;
    },
    .symbols = rules::symbols_of_a,
    .numbers = [](Explainer& x, const Expr& e, int r,
                  int c) { return r < x.expr(e.a).rows ? x.numbers(e.a, r, c) : std::string("0"); },
    .in_row =
        [](Teller& t, int index, int r) {
            const Expr& e = t.expr(index);
            const int a = e.a;
            const Sentence of = t.names(a, std::min(r, t.expr(a).rows - 1));
            return say("{} and rows of zeros", "{} 补零行", of);
        },
    .error = [](const ErrorTerms& t) -> ErrorArray {
        ErrorArray scale = ErrorArray::Zero(t.rows(), t.cols());
        scale.topRows(t.Ea.rows()) = t.Ea;
        return scale;
    },
    .elements =
        [](const Expr&, Shape a, int r, int c) {
            return r < a.rows ? std::vector<Element>{{Element::A, r, c}} : std::vector<Element>{};
        },
};
}  // namespace flashstep
