// The rungs of standard attention: tensors, launches on the executor, closed forms of their HBM bytes.
#include <algorithm>
#include <array>

#include "gpu/kernels/standard_1_naive.cuh"
#include "gpu/kernels/standard_backward_1_naive.cuh"
#include "gpu/rungs.h"
#include "gpu/simt/executor.h"

namespace flashstep::gpu {

namespace {

using simt::Role;

// ---- standard_1_naive

std::vector<TensorSpec> forward_tensors(const AttentionShape& p) {
    auto specs = attention_inputs(p);
    specs.push_back({"S", Role::Temporary, p.total_heads(), p.n, p.nk, true});
    specs.push_back({"P", Role::Temporary, p.total_heads(), p.n, p.nk, true});
    specs.push_back({"O", Role::Output, p.total_heads(), p.n, p.dv, true});
    return specs;
}

void forward_on_host(simt::Executor& machine, const AttentionShape& p, const Probe*) {
    launch_standard_1_naive(machine, p);
}

std::int64_t forward_blocks(const AttentionShape& p) {
    return (std::int64_t{p.total_heads()} * p.n * std::max(p.nk, p.dv) + 127) / 128;
}

std::map<std::string, TensorBytes> forward_bytes(const AttentionShape& p) {
    const std::int64_t h = 4 * p.total_heads(), n = p.n, nk = p.nk, d = p.d, dv = p.dv, v = visible_pairs(p);
    std::map<std::string, TensorBytes> bytes{{"Q", {h * v * d, 0}},
                                             {"K", {h * v * d, 0}},
                                             {"V", {h * n * nk * dv, 0}},
                                             {"S", {h * 3 * n * nk, h * n * nk}},
                                             {"P", {h * n * nk * dv, h * n * nk}},
                                             {"O", {0, h * n * dv}}};
    add_mask_bytes(bytes, p, p.total_heads() * v);
    return bytes;
}

// ---- standard_backward_1_naive

std::vector<TensorSpec> backward_tensors(const AttentionShape& p) {
    const int heads = p.total_heads(), kv = p.batch * p.kv_heads;
    return {{"Q", Role::Input, heads, p.n, p.d, false},      {"K", Role::Input, kv, p.nk, p.d, false},
            {"V", Role::Input, kv, p.nk, p.dv, false},       {"P", Role::Input, heads, p.n, p.nk, false},
            {"dO", Role::Input, heads, p.n, p.dv, false},    {"dP", Role::Temporary, heads, p.n, p.nk, true},
            {"dS", Role::Temporary, heads, p.n, p.nk, true}, {"dQ", Role::Output, heads, p.n, p.d, true},
            {"dK", Role::Output, kv, p.nk, p.d, true},       {"dV", Role::Output, kv, p.nk, p.dv, true}};
}

void backward_on_host(simt::Executor& machine, const AttentionShape& p, const Probe*) {
    launch_standard_backward_1_naive(machine, p);
}

std::int64_t backward_blocks(const AttentionShape& p) {
    const std::int64_t rows = std::int64_t{p.total_heads()} * p.n, keys = std::int64_t{p.batch} * p.kv_heads * p.nk;
    return (std::max(rows * std::max(p.nk, p.d), keys * std::max(p.d, p.dv)) + 127) / 128;
}

std::map<std::string, TensorBytes> backward_bytes(const AttentionShape& p) {
    const std::int64_t h = 4 * p.total_heads(), kv = std::int64_t{4} * p.batch * p.kv_heads, n = p.n, nk = p.nk;
    const std::int64_t d = p.d, dv = p.dv, S = h * n * nk;
    return {{"P", {S * (dv + 2), 0}}, {"dO", {S * 2 * dv, 0}},  {"V", {S * dv, 0}}, {"dP", {S * 2, S}},
            {"dS", {S * 2 * d, S}},   {"K", {S * d, 0}},        {"Q", {S * d, 0}},  {"dQ", {0, h * n * d}},
            {"dK", {0, kv * nk * d}}, {"dV", {0, kv * nk * dv}}};
}

std::int64_t no_shared_memory(const AttentionShape&) { return 0; }

}  // namespace

std::span<const Rung> standard_rungs() {
    static const std::array<Rung, 2> rungs{{
        {.id = "standard_1_naive",
         .as_tiled = nullptr,
         .tensors = forward_tensors,
         .slots = {},
         .launches = 3,
         .shared_bytes = no_shared_memory,
         .blocks = forward_blocks,
         .launch_on_host = forward_on_host,
         .bytes = forward_bytes},
        {.id = "standard_backward_1_naive",
         .as_tiled = nullptr,
         .tensors = backward_tensors,
         .slots = {},
         .launches = 5,
         .shared_bytes = no_shared_memory,
         .blocks = backward_blocks,
         .launch_on_host = backward_on_host,
         .bytes = backward_bytes},
    }};
    return rungs;
}

}  // namespace flashstep::gpu
