// The arithmetic of the mirror.
#include "core/expr.h"

#include "core/ops/operation.h"

namespace flashstep {

Matrix apply(const Expr& expr, const Matrix* a, const Matrix* b, const Problem& problem) {
    Matrix result = operation(expr.op).value(expr, a, b, problem);
    if (problem.dtype != DType::Exact) round_all(result, DType::Fp32);
    return result;
}

}  // namespace flashstep
