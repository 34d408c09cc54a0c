// The ladder, in teaching order.
#include "gpu/registry.h"

namespace flashstep::gpu {

namespace {

const std::vector<KernelInfo>& table() {
    static const std::vector<int> all_targets{75, 80, 86, 89, 90, 100, 120};
    static const std::vector<int> from_sm_80(all_targets.begin() + 1, all_targets.end());  // cp.async
    static const std::vector<KernelInfo> rows{
        {.id = "standard_1_naive",
         .title = "Standard attention: three launches, S and P go through HBM",
         .algorithm = "standard_attention",
         .dtypes = {DType::Fp32, DType::Exact},
         .head_dims = {},
         .targets = all_targets,
         .slots = {"S", "P", "O"},
         .order_dependent = {},
         .bytes_equal_mirror = false},
        {.id = "fa2_forward_1_tile",
         .title = "FlashAttention-2 forward: one block per row block, tiles in shared memory",
         .algorithm = "fa2_forward",
         .dtypes = {DType::Fp32, DType::Exact},
         .head_dims = {},
         .targets = all_targets,
         .slots = {"S_ij", "m_i", "P_ij", "l_i", "O_i", "O", "L"},
         .order_dependent = {},
         .bytes_equal_mirror = true},
        {.id = "fa2_forward_2_warps",
         .title = "FlashAttention-2 forward: rows over warps, maximum and sum by shuffles",
         .algorithm = "fa2_forward",
         .dtypes = {DType::Fp32, DType::Exact},
         .head_dims = {},
         .targets = all_targets,
         .slots = {"S_ij", "m_i", "P_ij", "l_i", "O_i", "O", "L"},
         .order_dependent = {},
         .bytes_equal_mirror = true},
        {.id = "fa2_forward_3_mma",
         .title = "FlashAttention-2 forward on tensor cores: S and P in registers",
         .algorithm = "fa2_forward",
         .dtypes = {DType::Fp16, DType::Bf16},
         .head_dims = {64, 128},
         .targets = all_targets,
         .slots = {"S_ij", "m_i", "P_ij", "l_i", "O_i", "O", "L"},
         .order_dependent = {},
         .bytes_equal_mirror = true,
         .most_head_dim = 128,
         .br = 64,
         .bc = 64,
         .takes_mask = false},
        {.id = "fa2_forward_4_swizzle",
         .title = "FlashAttention-2 forward on tensor cores: swizzled tiles, no bank conflicts",
         .algorithm = "fa2_forward",
         .dtypes = {DType::Fp16, DType::Bf16},
         .head_dims = {64, 128},
         .targets = all_targets,
         .slots = {"S_ij", "m_i", "P_ij", "l_i", "O_i", "O", "L"},
         .order_dependent = {},
         .bytes_equal_mirror = true,
         .most_head_dim = 128,
         .br = 64,
         .bc = 64,
         .takes_mask = false},
        {.id = "fa2_forward_5_cp_async",
         .title = "FlashAttention-2 forward on tensor cores: the next tiles travel while this one is computed",
         .algorithm = "fa2_forward",
         .dtypes = {DType::Fp16, DType::Bf16},
         .head_dims = {64, 128},
         .targets = from_sm_80,
         .slots = {"S_ij", "m_i", "P_ij", "l_i", "O_i", "O", "L"},
         .order_dependent = {},
         .bytes_equal_mirror = true,
         .most_head_dim = 128,
         .br = 64,
         .bc = 64,
         .takes_mask = false},
        {.id = "fa2_forward_6_exp2",
         .title = "FlashAttention-2 forward on tensor cores: base-2 exponentials, log2(e) in the scale",
         .algorithm = "fa2_forward",
         .dtypes = {DType::Fp16, DType::Bf16},
         .head_dims = {64, 128},
         .targets = from_sm_80,
         .slots = {"S_ij", "m_i", "P_ij", "l_i", "O_i", "O", "L"},
         .order_dependent = {},
         .bytes_equal_mirror = true,
         .most_head_dim = 128,
         .br = 64,
         .bc = 64,
         .takes_mask = false,
         .base2 = true},
        {.id = "fa2_forward_7_registers",
         .title = "FlashAttention-2 forward on tensor cores: Q in registers, 128 rows a block",
         .algorithm = "fa2_forward",
         .dtypes = {DType::Fp16, DType::Bf16},
         .head_dims = {64, 128},
         .targets = from_sm_80,
         .slots = {"S_ij", "m_i", "P_ij", "l_i", "O_i", "O", "L"},
         .order_dependent = {},
         .bytes_equal_mirror = true,
         .most_head_dim = 128,
         .br = 128,
         .bc = 64,
         .takes_mask = false,
         .base2 = true},
        {.id = "fa2_backward_1_two_pass",
         .title = "FlashAttention-2 backward: dQ and dK, dV in a pass each, no atomics",
         .algorithm = "fa2_backward_two_pass",
         .dtypes = {DType::Fp32},
         .head_dims = {},
         .targets = all_targets,
         .slots = {"S_ij", "P_ij", "dP_ij", "dS_ij", "dQ_i", "dK_j", "dV_j", "D", "dQ", "dK", "dV"},
         .order_dependent = {},
         .bytes_equal_mirror = true},
        {.id = "fa2_backward_2_atomic",
         .title = "FlashAttention-2 backward: one pass, dQ by atomic adds",
         .algorithm = "fa2_backward",
         .dtypes = {DType::Fp32},
         .head_dims = {},
         .targets = all_targets,
         .slots = {"S_ij", "P_ij", "dP_ij", "dS_ij", "dQ_ij", "dK_j", "dV_j", "D", "dQ", "dK", "dV"},
         .order_dependent = {"dQ"},
         .bytes_equal_mirror = true},
    };
    return rows;
}

}  // namespace

std::span<const KernelInfo> kernels() { return table(); }

const KernelInfo* find_kernel(std::string_view id) {
    for (const KernelInfo& kernel : kernels()) {
        if (kernel.id == id) return &kernel;
    }
    return nullptr;
}

}  // namespace flashstep::gpu
