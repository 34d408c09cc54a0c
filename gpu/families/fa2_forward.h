// What the forward rungs of FlashAttention-2 share: tensors, slots, the closed form of their HBM bytes. Read by nvcc
// too.
#pragma once

#include "gpu/families/any_rung.h"

namespace flashstep::gpu {

struct Fa2Forward : AnyRung {
    static constexpr std::string_view algorithm = "fa2_forward";
    static constexpr std::array dtypes{DType::Fp32, DType::Exact};
    static constexpr auto targets = kAllTargets;
    static constexpr std::array slots{SlotSpec{"S_ij", Slot::S_ij, Extent::Queries, Extent::Keys},
                                      SlotSpec{"m_i", Slot::m_i, Extent::Queries, Extent::One},
                                      SlotSpec{"P_ij", Slot::P_ij, Extent::Queries, Extent::Keys},
                                      SlotSpec{"l_i", Slot::l_i, Extent::Queries, Extent::One},
                                      SlotSpec{"O_i", Slot::O_i, Extent::Queries, Extent::ValueColumns}};

    static std::vector<TensorSpec> tensors(const AttentionShape& p) {
        auto specs = attention_inputs(p);
        specs.push_back({"O", TensorRole::Output, p.total_heads(), p.n, p.dv, true, p.element});
        specs.push_back({"L", TensorRole::Output, p.total_heads(), p.n, 1, true});
        return specs;
    }
    static std::int64_t blocks(const AttentionShape& p) { return std::int64_t{p.total_heads()} * p.row_blocks(); }
    static BytesByTensor bytes(const AttentionShape& p) {
        const std::int64_t h = bytes_of(p.element) * p.total_heads(), n = p.n, keys = loaded_keys(p);
        BytesByTensor bytes{{"Q", {h * n * p.d, 0}},
                            {"K", {h * keys * p.d, 0}},
                            {"V", {h * keys * p.dv, 0}},
                            {"O", {0, h * n * p.dv}},
                            {"L", {0, 4 * p.total_heads() * n}}};
        add_mask_bytes(bytes, p, loaded_mask(p));
        return bytes;
    }
};

// On tensor cores: 16-bit formats, head dimensions padded to 64 or 128.
struct Fa2ForwardOnTensorCores : Fa2Forward {
    static constexpr std::array dtypes{DType::Fp16, DType::Bf16};
    static constexpr std::array head_dims{64, 128};
    static constexpr int most_head_dim = 128, br = 64, bc = 64;
    static constexpr bool takes_mask = false;
};

}  // namespace flashstep::gpu
