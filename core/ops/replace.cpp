// A, and a number where A is minus infinity: a guard.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kReplace{
    .op = Op::Replace,
    .name = "guard",
    .operands = 1,
    .fits = rules::like_a,
    .value = [](const ValueTerms& t) -> Matrix {
        return rules::map(t, [&](double x) { return x == -kInf ? t.e.number : x; });
    },
    .symbols = rules::symbols_of_a,
    .numbers = [](Explainer& x, const Expr& e, int r,
                  int c) { return x.value(e.a, r, c) == -kInf ? x.number(e.number) : x.numbers(e.a, r, c); },
    .in_row = rules::a_in_row,
    .error = rules::as_a,
    .elements = rules::same_of_a,
};
}  // namespace flashstep
