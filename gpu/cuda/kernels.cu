// Instantiates every kernel for devices. One line per kernel.
#include "gpu/cuda/machine.cuh"
#include "gpu/kernels/fa1_forward_1_tile.cuh"
#include "gpu/kernels/fa2_backward_1_two_pass.cuh"
#include "gpu/kernels/fa2_backward_2_atomic.cuh"
#include "gpu/kernels/fa2_backward_3_mma.cuh"
#include "gpu/kernels/fa2_forward_1_tile.cuh"
#include "gpu/kernels/fa2_forward_2_warps.cuh"
#include "gpu/kernels/fa2_forward_3_mma.cuh"
#include "gpu/kernels/fa2_forward_4_swizzle.cuh"
#include "gpu/kernels/fa2_forward_5_cp_async.cuh"
#include "gpu/kernels/fa2_forward_6_exp2.cuh"
#include "gpu/kernels/fa2_forward_7_registers.cuh"
#include "gpu/kernels/softmax_1_naive.cuh"
#include "gpu/kernels/softmax_2_safe.cuh"
#include "gpu/kernels/softmax_3_online.cuh"
#include "gpu/kernels/standard_1_naive.cuh"
#include "gpu/kernels/standard_backward_1_naive.cuh"

namespace flashstep::gpu::cuda {

namespace {

// A launch function, with the kernel's probe or (null) with none.
template <class WithProbe>
bool traced(const Probe* probe, WithProbe launch) {
    probe ? launch(*probe) : launch(NoProbe{});
    return true;
}

}  // namespace

bool launch_kernel(std::string_view kernel, Machine& m, const AttentionShape& p, const Probe* probe) {
    if (kernel == "softmax_1_naive") return traced(probe, [&](auto t) { launch_softmax_1_naive(m, p, t); });
    if (kernel == "softmax_2_safe") return traced(probe, [&](auto t) { launch_softmax_2_safe(m, p, t); });
    if (kernel == "softmax_3_online") return traced(probe, [&](auto t) { launch_softmax_3_online(m, p, t); });
    if (kernel == "standard_1_naive") return launch_standard_1_naive(m, p), true;
    if (kernel == "standard_backward_1_naive") return launch_standard_backward_1_naive(m, p), true;
    if (kernel == "fa1_forward_1_tile") return traced(probe, [&](auto t) { launch_fa1_forward_1_tile(m, p, t); });
    if (kernel == "fa2_forward_1_tile") return traced(probe, [&](auto t) { launch_fa2_forward_1_tile(m, p, t); });
    if (kernel == "fa2_forward_2_warps") return traced(probe, [&](auto t) { launch_fa2_forward_2_warps(m, p, t); });
    if (kernel == "fa2_forward_3_mma") return traced(probe, [&](auto t) { launch_fa2_forward_3_mma(m, p, t); });
    if (kernel == "fa2_forward_4_swizzle") return traced(probe, [&](auto t) { launch_fa2_forward_4_swizzle(m, p, t); });
    if (kernel == "fa2_forward_5_cp_async")
        return traced(probe, [&](auto t) { launch_fa2_forward_5_cp_async(m, p, t); });
    if (kernel == "fa2_forward_6_exp2") return traced(probe, [&](auto t) { launch_fa2_forward_6_exp2(m, p, t); });
    if (kernel == "fa2_forward_7_registers")
        return traced(probe, [&](auto t) { launch_fa2_forward_7_registers(m, p, t); });
    if (kernel == "fa2_backward_1_two_pass")
        return traced(probe, [&](auto t) { launch_fa2_backward_1_two_pass(m, p, t); });
    if (kernel == "fa2_backward_2_atomic") return traced(probe, [&](auto t) { launch_fa2_backward_2_atomic(m, p, t); });
    if (kernel == "fa2_backward_3_mma") return traced(probe, [&](auto t) { launch_fa2_backward_3_mma(m, p, t); });
    return false;
}

}  // namespace flashstep::gpu::cuda
