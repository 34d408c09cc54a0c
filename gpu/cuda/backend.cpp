// The CUDA back end's plain C++ half: status, and a run's tensors handed to the device.
#include "gpu/cuda/backend.h"

#include "gpu/cuda/device.h"

namespace flashstep::gpu::cuda {

DeviceStatus status() { return query_device(); }

std::string run(std::string_view kernel, const AttentionShape& shape, Buffers& buffers) {
    std::vector<DeviceTensor> tensors;
    for (std::size_t k = 0; k < buffers.specs.size(); ++k) {
        const TensorSpec& spec = buffers.specs[k];
        tensors.push_back({spec.name, spec.role == TensorRole::Input, bytes_of(spec.element), &buffers.values[k]});
    }
    const bool probed = !buffers.probed.empty();
    return run_on_device(kernel, shape, tensors, probed ? &buffers.probe : nullptr, probed ? &buffers.probed : nullptr);
}

}  // namespace flashstep::gpu::cuda
