// The device half of the back end behind plain C++, so that no header with Eigen in it meets nvcc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/device_status.h"
#include "gpu/launch.h"

namespace flashstep::gpu {
struct AttentionShape;
struct Probe;
}  // namespace flashstep::gpu

namespace flashstep::gpu::cuda {

// Never throws: a call that fails is in the message, with file, line, name and hint.
DeviceStatus query_device();

// The architectures that this build has code for, and whether there is PTX among it, which later ones can compile.
std::vector<int> built_architectures();
bool built_with_ptx();

// Which of the architectures a device of this compute capability runs the code of: the latest of its generation that is
// not later than itself, else, by PTX, the latest that is not later; 0: none.
int code_for(int capability, const std::vector<int>& architectures, bool ptx);

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
