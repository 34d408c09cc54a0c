// Given, not computed. It is read through a leaf of its version.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kInput{
    .op = Op::Input,
    .name = "input",
    .operands = 0,
    .fits = rules::no_operand,
    .value = [](const ValueTerms& t) -> Matrix { return t.a; },
    .symbols =
        [](const Explainer& x, const Expr&, Index, Index) {
            return x.words({"given", "给定"});
        },
    .numbers = [](Explainer& x, const Expr&, int, int) { return x.number(std::nan("")); },
    .in_row = [](Teller&, int, int) { return Sentence("given", "给定"); },
    .error = rules::exact,
    .elements = rules::no_elements,
};
}  // namespace flashstep
