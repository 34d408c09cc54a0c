// A above B.
#include "core/ops/rules.h"

namespace flashstep {

const Operation kStack{
    .op = Op::Stack,
    .name = "stack",
    .operands = 2,
    .fits =
        [](const Expr& e, const Expr& a, const Expr& b) {
            return e.cols == a.cols && e.cols == b.cols && e.rows == std::int64_t{a.rows} + b.rows;
        },
    .value = [](const ValueTerms& t) -> Matrix {
        Matrix result(t.e.rows, t.e.cols);
        result << t.a, t.b;
        return result;
    },
    .symbols =
        [](const Explainer& x, const Expr& e, Index r, Index c) {
            const int above = x.expr(e.a).rows;
            return r.value < above ? x.symbols(e.a, r, c) : x.symbols(e.b, r.moved(-above), c);
        },
    .numbers =
        [](Explainer& x, const Expr& e, int r, int c) {
            const int above = x.expr(e.a).rows;
            return r < above ? x.numbers(e.a, r, c) : x.numbers(e.b, r - above, c);
        },
    .in_row =
        [](Teller& t, int index, int r) {
            const Expr& e = t.expr(index);
            const int above = t.expr(e.a).rows;
            return r < above ? t.row(e.a, r) : t.row(e.b, r - above);
        },
    .told =
        [](Teller& t, int index, int r) {
            const std::string name = t.target_name();
            const Expr& e = t.expr(index);
            const Sentence below = t.names(e.b, r);
            return say("the rows of {} join {}", "{} 的行并入 {}", below, name);
        },
    .error = [](const ErrorTerms& t) -> ErrorArray {
        ErrorArray scale(t.rows(), t.cols());
        scale << t.Ea, t.Eb;
        return scale;
    },
    .elements =
        [](const Expr&, Shape a, int r, int c) {
            return std::vector<Element>{r < a.rows ? Element{Element::A, r, c} : Element{Element::B, r - a.rows, c}};
        },
};
}  // namespace flashstep
