// What an operation's error bound is made of.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/expr.h"
#include "core/tolerance.h"

namespace flashstep {

using ErrorArray = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Infinities and NaN carry no error of their own: they are compared exactly.
inline ErrorArray finite(const ErrorArray& a) { return a.isFinite().select(a, 0.0); }
inline ErrorArray magnitude(const Matrix& a) { return finite(a.array().abs()); }

struct ErrorTerms {
    const Expr& e;
    const Matrix &a, &b, &result;  // values; what is not there is empty
    ErrorArray Ea, Eb;             // E of the operands
    const Task& task;              // asked within what takes long

    Eigen::Index rows() const { return e.rows; }
    Eigen::Index cols() const { return e.cols; }
    ErrorArray value() const { return magnitude(result); }
    ErrorArray A() const { return magnitude(a); }
    ErrorArray B() const { return magnitude(b); }
    // A column or a row repeated to the result's shape.
    ErrorArray spread(const ErrorArray& x) const {
        return x.replicate(x.rows() == rows() ? 1 : rows(), x.cols() == cols() ? 1 : cols());
    }
};

// A matrix product in runs of rows, with the task asked between them.
inline ErrorArray product(const ErrorArray& a, const ErrorArray& b, const Task& task) {
    ErrorArray result(a.rows(), b.cols());
    const std::int64_t work_of_row = std::max<std::int64_t>(1, a.cols() * b.cols());
    const Eigen::Index step = std::max<std::int64_t>(1, 64 * kCheckedWork / work_of_row);
    for (Eigen::Index r = 0; r < a.rows(); r += step) {
        task.checkpoint();
        const Eigen::Index rows = std::min(step, a.rows() - r);
        result.middleRows(r, rows).matrix().noalias() = a.middleRows(r, rows).matrix() * b.matrix();
    }
    return result;
}

// What a result below fp32's normal range may lose, be it that a device flushes it to zero: the smallest normal number.
// Only products and powers get there, and only where they are not zero by definition.
inline ErrorArray underflow(const ErrorArray& unrounded) {
    constexpr double kLoss = std::numeric_limits<float>::min() / (kToleranceFactor * kEps32);
    return (unrounded != 0.0).select(kLoss, ErrorArray::Zero(unrounded.rows(), unrounded.cols()));
}

// Not zero where e^x is not: everywhere but at minus infinity.
inline ErrorArray power_of(const Matrix& x) {
    return (x.array() == -kInf).select(0.0, ErrorArray::Ones(x.rows(), x.cols()));
}

}  // namespace flashstep
