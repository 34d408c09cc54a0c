// The rungs' tensors, launches on the executor, and closed forms of their HBM bytes. One block per kernel.
#include "gpu/rungs.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "gpu/kernels/fa2_forward_1_tile.cuh"
#include "gpu/kernels/standard_1_naive.cuh"
#include "gpu/simt/executor.h"

namespace flashstep::gpu {

namespace {

using simt::Role;

// Visible (query, key) pairs of one head.
std::int64_t visible_pairs(const AttentionShape& p) {
    std::int64_t pairs = 0;
    for (int row = 0; row < p.n; ++row) {
        pairs += p.causal ? std::clamp<std::int64_t>(std::int64_t{row} + p.nk - p.n + 1, 0, p.nk) : p.nk;
    }
    return pairs;
}

// Keys in the tiles that row block i looks at, summed over the row blocks of one head.
std::int64_t loaded_keys(const AttentionShape& p) {
    std::int64_t keys = 0;
    for (int i = 0; i < p.row_blocks(); ++i) {
        keys += std::min(std::int64_t{p.visible_blocks(i)} * p.B_c, std::int64_t{p.nk});
    }
    return keys;
}

std::vector<TensorSpec> attention_inputs(const AttentionShape& p) {
    const int kv = p.batch * p.kv_heads;
    return {{"Q", Role::Input, p.total_heads(), p.n, p.d, false},
            {"K", Role::Input, kv, p.nk, p.d, false},
            {"V", Role::Input, kv, p.nk, p.dv, false}};
}

// ---- standard_1_naive

std::vector<TensorSpec> standard_tensors(const AttentionShape& p) {
    auto specs = attention_inputs(p);
    specs.push_back({"S", Role::Temporary, p.total_heads(), p.n, p.nk, true});
    specs.push_back({"P", Role::Temporary, p.total_heads(), p.n, p.nk, true});
    specs.push_back({"O", Role::Output, p.total_heads(), p.n, p.dv, true});
    return specs;
}

void standard_on_host(simt::Executor& machine, const AttentionShape& p, const Probe*) {
    launch_standard_1_naive(machine, p);
}

std::int64_t standard_blocks(const AttentionShape& p) {
    return (std::int64_t{p.total_heads()} * p.n * std::max(p.nk, p.dv) + 127) / 128;
}

std::map<std::string, TensorBytes> standard_bytes(const AttentionShape& p) {
    const std::int64_t h = 4 * p.total_heads(), n = p.n, nk = p.nk, d = p.d, dv = p.dv, v = visible_pairs(p);
    return {{"Q", {h * v * d, 0}},
            {"K", {h * v * d, 0}},
            {"V", {h * n * nk * dv, 0}},
            {"S", {h * 3 * n * nk, h * n * nk}},
            {"P", {h * n * nk * dv, h * n * nk}},
            {"O", {0, h * n * dv}}};
}

// ---- fa2_forward_1_tile

std::vector<TensorSpec> fa2_forward_tensors(const AttentionShape& p) {
    auto specs = attention_inputs(p);
    specs.push_back({"O", Role::Output, p.total_heads(), p.n, p.dv, true});
    specs.push_back({"L", Role::Output, p.total_heads(), p.n, 1, true});
    return specs;
}

void fa2_forward_1_tile_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    if (probe) {
        launch_fa2_forward_1_tile(machine, p, *probe);
    } else {
        launch_fa2_forward_1_tile(machine, p, NoProbe{});
    }
}

std::int64_t row_block_grid(const AttentionShape& p) { return std::int64_t{p.total_heads()} * p.row_blocks(); }

std::map<std::string, TensorBytes> fa2_forward_bytes(const AttentionShape& p) {
    const std::int64_t h = 4 * p.total_heads(), n = p.n, keys = loaded_keys(p);
    return {{"Q", {h * n * p.d, 0}},
            {"K", {h * keys * p.d, 0}},
            {"V", {h * keys * p.dv, 0}},
            {"O", {0, h * n * p.dv}},
            {"L", {0, h * n}}};
}

}  // namespace

const Rung& rung(std::string_view id) {
    using Width = SlotSpec::Width;
    static const std::array<Rung, 2> rungs{{
        {"standard_1_naive",
         standard_tensors,
         {},
         3,
         [](const AttentionShape&) { return std::int64_t{0}; },
         standard_blocks,
         standard_on_host,
         standard_bytes},
        {"fa2_forward_1_tile",
         fa2_forward_tensors,
         {{"S_ij", Slot::S_ij, Width::Keys},
          {"m_i", Slot::m_i, Width::One},
          {"l_i", Slot::l_i, Width::One},
          {"P_ij", Slot::P_ij, Width::Keys},
          {"O_i", Slot::O_i, Width::ValueColumns}},
         1,
         fa2_forward_1_tile_shared_bytes,
         row_block_grid,
         fa2_forward_1_tile_on_host,
         fa2_forward_bytes},
    }};
    for (const Rung& row : rungs) {
        if (row.id == id) return row;
    }
    throw Error("no kernel is named " + std::string(id));
}

}  // namespace flashstep::gpu
