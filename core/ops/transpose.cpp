// A^T.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kTranspose{
    .op = Op::Transpose,
    .name = "transpose",
    .operands = 1,
    .fits = [](const Expr& e, const Expr& a, const Expr&) { return e.rows == a.cols && e.cols == a.rows; },
    .value = [](const ValueTerms& t) -> Matrix {
        Matrix result(t.a.cols(), t.a.rows());
        Pace pace(t.task);
        for (Eigen::Index c = 0; c < t.a.cols(); ++c) {
            result.row(c) = t.a.col(c).transpose();
            pace.did(t.a.rows());
        }
        return result;
    },
    .symbols = [](const Explainer& x, const Expr& e, Index r, Index c) { return x.symbols(e.a, c, r); },
    .numbers = [](Explainer& x, const Expr& e, int r, int c) { return x.numbers(e.a, c, r); },
    .form = Form::AsOperand,
    .in_row =
        [](Teller& t, int index, int r) {
            Sentence of = t.names(t.expr(index).a, r);
            if (!of.en.ends_with('$')) return say("({})$^\\top$", "({})$^\\top$", of);
            of.en.pop_back();
            return Sentence(of.en + "^\\top$");
        },
    .error = [](const ErrorTerms& t) -> ErrorArray { return t.Ea.transpose(); },
    .elements =
        [](const Expr&, Shape, int r, int c) {
            return std::vector<Element>{{Element::A, c, r}};
        },
};
}  // namespace flashstep
