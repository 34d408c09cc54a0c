// A rounded to fp16.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kToHalf{
    .op = Op::ToHalf,
    .name = "fp16",
    .operands = 1,
    .fits = rules::like_a,
    .value = [](const ValueTerms& t) -> Matrix {
        return rules::map(t, [](double x) { return round_to(x, DType::Fp16); });
    },
    .symbols = rules::symbols_of_a,
    .numbers = rules::numbers_of_a,
    .in_row =
        [](Teller& t, int index, int r) {
            const Sentence of = t.row(t.expr(index).a, r);
            return say("{} rounded to half precision", "{} 舍入到半精度", of);
        },
    .error = [](const ErrorTerms& t) -> ErrorArray { return t.Ea + t.value(); },
    .elements = rules::same_of_a,
};
}  // namespace flashstep
