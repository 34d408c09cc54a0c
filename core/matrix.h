// The matrix type of the mirror and the number formats it imitates.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <string_view>

namespace flashstep {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Number format of the matrices Q, K, V, O in HBM. Statistics (m, l, L, D) are fp32 in all but Exact.
enum class DType { Exact, Fp32, Fp16, Bf16 };

std::string_view name(DType dtype);                           // "exact", "fp32", "fp16", "bf16"
std::optional<DType> dtype_from_name(std::string_view text);  // nullopt: no such format
int element_bytes(DType dtype);                               // 4, 4, 2, 2 (exact counts as 4)
double round_to(double value, DType dtype);                   // round to nearest even; Exact returns the value
void round_all(Matrix& values, DType dtype);
constexpr bool is_16_bit(DType dtype) { return dtype == DType::Fp16 || dtype == DType::Bf16; }

}  // namespace flashstep
