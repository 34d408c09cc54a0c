// The arithmetic of the mirror.
#include "core/expr.h"

#include <algorithm>
#include <cmath>

namespace flashstep {
namespace {

// e^(a - b) where two minus infinities give 0: a row that has seen no key yet weighs nothing.
double exp_diff_of(double a, double b) { return a == -kInf && b == -kInf ? 0.0 : std::exp(a - b); }

double exp2_diff_of(double a, double b) { return a == -kInf && b == -kInf ? 0.0 : std::exp2(a - b); }

double inverse_of(double a) { return a == 0 ? 0.0 : 1.0 / a; }

template <typename F>
Matrix map(const Matrix& a, F f) {
    Matrix result(a.rows(), a.cols());
    for (Eigen::Index k = 0; k < a.size(); ++k) result.data()[k] = f(a.data()[k]);
    return result;
}

// f(a[r, c], b[r, c]); b may be a column or a row.
template <typename F>
Matrix zip(const Matrix& a, const Matrix& b, F f) {
    Matrix result(a.rows(), a.cols());
    const bool column = b.cols() == 1 && a.cols() != 1, row = b.rows() == 1 && a.rows() != 1;
    for (Eigen::Index r = 0; r < a.rows(); ++r)
        for (Eigen::Index c = 0; c < a.cols(); ++c) result(r, c) = f(a(r, c), b(row ? 0 : r, column ? 0 : c));
    return result;
}

// std::max drops a NaN that stands second; a NaN has to be seen, so it wins here.
double max_of(double a, double b) { return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b); }

Matrix fold_rows(const Matrix& a, double start, double (*f)(double, double)) {
    Matrix result(a.rows(), 1);
    for (Eigen::Index r = 0; r < a.rows(); ++r) {
        double value = start;
        for (Eigen::Index c = 0; c < a.cols(); ++c) value = f(value, a(r, c));
        result(r, 0) = value;
    }
    return result;
}

// Sums in order of the inner index, so that every compiler gives the same bits.
Matrix product(const Matrix& a, const Matrix& b) {
    Matrix result = Matrix::Zero(a.rows(), b.cols());
    for (Eigen::Index r = 0; r < a.rows(); ++r)
        for (Eigen::Index k = 0; k < a.cols(); ++k) {
            const double factor = a(r, k);
            for (Eigen::Index c = 0; c < b.cols(); ++c) result(r, c) += factor * b(k, c);
        }
    return result;
}

Matrix exact(const Expr& e, const Matrix* a, const Matrix* b, const Problem& p) {
    switch (e.op) {
        case Op::Leaf:
        case Op::Input:
            return *a;
        case Op::Fill:
            return Matrix::Constant(e.rows, e.cols, e.number);
        case Op::Transpose:
            return a->transpose();
        case Op::MatMul: {
            if (p.dtype != DType::Fp16 && p.dtype != DType::Bf16) return product(*a, *b);
            Matrix left = *a, right = *b;
            round_all(left, p.dtype);
            round_all(right, p.dtype);
            return product(left, right);
        }
        case Op::Scale:
            return map(*a, [&](double x) { return e.number * x; });
        case Op::Add:
            return zip(*a, *b, [](double x, double y) { return x + y; });
        case Op::Sub:
            return zip(*a, *b, [](double x, double y) { return x - y; });
        case Op::Mul:
            return zip(*a, *b, [](double x, double y) { return x * y; });
        case Op::Div:
            return zip(*a, *b, [](double x, double y) { return y == 0 ? 0.0 : x / y; });
        case Op::Max:
            return zip(*a, *b, max_of);
        case Op::ExpDiff:
            return zip(*a, *b, exp_diff_of);
        case Op::Exp2Diff:
            return zip(*a, *b, exp2_diff_of);
        case Op::RowMax:
            return fold_rows(*a, -kInf, max_of);
        case Op::RowSum:
            return fold_rows(*a, 0, [](double x, double y) { return x + y; });
        case Op::Exp:
            return map(*a, [](double x) { return std::exp(x); });
        case Op::Reciprocal:
            return map(*a, [](double x) { return 1.0 / x; });
        case Op::Replace:
            return map(*a, [&](double x) { return x == -kInf ? e.number : x; });
        case Op::ToHalf:
            return map(*a, [](double x) { return round_to(x, DType::Fp16); });
        case Op::PadRows: {
            Matrix result = Matrix::Zero(e.rows, e.cols);
            result.topRows(a->rows()) = *a;
            return result;
        }
        case Op::Part:
            return a->block(e.row0, e.col0, e.rows, e.cols);
        case Op::Stack: {
            Matrix result(e.rows, e.cols);
            result << *a, *b;
            return result;
        }
        case Op::DiagMatrix:
            return Matrix(a->row(0).asDiagonal());
        case Op::Log:
            return map(*a, [](double x) { return std::log(x); });
        case Op::Inverse:
            return map(*a, inverse_of);
        case Op::DiagMul:
            return zip(*b, *a, [](double x, double factor) { return factor * x; });
        case Op::Mask: {
            Matrix result = *a;
            for (Eigen::Index r = 0; r < a->rows(); ++r)
                for (Eigen::Index c = 0; c < a->cols(); ++c)
                    if (!p.visible(e.row0 + static_cast<int>(r), e.col0 + static_cast<int>(c))) result(r, c) = -kInf;
            return result;
        }
    }
    return {};
}

}  // namespace

Matrix apply(const Expr& expr, const Matrix* a, const Matrix* b, const Problem& problem) {
    Matrix result = exact(expr, a, b, problem);
    if (problem.dtype != DType::Exact) round_all(result, DType::Fp32);
    return result;
}

}  // namespace flashstep
