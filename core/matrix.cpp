// Rounding to the number formats of the kernels.
#include "core/matrix.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace flashstep {
namespace {
constexpr std::array<std::string_view, 4> kNames = {"exact", "fp32", "fp16", "bf16"};
}

std::string_view name(DType dtype) { return kNames[static_cast<std::size_t>(dtype)]; }

std::optional<DType> dtype_from_name(std::string_view text) {
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == text) return static_cast<DType>(i);
    return std::nullopt;
}

int element_bytes(DType dtype) { return dtype == DType::Fp16 || dtype == DType::Bf16 ? 2 : 4; }

FormatLimits limits_of(DType dtype) {
    struct Bits {
        int fraction, most, least;  // bits behind the point; largest and least exponent of 2
    };
    static constexpr std::array<Bits, 4> kBits = {
        {{52, 1023, -1022}, {23, 127, -126}, {10, 15, -14}, {7, 127, -126}}};
    const Bits& bits = kBits[static_cast<std::size_t>(dtype)];
    const double epsilon = std::ldexp(1.0, -bits.fraction);
    return {std::ldexp(2 - epsilon, bits.most), std::ldexp(epsilon, bits.least), epsilon};
}

double round_to(double value, DType dtype) {
    // Eigen::half and bfloat16 are made from a float. Rounding twice (double, float, 16 bit) differs from rounding once
    // only for values within 2^-24 of a tie, which no kernel can see either: its accumulators are fp32.
    switch (dtype) {
        case DType::Exact:
            return value;
        case DType::Fp32:
            return static_cast<float>(value);
        case DType::Fp16:
            return static_cast<float>(Eigen::half(static_cast<float>(value)));
        case DType::Bf16:
            return static_cast<float>(Eigen::bfloat16(static_cast<float>(value)));
    }
    return value;
}

void round_all(Matrix& values, DType dtype, const Task& task) {
    if (dtype == DType::Exact) return;
    for (Eigen::Index k = 0; k < values.size();) {
        task.checkpoint();
        const Eigen::Index end = std::min<Eigen::Index>(values.size(), k + kCheckedWork);
        for (; k < end; ++k) values.data()[k] = round_to(values.data()[k], dtype);
    }
}

}  // namespace flashstep
