// The ladder, in teaching order.
#include "gpu/registry.h"

namespace flashstep::gpu {

namespace {

const std::vector<KernelInfo>& table() {
    static const std::vector<int> all_targets{75, 80, 86, 89, 90, 100, 120};
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
