// The ladder: every rung, in teaching order. What reads the list folds it: the registry, the launches on the executor
// and on devices, tests.
#pragma once

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

namespace flashstep::gpu {

template <class... Rung>
struct Rungs {
    // Calls each.operator()<Rung>() for one after the other.
    template <class Each>
    static void for_each(Each each) {
        (each.template operator()<Rung>(), ...);
    }
};

// clang-format off: a line each
using Ladder = Rungs<
    Softmax1Naive,
    Softmax2Safe,
    Softmax3Online,
    Standard1Naive,
    StandardBackward1Naive,
    Fa1Forward1Tile,
    Fa2Forward1Tile,
    Fa2Forward2Warps,
    Fa2Forward3Mma,
    Fa2Forward4Swizzle,
    Fa2Forward5CpAsync,
    Fa2Forward6Exp2,
    Fa2Forward7Registers,
    Fa2Backward1TwoPass,
    Fa2Backward2Atomic,
    Fa2Backward3Mma>;
// clang-format on

}  // namespace flashstep::gpu
