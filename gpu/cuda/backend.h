// The CUDA back end as plain C++: no CUDA header here. Without a toolkit, none.cpp stands in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/attention_shape.h"
#include "gpu/probe.h"
#include "gpu/run.h"
#include "gpu/rungs.h"

namespace flashstep::gpu::cuda {

// Host copies of a kernel's tensors, in the order of its specs: inputs filled by the caller, the rest by the run.
struct Buffers {
    std::vector<TensorSpec> specs;
    std::vector<std::vector<std::byte>> values;
    // What the probe wrote; empty: run the probe-free kernel. `probe.values` is set by the back end.
    std::vector<float> probed;
    Probe probe;
};

DeviceStatus status();

// Runs a kernel on the current device. Gives the device's name. Throws Error: no device, limits, a CUDA error.
std::string run(std::string_view kernel, const AttentionShape& shape, Buffers& buffers);

}  // namespace flashstep::gpu::cuda
