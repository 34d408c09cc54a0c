// The kernel ladder as a table: one row per rung, described in plain values. Plain C++: no CUDA header here.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/text.h"
#include "gpu/target.h"

namespace flashstep::gpu {

// One rung, as its struct describes itself at the end of its file in gpu/kernels/ (gpu/families/any_rung.h).
struct KernelInfo {
    std::string_view id;                  // its file's name without .cuh
    Text title;                           // one line: the idea
    std::string_view algorithm;           // id of the mirror algorithm in core
    std::vector<DType> dtypes;            // the first one is its own
    std::vector<int> head_dims;           // what it is made for; empty: any
    std::vector<Target> targets;          // CUDA architectures: 75, 80, ... in order
    std::vector<std::string_view> slots;  // what it captures: names of the mirror's tensors
    // Outputs whose bits depend on the order of the threads; empty: none.
    std::vector<std::string_view> order_dependent;
    // True: the kernel's HBM bytes equal the mirror's, tensor by tensor. False: they equal `own_bytes`'s closed form.
    bool bytes_equal_mirror;
    int most_head_dim = 0;   // not 0: head dimensions up to this one are padded on chip
    int br = 0, bc = 0;      // the only B_r, B_c it has; 0: any
    bool takes_mask = true;  // an additive one
    bool overflows = false;  // where scores are extreme, as its mirror does
    bool base2 = false;      // its exponentials are in base 2; so are its mirror's then (Problem::base2)
};

std::span<const KernelInfo> kernels();
const KernelInfo* find_kernel(std::string_view id);  // nullptr: unknown

}  // namespace flashstep::gpu
