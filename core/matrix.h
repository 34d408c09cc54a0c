// The matrix type of the mirror, and rounding to the number formats it imitates.
#pragma once

#include <Eigen/Core>
#include <limits>

#include "core/dtype.h"
#include "core/task.h"

namespace flashstep {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kInf = std::numeric_limits<double>::infinity();

double round_to(double value, DType dtype);  // round to nearest even; Exact returns the value
// Throws Cancelled as the task says.
void round_all(Matrix& values, DType dtype, const Task& task = {});
constexpr bool is_16_bit(DType dtype) { return dtype == DType::Fp16 || dtype == DType::Bf16; }

}  // namespace flashstep
