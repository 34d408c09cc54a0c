// The number formats of an attention problem. No Eigen here: nvcc reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace flashstep {

// Number format of the matrices Q, K, V, O in HBM. Statistics (m, l, L, D) are fp32 in all but Exact.
enum class DType { Exact, Fp32, Fp16, Bf16 };

std::string_view name(DType dtype);                           // "exact", "fp32", "fp16", "bf16"
std::optional<DType> dtype_from_name(std::string_view text);  // nullopt: no such format
int element_bytes(DType dtype);                               // 4, 4, 2, 2 (exact counts as 4)

// Where a format ends: its largest finite number, its least positive one, and the gap behind 1. Exact: those of double.
struct FormatLimits {
    double largest, least, epsilon;
};
FormatLimits limits_of(DType dtype);

}  // namespace flashstep
