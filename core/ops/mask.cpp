// A where the problem's mask shows the key, minus infinity elsewhere. A[0, 0] stands at (row0, col0) of the scores.
#include "core/ops/rules.h"

namespace flashstep {

namespace {

bool seen(const Expr& e, const Problem& problem, int r, int c) { return problem.visible(e.row0 + r, e.col0 + c); }

}  // namespace

const Operation kMask{
    .op = Op::Mask,
    .name = "mask",
    .operands = 1,
    .fits = rules::like_a,
    .value = [](const ValueTerms& t) -> Matrix {
        Matrix result = t.a;
        Pace pace(t.task);
        for (int r = 0; r < t.e.rows; ++r) {
            for (int c = 0; c < t.e.cols; ++c)
                if (!seen(t.e, t.problem, r, c)) result(r, c) = -kInf;
            pace.did(t.e.cols);
        }
        return result;
    },
    .symbols = rules::symbols_of_a,
    .numbers =
        [](Explainer& x, const Expr& e, int r, int c) {
            return seen(e, x.problem(), r, c) ? x.numbers(e.a, r, c)
                                              : x.words({"masked", "被掩码屏蔽"}) + " \\rightarrow -\\infty";
        },
    .form = Form::AsOperand,
    .in_row =
        [](Teller& t, int index, int r) {
            const Expr& e = t.expr(index);
            const Sentence a = t.row(e.a, r);
            int hidden = 0;
            for (int c = 0; c < e.cols; ++c) hidden += seen(e, t.trace().problem, r, c) ? 0 : 1;
            if (hidden == 0) return a;
            return say("{} ({} of {} keys hidden)", "{0}（{2} 个 key 中屏蔽 {1} 个）", a, t.count(hidden),
                       t.count(e.cols));
        },
    .error = [](const ErrorTerms& t) -> ErrorArray { return (t.result.array() == -kInf).select(0.0, t.Ea); },
    .elements = rules::same_of_a,
    .meant = [](const Expr& e, const Problem& problem, const Matrix&, int r, int c) { return !seen(e, problem, r, c); },
};
}  // namespace flashstep
