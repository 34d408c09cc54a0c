// What a kernel reads, writes and hands out: its tensors in HBM and the slots of its probe. Plain C++, read by nvcc
// too.
#pragma once

#include <cstdint>
#include <string_view>

#include "gpu/element.h"
#include "gpu/probe.h"
#include "gpu/tensor_role.h"

namespace flashstep::gpu {

// A tensor in HBM: `heads` matrices of rows x cols, one after another.
struct TensorSpec {
    std::string_view name;
    TensorRole role;
    int heads, rows, cols;
    bool captured;  // handed out whole, by head
    Element element = Element::Fp32;

    std::int64_t count() const { return std::int64_t{heads} * rows * cols; }
};

// How far a tile reaches in one direction: B_r, B_c (both ragged at the end), d, dv or 1.
enum class Extent { Queries, Keys, HeadColumns, ValueColumns, One };

// A slot that the kernel's probe writes for each visible tile (i, j).
struct SlotSpec {
    std::string_view name;
    Slot slot;
    Extent rows, cols;
};

}  // namespace flashstep::gpu
