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
    .in_row = [](Teller& t, int index, int r) -> Sentence {
        const Expr& e = t.expr(index);
        return t.is_column(index) && !t.only_names() ? t.node(index, r) : t.name(e.version, Use::Operand);
    },
    .told =
        [](Teller& t, int index, int r) {
            const std::string name = t.target_name(), of = t.name(t.expr(index).version, Use::Operand);
            if (!t.is_column(index)) return say("{} takes the values of {}", "{} 取 {} 的值", name, of);
            return say("{} keeps {}, the value of {}", "{0} 记下 {2} 的值 {1}", name, t.cell(r, 0), of);
        },
    .error = rules::exact,
    .elements = rules::no_elements,
};
}  // namespace flashstep
