// e^A, guarding nothing.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kExp{
    .op = Op::Exp,
    .name = "exp",
    .operands = 1,
    .fits = rules::like_a,
    .value = [](const ValueTerms& t) -> Matrix { return rules::map(t, [](double x) { return std::exp(x); }); },
    .cost = [](Shape a, Shape) { return Cost{.other = rules::size(a), .exp = rules::size(a)}; },
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return fmt::format("e^{{{}}}", x.symbols(e.a, r, c)); },
    .numbers = [](Explainer& x, const Expr& e, int r, int c) { return fmt::format("e^{{{}}}", x.numbers(e.a, r, c)); },
    .in_row = [](Teller& t, int index, int r) -> Sentence {
        const int a = t.expr(index).a;
        if (!t.is_column(index) || t.only_names()) return "$e^{" + in_formula(t.names(a, r)) + "}$";
        return "$e^{" + t.power(a, r) + "}$";
    },
    .error = [](const ErrorTerms& t) -> ErrorArray { return t.value() * (1 + t.Ea) + underflow(power_of(t.a)); },
    .elements = rules::same_of_a,
    .overflow = rules::kPowerOverflows,
};
}  // namespace flashstep
