// What the rungs of the softmax share: one thread per row, tiles of a single score. Read by nvcc too.
#pragma once

#include "gpu/families/any_rung.h"

namespace flashstep::gpu {

// `kPasses`: how often a rung reads each score.
template <int kPasses>
struct SoftmaxRung : AnyRung {
    static constexpr std::array dtypes{DType::Fp32};
    static constexpr auto targets = kAllTargets;
    static constexpr std::array slots{SlotSpec{"m", Slot::m, Extent::One, Extent::One},
                                      SlotSpec{"l", Slot::l, Extent::One, Extent::One},
                                      SlotSpec{"p", Slot::p, Extent::One, Extent::One}};

    // The mask is in the scores that they read.
    static AttentionShape as_tiled(AttentionShape p) {
        p.B_r = p.B_c = 1;
        p.causal = 0, p.mask_rows = 0;
        return p;
    }
    static std::vector<TensorSpec> tensors(const AttentionShape& p) {
        return {{"X", TensorRole::Input, p.total_heads(), p.n, p.nk, false},
                {"P", TensorRole::Output, p.total_heads(), p.n, p.nk, true}};
    }
    static std::int64_t blocks(const AttentionShape& p) { return (std::int64_t{p.total_heads()} * p.n + 127) / 128; }
    static BytesByTensor bytes(const AttentionShape& p) {
        const std::int64_t scores = std::int64_t{4} * p.total_heads() * p.n * p.nk;
        return {{"X", {kPasses * scores, 0}}, {"P", {0, scores}}};
    }
};

}  // namespace flashstep::gpu
