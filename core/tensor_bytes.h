// The HBM bytes that were moved of one tensor. No Eigen here: nvcc reads it.
#pragma once

#include <cstdint>

namespace flashstep {

struct TensorBytes {
    std::int64_t read = 0, write = 0;
    bool operator==(const TensorBytes&) const = default;
};

}  // namespace flashstep
