// Finds a kernel's rung among the families' tables, and the parts that several rungs share.
#include "gpu/rungs.h"

#include <algorithm>

#include "core/error.h"

namespace flashstep::gpu {

const Rung& rung(std::string_view id) {
    for (const auto& family : {softmax_rungs(), standard_rungs(), fa1_rungs(), forward_rungs(), backward_rungs()}) {
        for (const Rung& row : family) {
            if (row.id == id) return row;
        }
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
    const Rung& row = rung(kernel.id);
    return row.as_tiled ? row.as_tiled(shape) : shape;
}

std::int64_t visible_pairs(const AttentionShape& p) {
    std::int64_t pairs = 0;
    for (int row = 0; row < p.n; ++row) {
        pairs += p.causal ? std::clamp<std::int64_t>(std::int64_t{row} + p.nk - p.n + 1, 0, p.nk) : p.nk;
    }
    return pairs;
}

std::int64_t loaded_keys(const AttentionShape& p, int i) {
    return std::min(std::int64_t{p.visible_blocks(i)} * p.B_c, std::int64_t{p.nk});
}

std::int64_t loaded_keys(const AttentionShape& p) {
    std::int64_t keys = 0;
    for (int i = 0; i < p.row_blocks(); ++i) keys += loaded_keys(p, i);
    return keys;
}

std::int64_t loaded_rows(const AttentionShape& p) {
    std::int64_t rows = 0;
    for (int j = 0; j < p.col_blocks(); ++j) rows += std::max(p.n - p.first_visible_row_block(j) * p.B_r, 0);
    return rows;
}

std::int64_t loaded_mask(const AttentionShape& p) {
    std::int64_t elements = 0;
    for (int i = 0; i < p.row_blocks(); ++i) elements += loaded_keys(p, i) * (p.mask_rows > 1 ? p.rows(i) : 1);
    return p.total_heads() * elements;
}

std::vector<TensorSpec> attention_inputs(const AttentionShape& p) {
    using simt::Role;
    const int kv = p.batch * p.kv_heads;
    std::vector<TensorSpec> specs{{"Q", Role::Input, p.total_heads(), p.n, p.d, false, p.element},
                                  {"K", Role::Input, kv, p.nk, p.d, false, p.element},
                                  {"V", Role::Input, kv, p.nk, p.dv, false, p.element}};
    if (p.mask_rows > 0) specs.push_back({"M", Role::Input, 1, p.mask_rows, p.nk, false, p.element});
    return specs;
}

void add_mask_bytes(std::map<std::string, TensorBytes>& bytes, const AttentionShape& p, std::int64_t elements) {
    if (p.mask_rows > 0) bytes["M"] = {bytes_of(p.element) * elements, 0};
}

}  // namespace flashstep::gpu
