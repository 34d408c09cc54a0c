// The rungs of standard attention: tensors, and closed forms of their HBM bytes. Read by nvcc too.
#pragma once

#include <algorithm>

#include "gpu/families/any_rung.h"

namespace flashstep::gpu {

struct StandardForward : AnyRung {
    static constexpr std::string_view algorithm = "standard_attention";
    static constexpr std::array dtypes{DType::Fp32, DType::Exact};
    static constexpr auto targets = kAllTargets;
    static constexpr bool bytes_equal_mirror = false;

    static std::vector<TensorSpec> tensors(const AttentionShape& p) {
        auto specs = attention_inputs(p);
        specs.push_back({"S", TensorRole::Temporary, p.total_heads(), p.n, p.nk, true});
        specs.push_back({"P", TensorRole::Temporary, p.total_heads(), p.n, p.nk, true});
        specs.push_back({"O", TensorRole::Output, p.total_heads(), p.n, p.dv, true});
        return specs;
    }
    static std::int64_t blocks(const AttentionShape& p) {
        return (std::int64_t{p.total_heads()} * p.n * std::max(p.nk, p.dv) + 127) / 128;
    }
    static BytesByTensor bytes(const AttentionShape& p) {
        const std::int64_t h = 4 * p.total_heads(), n = p.n, nk = p.nk, d = p.d, dv = p.dv, v = visible_pairs(p);
        BytesByTensor bytes{{"Q", {h * v * d, 0}},
                            {"K", {h * v * d, 0}},
                            {"V", {h * n * nk * dv, 0}},
                            {"S", {h * 3 * n * nk, h * n * nk}},
                            {"P", {h * n * nk * dv, h * n * nk}},
                            {"O", {0, h * n * dv}}};
        add_mask_bytes(bytes, p, p.total_heads() * v);
        return bytes;
    }
};

struct StandardBackward : AnyRung {
    static constexpr std::string_view algorithm = "standard_backward";
    static constexpr std::array dtypes{DType::Fp32};
    static constexpr auto targets = kAllTargets;
    static constexpr bool bytes_equal_mirror = false;

    static std::vector<TensorSpec> tensors(const AttentionShape& p) {
        const int heads = p.total_heads(), kv = p.batch * p.kv_heads;
        return {{"Q", TensorRole::Input, heads, p.n, p.d, false},
                {"K", TensorRole::Input, kv, p.nk, p.d, false},
                {"V", TensorRole::Input, kv, p.nk, p.dv, false},
                {"P", TensorRole::Input, heads, p.n, p.nk, false},
                {"dO", TensorRole::Input, heads, p.n, p.dv, false},
                {"dP", TensorRole::Temporary, heads, p.n, p.nk, true},
                {"dS", TensorRole::Temporary, heads, p.n, p.nk, true},
                {"dQ", TensorRole::Output, heads, p.n, p.d, true},
                {"dK", TensorRole::Output, kv, p.nk, p.d, true},
                {"dV", TensorRole::Output, kv, p.nk, p.dv, true}};
    }
    static std::int64_t blocks(const AttentionShape& p) {
        const std::int64_t rows = std::int64_t{p.total_heads()} * p.n, keys = std::int64_t{p.batch} * p.kv_heads * p.nk;
        return (std::max(rows * std::max(p.nk, p.d), keys * std::max(p.d, p.dv)) + 127) / 128;
    }
    static BytesByTensor bytes(const AttentionShape& p) {
        const std::int64_t h = 4 * p.total_heads(), kv = std::int64_t{4} * p.batch * p.kv_heads, n = p.n, nk = p.nk;
        const std::int64_t d = p.d, dv = p.dv, S = h * n * nk;
        return {{"P", {S * (dv + 2), 0}}, {"dO", {S * 2 * dv, 0}},  {"V", {S * dv, 0}}, {"dP", {S * 2, S}},
                {"dS", {S * 2 * d, S}},   {"K", {S * d, 0}},        {"Q", {S * d, 0}},  {"dQ", {0, h * n * d}},
                {"dK", {0, kv * nk * d}}, {"dV", {0, kv * nk * dv}}};
    }
};

}  // namespace flashstep::gpu
