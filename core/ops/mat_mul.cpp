// Matrix product. 16-bit formats round both operands first, as tensor cores take them; sums are in fp32.
#include "core/ops/rules.h"

namespace flashstep {

namespace {

// Sums in order of the inner index, so that every compiler gives the same bits.
Matrix product(const Matrix& a, const Matrix& b, const Task& task) {
    Matrix result = Matrix::Zero(a.rows(), b.cols());
    Pace pace(task);
    for (Eigen::Index r = 0; r < a.rows(); ++r)
        for (Eigen::Index k = 0; k < a.cols(); ++k) {
            const double factor = a(r, k);
            for (Eigen::Index c = 0; c < b.cols(); ++c) result(r, c) += factor * b(k, c);
            pace.did(b.cols());
        }
    return result;
}

}  // namespace

const Operation kMatMul{
    .op = Op::MatMul,
    .name = "matrix product",
    .operands = 2,
    .fits = [](const Expr& e, const Expr& a,
               const Expr& b) { return a.cols == b.rows && e.rows == a.rows && e.cols == b.cols; },
    .value = [](const ValueTerms& t) -> Matrix {
        if (!is_16_bit(t.problem.dtype)) return product(t.a, t.b, t.task);
        Matrix left = t.a, right = t.b;
        round_all(left, t.problem.dtype, t.task);
        round_all(right, t.problem.dtype, t.task);
        return product(left, right, t.task);
    },
    .cost = [](Shape a, Shape b) { return Cost{.matmul = 2 * rules::size(a) * b.cols}; },
    .symbols = [](const Explainer& x, const Expr& e, Index r,
                  Index c) { return "\\sum_k " + x.symbols(e.a, r, kRunning) + " " + x.symbols(e.b, kRunning, c); },
    .numbers =
        [](Explainer& x, const Expr& e, int r, int c) {
            return x.list(x.expr(e.a).cols, " + ",
                          [&](int k) { return x.factor(e.a, r, k) + " \\cdot " + x.factor(e.b, k, c); });
        },
    .form = Form::Sum,
    .many_terms = true,
    .in_row =
        [](Teller& t, int index, int r) {
            const Expr& e = t.expr(index);
            return say("{} {}", "{} {}", t.names(e.a, r), t.names(e.b, r));
        },
    .error = [](const ErrorTerms& t) -> ErrorArray {
        const ErrorArray scale = product(t.A() + t.Ea, t.B(), t.task) + product(t.A(), t.Eb, t.task);
        return scale + underflow(scale);
    },
    .elements =
        [](const Expr&, Shape a, int r, int c) {
            std::vector<Element> all;
            for (int k = 0; k < a.cols; ++k) {
                all.push_back({Element::A, r, k});
                all.push_back({Element::B, k, c});
            }
            return all;
        },
    .overflow = rules::kSumOverflows,
};
}  // namespace flashstep
