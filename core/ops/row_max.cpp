// The largest of each row, as a column.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kRowMax{
    .op = Op::RowMax,
    .name = "rowmax",
    .operands = 1,
    .fits = rules::column_of_a,
    .value = [](const ValueTerms& t) -> Matrix { return rules::fold_rows(t, -kInf, rules::max_of); },
    .cost = rules::one_each,
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index) { return "\\max_k " + x.symbols(e.a, r, kRunning); },
    .numbers =
        [](Explainer& x, const Expr& e, int r, int) {
            return "\\max(" + x.list(x.expr(e.a).cols, ", ", [&](int k) { return x.numbers(e.a, r, k); }) + ")";
        },
    .many_terms = true,
    .error = [](const ErrorTerms& t) -> ErrorArray { return t.Ea.rowwise().maxCoeff(); },
    .elements = rules::row_of_a,
};
}  // namespace flashstep
