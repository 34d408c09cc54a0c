// A kernel's tensors on the device, ready to be timed. Plain C++ on its outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "gpu/attention_shape.h"
#include "gpu/bench_run.h"

namespace flashstep::gpu::cuda {

struct BenchTensor {
    std::string_view name;
    int element_bytes;
    std::int64_t count;              // elements
    std::vector<std::byte> pattern;  // fills the tensor, again and again; empty: left as it is
};

// Throws Error: no device, no memory, a CUDA error. Each method of the result throws Error for a CUDA error.
std::unique_ptr<BenchRun> prepare_bench(std::string_view kernel, const AttentionShape& shape,
                                        const std::vector<BenchTensor>& tensors);

}  // namespace flashstep::gpu::cuda
