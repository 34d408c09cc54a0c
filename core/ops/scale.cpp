// A number times A.
#include <numbers>

#include "core/ops/rules.h"

namespace flashstep {

namespace {

// The number by the name that the papers give it.
std::string factor_name(const Explainer& x, double number) {
    const double tau = x.problem().scale;
    if (number == tau) return "\\tau";
    if (number == tau * std::numbers::log2e) return "(\\tau \\log_2 e)";
    if (number == std::numbers::log2e) return "\\log_2 e \\cdot";
    if (number == std::numbers::ln2) return "\\ln 2 \\cdot";
    return x.number(number);
}

}  // namespace

const Operation kScale{
    .op = Op::Scale,
    .name = "scale",
    .operands = 1,
    .fits = rules::like_a,
    .value = [](const ValueTerms& t) -> Matrix { return rules::map(t, [&](double x) { return t.e.number * x; }); },
    .cost = rules::one_each,
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return factor_name(x, e.number) + " " + x.factor(e.a, r, c); },
    .numbers = [](Explainer& x, const Expr& e, int r,
                  int c) { return x.number(e.number) + " \\cdot " + x.factor(e.a, r, c); },
    .in_row =
        [](Teller& t, int index, int r) {
            const int a = t.expr(index).a;
            const Sentence of = t.factor(a, r);
            return say("{} × {}", "{} × {}", t.number_of(index), of);
        },
    .error = [](const ErrorTerms& t) -> ErrorArray {
        const double factor = std::abs(t.e.number);
        return factor * t.Ea + t.value() + underflow(factor * t.A());
    },
    .elements = rules::same_of_a,
};
}  // namespace flashstep
