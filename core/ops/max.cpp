// The larger of two, element by element.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kMax{
    .op = Op::Max,
    .name = "max",
    .operands = 2,
    .fits = rules::like_a_spread_b,
    .value = [](const ValueTerms& t) -> Matrix { return rules::zip(t, rules::max_of); },
    .cost = rules::one_each,
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return "\\max(" + x.symbols(e.a, r, c) + ", " + x.symbols_of_b(e, r, c) + ")"; },
    .numbers = [](Explainer& x, const Expr& e, int r,
                  int c) { return "\\max(" + x.numbers(e.a, r, c) + ", " + x.numbers_of_b(e, r, c) + ")"; },
    .in_row =
        [](Teller& t, int index, int r) {
            const Expr& e = t.expr(index);
            return say("max({}, {})", "max({}, {})", t.row(e.a, r), t.row(e.b, r));
        },
    .told = [](Teller& t, int index, int r) -> Sentence {
        const int a = t.expr(index).a;
        const std::string name = t.target_name();
        const double before = t.value(a, r), now = t.value(index, r);
        if (!t.is_column(index) || std::isnan(now)) return told_by_formula(t, index, r);
        if (before == now) return say("{} stays {}", "{} 仍为 {}", name, t.cell(r, 0));
        if (before == -kInf)
            return say("{} is {}, the first maximum", "{} 为 {}，这是第一个最大值", name, t.cell(r, 0));
        return say("{} rises from {} to {}", "{} 从 {} 升到 {}", name, t.node(a, r), t.cell(r, 0));
    },
    .telling =
        [](Teller& t, int index, int r) {
            const double before = t.value(t.expr(index).a, r);
            return t.is_column(index) && std::isfinite(before) && t.value(index, r) > before;
        },
    .error = [](const ErrorTerms& t) -> ErrorArray { return t.Ea.max(t.spread(t.Eb)); },
    .elements = rules::same_of_both,
};
}  // namespace flashstep
