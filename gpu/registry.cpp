// The ladder, in teaching order.
#include "gpu/registry.h"

namespace flashstep::gpu {

namespace {

// What the forward rungs on tensor cores differ in.
struct Tiling {
    int br;
    bool base2 = false;
};

KernelInfo on_tensor_cores(std::string_view id, std::string_view title, const std::vector<int>& targets,
                           Tiling tiling) {
    return {.id = id,
            .title = title,
            .algorithm = "fa2_forward",
            .dtypes = {DType::Fp16, DType::Bf16},
            .head_dims = {64, 128},
            .targets = targets,
            .slots = {"S_ij", "m_i", "P_ij", "l_i", "O_i", "O", "L"},
            .order_dependent = {},
            .bytes_equal_mirror = true,
            .most_head_dim = 128,
            .br = tiling.br,
            .bc = 64,
            .takes_mask = false,
            .base2 = tiling.base2};
}

const std::vector<KernelInfo>& table() {
    static const std::vector<int> all_targets{75, 80, 86, 89, 90, 100, 120};
    static const std::vector<int> from_sm_80(all_targets.begin() + 1, all_targets.end());
    static const std::vector<KernelInfo> rows{
        {.id = "softmax_1_naive",
         .title = "Softmax as defined: two passes, overflows",
         .algorithm = "naive_softmax",
         .dtypes = {DType::Fp32},
         .head_dims = {},
         .targets = all_targets,
         .slots = {"l", "p", "P"},
         .order_dependent = {},
         .bytes_equal_mirror = true,
         .overflows = true},
        {.id = "softmax_2_safe",
         .title = "Safe softmax: a third pass for the maximum",
         .algorithm = "safe_softmax",
         .dtypes = {DType::Fp32},
         .head_dims = {},
         .targets = all_targets,
         .slots = {"m", "l", "p", "P"},
         .order_dependent = {},
         .bytes_equal_mirror = true},
        {.id = "softmax_3_online",
         .title = "Online softmax: maximum and sum in one pass",
         .algorithm = "online_softmax",
         .dtypes = {DType::Fp32},
         .head_dims = {},
         .targets = all_targets,
         .slots = {"m", "l", "p", "P"},
         .order_dependent = {},
         .bytes_equal_mirror = true},
        {.id = "standard_1_naive",
         .title = "Standard attention: three launches, S and P go through HBM",
         .algorithm = "standard_attention",
         .dtypes = {DType::Fp32, DType::Exact},
         .head_dims = {},
         .targets = all_targets,
         .slots = {"S", "P", "O"},
         .order_dependent = {},
         .bytes_equal_mirror = false},
        {.id = "standard_backward_1_naive",
         .title = "Standard attention backward: five launches, P, dP and dS go through HBM",
         .algorithm = "standard_backward",
         .dtypes = {DType::Fp32},
         .head_dims = {},
         .targets = all_targets,
         .slots = {"dP", "dS", "dQ", "dK", "dV"},
         .order_dependent = {},
         .bytes_equal_mirror = false},
        {.id = "fa1_forward_1_tile",
         .title = "FlashAttention-1 forward: K and V outermost, keys over warps",
         .algorithm = "fa1_forward",
         .dtypes = {DType::Fp32, DType::Exact},
         .head_dims = {},
         .targets = all_targets,
         .slots = {"S_ij", "m_ij", "P_ij", "l_ij", "m_new", "l_new", "O_i", "O", "l", "m"},
         .order_dependent = {},
         .bytes_equal_mirror = true},
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
        on_tensor_cores("fa2_forward_3_mma", "FlashAttention-2 forward on tensor cores: S and P in registers",
                        all_targets, {.br = 64}),
        on_tensor_cores("fa2_forward_4_swizzle",
                        "FlashAttention-2 forward on tensor cores: swizzled tiles, no bank conflicts", all_targets,
                        {.br = 64}),
        on_tensor_cores("fa2_forward_5_cp_async",
                        "FlashAttention-2 forward on tensor cores: the next tiles travel while this one is computed",
                        from_sm_80, {.br = 64}),
        on_tensor_cores("fa2_forward_6_exp2",
                        "FlashAttention-2 forward on tensor cores: base-2 exponentials, log2(e) in the scale",
                        from_sm_80, {.br = 64, .base2 = true}),
        on_tensor_cores("fa2_forward_7_registers",
                        "FlashAttention-2 forward on tensor cores: Q in registers, 128 rows a block", from_sm_80,
                        {.br = 128, .base2 = true}),
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
        {.id = "fa2_backward_3_mma",
         .title = "FlashAttention-2 backward on tensor cores: two passes, transposed products",
         .algorithm = "fa2_backward_two_pass",
         .dtypes = {DType::Fp16, DType::Bf16},
         .head_dims = {64, 128},
         .targets = from_sm_80,
         .slots = {"S_ij", "P_ij", "dP_ij", "dS_ij", "dQ_i", "dK_j", "dV_j", "D", "dQ", "dK", "dV"},
         .order_dependent = {},
         .bytes_equal_mirror = true,
         .most_head_dim = 128,
         .br = 64,
         .bc = 64,
         .takes_mask = false},
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
