// Every element is one number.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kFill{
    .op = Op::Fill,
    .name = "constant",
    .operands = 0,
    .fits = rules::no_operand,
    .value = [](const ValueTerms& t) -> Matrix { return Matrix::Constant(t.e.rows, t.e.cols, t.e.number); },
    .symbols = [](const Explainer& x, const Expr& e, Index, Index) { return x.number(e.number); },
    .numbers = [](Explainer& x, const Expr& e, int, int) { return x.number(e.number); },
    .in_row = [](Teller& t, int index, int) -> Sentence { return t.number_of(index); },
    .told =
        [](Teller& t, int index, int) {
            const std::string name = t.target_name();
            return say("{} starts at {}", "{} 从 {} 开始", name, t.number_of(index));
        },
    .error = rules::exact,
    .elements = rules::no_elements,
};
}  // namespace flashstep
