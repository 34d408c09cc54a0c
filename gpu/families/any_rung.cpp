// The parts that several families of rungs share: how often the tiles of a problem are loaded.
#include "gpu/families/any_rung.h"

#include <algorithm>

namespace flashstep::gpu {

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
    const int kv = p.batch * p.kv_heads;
    std::vector<TensorSpec> specs{{"Q", TensorRole::Input, p.total_heads(), p.n, p.d, false, p.element},
                                  {"K", TensorRole::Input, kv, p.nk, p.d, false, p.element},
                                  {"V", TensorRole::Input, kv, p.nk, p.dv, false, p.element}};
    if (p.mask_rows > 0) specs.push_back({"M", TensorRole::Input, 1, p.mask_rows, p.nk, false, p.element});
    return specs;
}

void add_mask_bytes(BytesByTensor& bytes, const AttentionShape& p, std::int64_t elements) {
    if (p.mask_rows > 0) bytes["M"] = {bytes_of(p.element) * elements, 0};
}

}  // namespace flashstep::gpu
