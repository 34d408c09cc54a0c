// Running error bounds.
#include "core/error_scale.h"

#include <cmath>

#include "core/ops/operation.h"

namespace flashstep {
namespace {

// E of values that are rounded to a 16-bit format: a value whose error reaches over a rounding boundary may come out on
// either side of it, any other comes out exactly.
ErrorArray rounded_scale(const Matrix& values, const ErrorArray& scale, DType format, const Task& task) {
    Pace pace(task);
    ErrorArray result = ErrorArray::Zero(values.rows(), values.cols());
    for (Eigen::Index k = 0; k < values.size(); ++k) {
        const double value = values.data()[k], error = kToleranceFactor * kEps32 * scale.data()[k];
        const double spread = round_to(value + error, format) - round_to(value - error, format);
        pace.did(1);
        if (std::isfinite(spread)) result.data()[k] = spread / (kToleranceFactor * kEps32);
    }
    return result;
}

}  // namespace

const Matrix& ErrorScale::of(int version) {
    Matrix& scale = known_[version];
    if (scale.size() > 0) return scale;
    const Version& v = trace_.versions[version];
    const Tensor& tensor = trace_.tensors[v.tensor];
    Known known = evaluate(v.expr);
    const bool stored_16_bit = tensor.space == Space::Hbm && tensor.element_bytes == 2;
    if (stored_16_bit && trace_.exprs[v.expr].op != Op::Input)
        known.scale = rounded_scale(known.value, known.scale.array(), trace_.problem.dtype, task_).matrix();
    return scale = std::move(known.scale);
}

ErrorScale::Known ErrorScale::evaluate(int index) {
    task_.checkpoint();
    const Expr& e = trace_.exprs[index];
    if (e.op == Op::Leaf) return {trace_.value(trace_.versions[e.version]), of(e.version)};
    if (e.op == Op::Input) return {{}, Matrix::Zero(e.rows, e.cols)};
    if (e.op == Op::Fill) return {apply(e, nullptr, nullptr, trace_.problem, task_), Matrix::Zero(e.rows, e.cols)};

    Known a = evaluate(e.a), b = e.b >= 0 ? evaluate(e.b) : Known{};
    Known result{apply(e, &a.value, e.b >= 0 ? &b.value : nullptr, trace_.problem, task_), {}};
    if (e.op == Op::MatMul && is_16_bit(trace_.problem.dtype))  // tensor cores take 16-bit operands
        for (Known* operand : {&a, &b}) {
            operand->scale =
                rounded_scale(operand->value, operand->scale.array(), trace_.problem.dtype, task_).matrix();
            round_all(operand->value, trace_.problem.dtype, task_);
        }
    const ErrorTerms terms{e, a.value, b.value, result.value, a.scale.array(), b.scale.array(), task_};
    result.scale = operation(e.op).error(terms).matrix();
    return result;
}

}  // namespace flashstep
