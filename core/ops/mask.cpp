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
    .value = [](const Expr& e, const Matrix* a, const Matrix*, const Problem& p) -> Matrix {
        Matrix result = *a;
        for (int r = 0; r < e.rows; ++r)
            for (int c = 0; c < e.cols; ++c)
                if (!seen(e, p, r, c)) result(r, c) = -kInf;
        return result;
    },
    .symbols = rules::symbols_of_a,
    .numbers =
        [](Explainer& x, const Expr& e, int r, int c) {
            return seen(e, x.problem(), r, c) ? x.numbers(e.a, r, c)
                                              : std::string("\\mathrm{masked} \\rightarrow -\\infty");
        },
    .form = Form::AsOperand,
    .error = [](const ErrorTerms& t) -> ErrorArray { return (t.result.array() == -kInf).select(0.0, t.Ea); },
    .elements = rules::same_of_a,
    .meant = [](const Expr& e, const Problem& problem, const Matrix&, int r, int c) { return !seen(e, problem, r, c); },
};
}  // namespace flashstep
