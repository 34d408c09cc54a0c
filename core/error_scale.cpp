// Running error bounds.
#include "core/error_scale.h"

#include <cmath>
#include <limits>

#include "core/compare.h"

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

// E of values that are rounded to a 16-bit format: a value whose error reaches over a rounding boundary may come out on
// either side of it, any other comes out exactly.
Array rounded_scale(const Matrix& values, const Array& scale, DType format) {
    Array result = Array::Zero(values.rows(), values.cols());
    for (Eigen::Index k = 0; k < values.size(); ++k) {
        const double value = values.data()[k], error = kToleranceFactor * kEps32 * scale.data()[k];
        const double spread = round_to(value + error, format) - round_to(value - error, format);
        if (std::isfinite(spread)) result.data()[k] = spread / (kToleranceFactor * kEps32);
    }
    return result;
}

// What a result below fp32's normal range may lose, be it that a device flushes it to zero: the smallest normal number.
// Only products and powers get there, and only where they are not zero by definition.
Array underflow(const Array& unrounded) {
    constexpr double kLoss = std::numeric_limits<float>::min() / (kToleranceFactor * kEps32);
    return (unrounded != 0.0).select(kLoss, Array::Zero(unrounded.rows(), unrounded.cols()));
}

// Not zero where e^x is not: everywhere but at minus infinity.
Array power_of(const Matrix& x) { return (x.array() == -kInf).select(0.0, Array::Ones(x.rows(), x.cols())); }

bool is_16_bit(DType format) { return format == DType::Fp16 || format == DType::Bf16; }

}  // namespace

const Matrix& ErrorScale::of(int version) {
    Matrix& scale = known_[version];
    if (scale.size() > 0) return scale;
    const Version& v = trace_.versions[version];
    const Tensor& tensor = trace_.tensors[v.tensor];
    Known known = evaluate(v.expr);
    const bool stored_16_bit = tensor.space == Space::Hbm && tensor.element_bytes == 2;
    if (stored_16_bit && trace_.exprs[v.expr].op != Op::Input)
        known.scale = rounded_scale(known.value, known.scale.array(), trace_.problem.dtype).matrix();
    return scale = std::move(known.scale);
}

ErrorScale::Known ErrorScale::evaluate(int index) {
    const Expr& e = trace_.exprs[index];
    if (e.op == Op::Leaf) return {trace_.value(trace_.versions[e.version]), of(e.version)};
    if (e.op == Op::Input) return {{}, Matrix::Zero(e.rows, e.cols)};
    if (e.op == Op::Fill) return {apply(e, nullptr, nullptr, trace_.problem), Matrix::Zero(e.rows, e.cols)};

    Known a = evaluate(e.a), b = e.b >= 0 ? evaluate(e.b) : Known{};
    Known result{apply(e, &a.value, e.b >= 0 ? &b.value : nullptr, trace_.problem), {}};
    if (e.op == Op::MatMul && is_16_bit(trace_.problem.dtype))  // tensor cores take 16-bit operands
        for (Known* operand : {&a, &b}) {
            operand->scale = rounded_scale(operand->value, operand->scale.array(), trace_.problem.dtype).matrix();
            round_all(operand->value, trace_.problem.dtype);
        }
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
            scale += underflow(scale);
            break;
        case Op::Scale:
            scale = std::abs(e.number) * Ea + value + underflow(std::abs(e.number) * A);
            break;
        case Op::Add:
        case Op::Sub:
            scale = Ea + spread(Eb, rows, cols) + value;
            break;
        case Op::Mul:
            scale = Ea * spread(B, rows, cols) + A * spread(Eb, rows, cols) + value;
            scale += underflow(A * spread(B, rows, cols));
            break;
        case Op::DiagMul:
            scale = spread(Ea, rows, cols) * B + spread(A, rows, cols) * Eb + value;
            scale += underflow(spread(A, rows, cols) * B);
            break;
        case Op::Div: {
            const Array divisor = spread(B, rows, cols);
            scale = finite((Ea + value * spread(Eb, rows, cols)) / divisor) + value + underflow(A);
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
            scale = value * (1 + exponent + Ea + spread(Eb, rows, cols)) + underflow(power_of(a.value));
            break;
        }
        case Op::Exp2Diff: {
            constexpr double kLn2 = 0.6931471805599453;
            const Array exponent = finite(a.value.array() - spread(b.value.array(), rows, cols)).abs();
            scale = value * (1 + kLn2 * (exponent + Ea + spread(Eb, rows, cols))) + underflow(power_of(a.value));
            break;
        }
        case Op::Exp:
            scale = value * (1 + Ea) + underflow(power_of(a.value));
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
