// The ladder folded into tables: what a rung is, and how it is run.
#include "gpu/registry.h"

#include "core/error.h"
#include "gpu/describe.h"
#include "gpu/ladder.h"

namespace flashstep::gpu {

std::span<const KernelInfo> kernels() {
    static const std::vector<KernelInfo> rows = [] {
        std::vector<KernelInfo> all;
        Ladder::for_each([&]<class R>() { all.push_back(info_of<R>()); });
        return all;
    }();
    return rows;
}

const KernelInfo* find_kernel(std::string_view id) {
    for (const KernelInfo& kernel : kernels()) {
        if (kernel.id == id) return &kernel;
    }
    return nullptr;
}

const Rung& rung(std::string_view id) {
    static const std::vector<Rung> rows = [] {
        std::vector<Rung> all;
        Ladder::for_each([&]<class R>() { all.push_back(rung_of<R>()); });
        return all;
    }();
    for (const Rung& row : rows) {
        if (row.id == id) return row;
    }
    throw Error("no kernel is named " + std::string(id));
}

AttentionShape shape_of(const KernelInfo& kernel, const Problem& p) {
    const AttentionShape shape{.n = p.n,
                               .nk = p.nk,
                               .d = p.d,
                               .dv = p.dv,
                               .B_r = p.br,
                               .B_c = p.bc,
                               .batch = p.batch,
                               .heads = p.heads,
                               .kv_heads = p.kv_heads,
                               .scale = static_cast<float>(p.scale),
                               .causal = p.causal ? 1 : 0,
                               .mask_rows = p.mask == MaskShape::None   ? 0
                                            : p.mask == MaskShape::Keys ? 1
                                                                        : p.n,
                               .element = p.dtype == DType::Fp16   ? Element::Fp16
                                          : p.dtype == DType::Bf16 ? Element::BFloat16
                                                                   : Element::Fp32};
    return rung(kernel.id).as_tiled(shape);
}

}  // namespace flashstep::gpu
