// Instantiates every kernel for devices. One line per kernel.
#include "gpu/cuda/machine.cuh"
#include "gpu/kernels/fa2_forward_1_tile.cuh"
#include "gpu/kernels/standard_1_naive.cuh"

namespace flashstep::gpu::cuda {

bool launch_kernel(std::string_view kernel, Machine& machine, const AttentionShape& shape, const Probe* probe) {
    if (kernel == "standard_1_naive") {
        launch_standard_1_naive(machine, shape);
    } else if (kernel == "fa2_forward_1_tile") {
        probe ? launch_fa2_forward_1_tile(machine, shape, *probe)
              : launch_fa2_forward_1_tile(machine, shape, NoProbe{});
    } else {
        return false;
    }
    return true;
}

}  // namespace flashstep::gpu::cuda
