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
    .in_row = [](Teller& t, int index, int r) -> Sentence {
        return t.only_names() ? say("rowsum({})", "rowsum({})", t.names(t.expr(index).a, r))
                              : Sentence(t.node(index, r));
    },
    .told =
        [](Teller& t, int index, int r) {
            const std::string name = t.target_name();
            const Sentence of = t.names(t.expr(index).a, r);
            return say("{}, the sum of {}, is {}", "{} 是 {} 的和，为 {}", name, of, t.cell(r, 0));
        },
    .error = [](const ErrorTerms& t) -> ErrorArray { return (t.Ea + t.A()).rowwise().sum(); },
    .elements = rules::row_of_a,
    .overflow = rules::kSumOverflows,
};
}  // namespace flashstep
