// A recorded version of a tensor.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kLeaf{
    .op = Op::Leaf,
    .name = "recorded value",
    .operands = 0,
    .fits = rules::no_operand,
    .value = [](const ValueTerms& t) -> Matrix { return t.a; },
    .symbols = [](const Explainer& x, const Expr& e, Index r, Index c) { return x.leaf(e, r, c); },
    .numbers = [](Explainer& x, const Expr& e, int r, int c) { return x.number(x.recorded(e, r, c)); },
    .error = rules::exact,
    .elements = rules::no_elements,
};
}  // namespace flashstep
