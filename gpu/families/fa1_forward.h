// What rungs of FlashAttention-1 share: tensors, slots, the closed form of their HBM bytes. Read by nvcc too.
#pragma once

#include "gpu/families/any_rung.h"

namespace flashstep::gpu {

struct Fa1Forward : AnyRung {
    static constexpr std::string_view algorithm = "fa1_forward";
    static constexpr std::array dtypes{DType::Fp32, DType::Exact};
    static constexpr std::array slots{SlotSpec{"S_ij", Slot::S_ij, Extent::Queries, Extent::Keys},
                                      SlotSpec{"m_ij", Slot::m_ij, Extent::Queries, Extent::One},
                                      SlotSpec{"P_ij", Slot::P_ij, Extent::Queries, Extent::Keys},
                                      SlotSpec{"l_ij", Slot::l_ij, Extent::Queries, Extent::One},
                                      SlotSpec{"m_new", Slot::m_new, Extent::Queries, Extent::One},
                                      SlotSpec{"l_new", Slot::l_new, Extent::Queries, Extent::One},
                                      SlotSpec{"O_i", Slot::O_i, Extent::Queries, Extent::ValueColumns}};

    static std::vector<TensorSpec> tensors(const AttentionShape& p) {
        auto specs = attention_inputs(p);
        specs.push_back({"O", TensorRole::Output, p.total_heads(), p.n, p.dv, true});
        specs.push_back({"l", TensorRole::Output, p.total_heads(), p.n, 1, true});
        specs.push_back({"m", TensorRole::Output, p.total_heads(), p.n, 1, true});
        return specs;
    }
    static std::int64_t blocks(const AttentionShape& p) { return p.total_heads(); }
    static BytesByTensor bytes(const AttentionShape& p) {
        const std::int64_t h = 4 * p.total_heads(), n = p.n, rows = loaded_rows(p);
        BytesByTensor bytes{{"Q", {h * rows * p.d, 0}},        {"K", {h * p.nk * p.d, 0}},
                            {"V", {h * p.nk * p.dv, 0}},       {"O", {h * rows * p.dv, h * (n + rows) * p.dv}},
                            {"l", {h * rows, h * (n + rows)}}, {"m", {h * rows, h * (n + rows)}}};
        add_mask_bytes(bytes, p, loaded_mask(p));
        return bytes;
    }
};

}  // namespace flashstep::gpu
