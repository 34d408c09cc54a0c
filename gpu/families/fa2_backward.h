// What the backward rungs of FlashAttention-2 share: tensors, slots, closed forms of their HBM bytes. Read by nvcc too.
#pragma once

#include <algorithm>

#include "gpu/families/any_rung.h"

namespace flashstep::gpu {

struct Fa2Backward : AnyRung {
    static constexpr std::array dtypes{DType::Fp32};
    static constexpr auto targets = kAllTargets;

    static std::vector<TensorSpec> tensors(const AttentionShape& p) {
        const int heads = p.total_heads(), kv = p.batch * p.kv_heads;
        auto specs = attention_inputs(p);
        specs.push_back({"O", TensorRole::Input, heads, p.n, p.dv, false, p.element});
        specs.push_back({"dO", TensorRole::Input, heads, p.n, p.dv, false, p.element});
        specs.push_back({"L", TensorRole::Input, heads, p.n, 1, false});
        specs.push_back({"D", TensorRole::Temporary, heads, p.n, 1, true});
        specs.push_back({"dQ", TensorRole::Output, heads, p.n, p.d, true, p.element});
        specs.push_back({"dK", TensorRole::Output, kv, p.nk, p.d, true, p.element});
        specs.push_back({"dV", TensorRole::Output, kv, p.nk, p.dv, true, p.element});
        return specs;
    }
    static constexpr std::array<SlotSpec, 7> tile_slots(SlotSpec of_dQ) {
        return {{{"S_ij", Slot::S_ij, Extent::Queries, Extent::Keys},
                 {"P_ij", Slot::P_ij, Extent::Queries, Extent::Keys},
                 {"dP_ij", Slot::dP_ij, Extent::Queries, Extent::Keys},
                 {"dS_ij", Slot::dS_ij, Extent::Queries, Extent::Keys},
                 of_dQ,
                 {"dK_j", Slot::dK_j, Extent::Keys, Extent::HeadColumns},
                 {"dV_j", Slot::dV_j, Extent::Keys, Extent::ValueColumns}}};
    }

    // The launch for D, and the one with a thread block per column block.
    static std::int64_t blocks(const AttentionShape& p) {
        return std::max((std::int64_t{p.total_heads()} * p.n + 127) / 128,
                        std::int64_t{p.batch} * p.kv_heads * p.col_blocks());
    }
    // The launch for D, and one thread block per column block that keeps dK_j and dV_j: what all of them move.
    static BytesByTensor columns_bytes(const AttentionShape& p) {
        const std::int64_t bytes = bytes_of(p.element), h = bytes * p.total_heads(), s = 4 * p.total_heads();
        const std::int64_t n = p.n, nk = p.nk, d = p.d, dv = p.dv, rows = loaded_rows(p);
        const std::int64_t adding = h - bytes * p.batch * p.kv_heads;  // heads after the first of their group
        return {{"O", {h * n * dv, 0}},
                {"dO", {h * (n + rows) * dv, 0}},
                {"D", {s * rows, s * n}},
                {"L", {s * rows, 0}},
                {"Q", {h * rows * d, 0}},
                {"K", {h * nk * d, 0}},
                {"V", {h * nk * dv, 0}},
                {"dK", {adding * nk * d, h * nk * d}},
                {"dV", {adding * nk * dv, h * nk * dv}}};
    }
};

// dQ in a pass of its own, with a thread block per row block.
struct Fa2BackwardTwoPass : Fa2Backward {
    static constexpr std::string_view algorithm = "fa2_backward_two_pass";
    static constexpr int launches = 3;
    static constexpr std::array slots = tile_slots({"dQ_i", Slot::dQ_i, Extent::Queries, Extent::HeadColumns});

    static std::int64_t blocks(const AttentionShape& p) {
        return std::max(Fa2Backward::blocks(p), std::int64_t{p.total_heads()} * p.row_blocks());
    }
    static BytesByTensor bytes(const AttentionShape& p) {
        const std::int64_t h = bytes_of(p.element) * p.total_heads(), n = p.n, keys = loaded_keys(p);
        auto bytes = columns_bytes(p);
        bytes["Q"].read += h * n * p.d;
        bytes["dO"].read += h * n * p.dv;
        bytes["L"].read += 4 * p.total_heads() * n;
        bytes["D"].read += 4 * p.total_heads() * n;
        bytes["K"].read += h * keys * p.d;
        bytes["V"].read += h * keys * p.dv;
        bytes["dQ"].write = h * n * p.d;
        add_mask_bytes(bytes, p, 2 * loaded_mask(p));
        return bytes;
    }
};

}  // namespace flashstep::gpu
