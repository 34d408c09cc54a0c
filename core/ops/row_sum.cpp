// The sum of each row, as a column.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kRowSum{
    .op = Op::RowSum,
    .name = "rowsum",
    .operands = 1,
    .fits = rules::column_of_a,
    .value = [](const ValueTerms& t) -> Matrix {
        return rules::fold_rows(t, 0, [](double x, double y) { return x + y; });
    },
    .cost = rules::one_each,
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index) { return "\\sum_k " + x.factor(e.a, r, kRunning); },
    .numbers =
        [](Explainer& x, const Expr& e, int r, int) {
            return x.list(x.expr(e.a).cols, " + ", [&](int k) { return wrapped(x.numbers(e.a, r, k)); });
        },
    .form = Form::Sum,
    .many_terms = true,
    .error = [](const ErrorTerms& t) -> ErrorArray { return (t.Ea + t.A()).rowwise().sum(); },
    .elements = rules::row_of_a,
    .overflow = rules::kSumOverflows,
};
}  // namespace flashstep
