// Running error bounds.
#include "core/error_scale.h"

#include <cmath>

namespace flashstep {
namespace {

using Array = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A column or a row repeated to rows x cols.
Array spread(const Array& a, Eigen::Index rows, Eigen::Index cols) {
    return a.replicate(a.rows() == rows ? 1 : rows, a.cols() == cols ? 1 : cols);
}

// Infinities and NaN carry no error of their own: they are compared exactly.
Array finite(const Array& a) { return a.isFinite().select(a, 0.0); }

Array size_of(const Matrix& a) { return finite(a.array().abs()); }

}  // namespace

const Matrix& ErrorScale::of(int version) {
    Matrix& scale = known_[version];
    if (scale.size() == 0) scale = evaluate(trace_.versions[version].expr).scale;
    return scale;
}

ErrorScale::Known ErrorScale::evaluate(int index) {
    const Expr& e = trace_.exprs[index];
    if (e.op == Op::Leaf) return {trace_.value(trace_.versions[e.version]), of(e.version)};
    if (e.op == Op::Input) return {{}, Matrix::Zero(e.rows, e.cols)};
    if (e.op == Op::Fill) return {apply(e, nullptr, nullptr, trace_.problem), Matrix::Zero(e.rows, e.cols)};

    const Known a = evaluate(e.a), b = e.b >= 0 ? evaluate(e.b) : Known{};
    Known result{apply(e, &a.value, e.b >= 0 ? &b.value : nullptr, trace_.problem), {}};
    const Array value = size_of(result.value), A = size_of(a.value), Ea = a.scale.array();
    const Array B = size_of(b.value), Eb = b.scale.array();
    const Eigen::Index rows = e.rows, cols = e.cols;
    Array scale;
    switch (e.op) {
        case Op::Leaf:
        case Op::Input:
        case Op::Fill:
            break;
        case Op::Transpose:
            scale = Ea.transpose();
            break;
        case Op::MatMul:
            scale = (A + Ea).matrix() * B.matrix();
            scale += (A.matrix() * Eb.matrix()).array();
            break;
        case Op::Scale:
            scale = std::abs(e.number) * Ea + value;
            break;
        case Op::Add:
        case Op::Sub:
            scale = Ea + spread(Eb, rows, cols) + value;
            break;
        case Op::Mul:
            scale = Ea * spread(B, rows, cols) + A * spread(Eb, rows, cols) + value;
            break;
        case Op::DiagMul:
            scale = spread(Ea, rows, cols) * B + spread(A, rows, cols) * Eb + value;
            break;
        case Op::Div: {
            const Array divisor = spread(B, rows, cols);
            scale = finite((Ea + value * spread(Eb, rows, cols)) / divisor) + value;
            break;
        }
        case Op::Max:
            scale = Ea.max(spread(Eb, rows, cols));
            break;
        case Op::RowMax:
            scale = Ea.rowwise().maxCoeff();
            break;
        case Op::RowSum:
            scale = (Ea + A).rowwise().sum();
            break;
        case Op::ExpDiff: {
            const Array exponent = finite(a.value.array() - spread(b.value.array(), rows, cols)).abs();
            scale = value * (1 + exponent + Ea + spread(Eb, rows, cols));
            break;
        }
        case Op::Exp2Diff: {
            constexpr double kLn2 = 0.6931471805599453;
            const Array exponent = finite(a.value.array() - spread(b.value.array(), rows, cols)).abs();
            scale = value * (1 + kLn2 * (exponent + Ea + spread(Eb, rows, cols)));
            break;
        }
        case Op::Exp:
            scale = value * (1 + Ea);
            break;
        case Op::Reciprocal:
            scale = value * value * Ea + value;
            break;
        case Op::Replace:
            scale = Ea;
            break;
        case Op::ToHalf:
            scale = Ea + value;
            break;
        case Op::PadRows:
            scale = Array::Zero(rows, cols);
            scale.topRows(Ea.rows()) = Ea;
            break;
        case Op::Part:
            scale = Ea.block(e.row0, e.col0, rows, cols);
            break;
        case Op::Stack:
            scale.resize(rows, cols);
            scale << Ea, Eb;
            break;
        case Op::DiagMatrix:
            scale = Matrix(a.scale.row(0).asDiagonal()).array();
            break;
        case Op::Log:
            scale = finite(Ea / A) + value;
            break;
        case Op::Inverse:
            scale = value * value * Ea + value;
            break;
        case Op::Mask:
            scale = (result.value.array() == -kInf).select(0.0, Ea);
            break;
    }
    result.scale = scale.matrix();
    return result;
}

}  // namespace flashstep
