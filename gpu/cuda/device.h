// The device half of the back end behind plain C++, so that no header with Eigen in it meets nvcc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/launch.h"

namespace flashstep::gpu {
struct AttentionShape;
struct Probe;
}  // namespace flashstep::gpu

namespace flashstep::gpu::cuda {

struct DeviceQuery {
    bool available;
    std::string name, message;
};
DeviceQuery query_device();

// One tensor: uploaded if it is an input, else poisoned with NaN on the device, and downloaded afterwards.
struct DeviceTensor {
    std::string_view name;
    bool input;
    int element_bytes;
    std::vector<std::byte>* values;
};

// Runs a kernel on the current device and waits for it; `probed` is what `probe` writes (null: no probe). Gives the
// device's name.
std::string run_on_device(std::string_view kernel, const AttentionShape& shape,
                          const std::vector<DeviceTensor>& tensors, const Probe* probe, std::vector<float>* probed);

}  // namespace flashstep::gpu::cuda
