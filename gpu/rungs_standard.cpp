// The rungs of standard attention: tensors, launches on the executor, closed forms of their HBM bytes.
#include <algorithm>
#include <array>

#include "gpu/kernels/standard_1_naive.cuh"
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

std::int64_t no_shared_memory(const AttentionShape&) { return 0; }

}  // namespace

std::span<const Rung> standard_rungs() {
    static const std::array<Rung, 1> rungs{{
        {.id = "standard_1_naive",
         .as_tiled = nullptr,
         .tensors = forward_tensors,
         .slots = {},
         .launches = 3,
         .shared_bytes = no_shared_memory,
         .blocks = forward_blocks,
         .launch_on_host = forward_on_host,
         .bytes = forward_bytes},
    }};
    return rungs;
}

}  // namespace flashstep::gpu
