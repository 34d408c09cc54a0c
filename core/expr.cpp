// The arithmetic of the mirror.
#include "core/expr.h"

#include "core/ops/operation.h"

namespace flashstep {

Matrix apply(const Expr& expr, const Matrix* a, const Matrix* b, const Problem& problem, const Task& task) {
    const Matrix none;
    Matrix result = operation(expr.op).value({expr, a ? *a : none, b ? *b : none, problem, task});
    if (problem.dtype != DType::Exact) round_all(result, DType::Fp32, task);
    return result;
}

}  // namespace flashstep
