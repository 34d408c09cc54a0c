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
    .in_row = [](Teller& t, int index, int r) -> Sentence {
        return t.only_names() ? say("rowmax({})", "rowmax({})", t.names(t.expr(index).a, r))
                              : Sentence(t.node(index, r));
    },
    .told =
        [](Teller& t, int index, int r) {
            const std::string name = t.target_name();
            const Sentence of = t.names(t.expr(index).a, r);
            return say("{}, the largest of {}, is {}", "{} 是 {} 中最大的，为 {}", name, of, t.cell(r, 0));
        },
    .error = [](const ErrorTerms& t) -> ErrorArray { return t.Ea.rowwise().maxCoeff(); },
    .elements = rules::row_of_a,
};
}  // namespace flashstep
