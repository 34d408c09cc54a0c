// Some rows and columns of A, from (row0, col0) on.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kPart{
    .op = Op::Part,
    .name = "part",
    .operands = 1,
    .fits = [](const Expr& e, const Expr& a,
               const Expr&) { return e.rows <= a.rows - e.row0 && e.cols <= a.cols - e.col0; },
    .value = [](const ValueTerms& t) -> Matrix { return t.a.block(t.e.row0, t.e.col0, t.e.rows, t.e.cols); },
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return x.symbols(e.a, r.moved(e.row0), c.moved(e.col0)); },
    .numbers = [](Explainer& x, const Expr& e, int r, int c) { return x.numbers(e.a, r + e.row0, c + e.col0); },
    .form = Form::AsOperand,
    .in_row =
        [](Teller& t, int index, int r) {
            const Expr& e = t.expr(index);
            return t.row(e.a, r + e.row0);
        },
    .told =
        [](Teller& t, int index, int r) {
            const std::string name = t.target_name();
            const Expr& e = t.expr(index);
            const Sentence of = t.names(e.a, r + e.row0);
            return say("{} takes its rows of {}, from row {} on", "{} 取 {} 中归它的行，从第 {} 行起", name, of,
                       t.count(e.row0 + 1));
        },
    .error = [](const ErrorTerms& t) -> ErrorArray { return t.Ea.block(t.e.row0, t.e.col0, t.rows(), t.cols()); },
    .elements =
        [](const Expr& e, Shape, int r, int c) {
            return std::vector<Element>{{Element::A, r + e.row0, c + e.col0}};
        },
};
}  // namespace flashstep
