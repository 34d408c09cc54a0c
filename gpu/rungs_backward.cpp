// The backward rungs of FlashAttention: tensors, slots, launches on the executor, closed forms of their HBM bytes.
#include <algorithm>
#include <array>

#include "gpu/kernels/fa2_backward_1_two_pass.cuh"
#include "gpu/kernels/fa2_backward_2_atomic.cuh"
#include "gpu/kernels/fa2_backward_3_mma.cuh"
#include "gpu/rungs.h"
#include "gpu/simt/executor.h"

namespace flashstep::gpu {

namespace {

using simt::Role;

// ---- What the rungs have in common

std::vector<TensorSpec> fa2_tensors(const AttentionShape& p) {
    const int heads = p.total_heads(), kv = p.batch * p.kv_heads;
    auto specs = attention_inputs(p);
    specs.push_back({"O", Role::Input, heads, p.n, p.dv, false, p.element});
    specs.push_back({"dO", Role::Input, heads, p.n, p.dv, false, p.element});
    specs.push_back({"L", Role::Input, heads, p.n, 1, false});
    specs.push_back({"D", Role::Temporary, heads, p.n, 1, true});
    specs.push_back({"dQ", Role::Output, heads, p.n, p.d, true, p.element});
    specs.push_back({"dK", Role::Output, kv, p.nk, p.d, true, p.element});
    specs.push_back({"dV", Role::Output, kv, p.nk, p.dv, true, p.element});
    return specs;
}

std::vector<SlotSpec> tile_slots(SlotSpec of_dQ) {
    return {{"S_ij", Slot::S_ij, Extent::Queries, Extent::Keys},
            {"P_ij", Slot::P_ij, Extent::Queries, Extent::Keys},
            {"dP_ij", Slot::dP_ij, Extent::Queries, Extent::Keys},
            {"dS_ij", Slot::dS_ij, Extent::Queries, Extent::Keys},
            of_dQ,
            {"dK_j", Slot::dK_j, Extent::Keys, Extent::HeadColumns},
            {"dV_j", Slot::dV_j, Extent::Keys, Extent::ValueColumns}};
}

std::int64_t row_blocks(const AttentionShape& p) { return (std::int64_t{p.total_heads()} * p.n + 127) / 128; }
std::int64_t column_blocks(const AttentionShape& p) { return std::int64_t{p.batch} * p.kv_heads * p.col_blocks(); }

// The launch for D, and one thread block per column block that keeps dK_j and dV_j: what both rungs move.
std::map<std::string, TensorBytes> columns_bytes(const AttentionShape& p) {
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

// ---- fa2_backward_1_two_pass

std::map<std::string, TensorBytes> two_pass_bytes(const AttentionShape& p) {
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

void two_pass_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    launch_traced(probe, [&](auto tracer) { launch_fa2_backward_1_two_pass(machine, p, tracer); });
}

std::int64_t two_pass_shared_bytes(const AttentionShape& p) {
    return std::max(fa2_backward_1_two_pass_rows_bytes(p), fa2_backward_1_two_pass_columns_bytes(p));
}

std::int64_t two_pass_blocks(const AttentionShape& p) {
    return std::max({row_blocks(p), std::int64_t{p.total_heads()} * p.row_blocks(), column_blocks(p)});
}

// ---- fa2_backward_2_atomic

std::map<std::string, TensorBytes> atomic_bytes(const AttentionShape& p) {
    const std::int64_t h = 4 * p.total_heads(), rows = loaded_rows(p);
    auto bytes = columns_bytes(p);
    bytes["dQ"] = {h * rows * p.d, h * (p.n + rows) * p.d};
    add_mask_bytes(bytes, p, loaded_mask(p));
    return bytes;
}

void atomic_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    launch_traced(probe, [&](auto tracer) { launch_fa2_backward_2_atomic(machine, p, tracer); });
}

std::int64_t atomic_blocks(const AttentionShape& p) { return std::max(row_blocks(p), column_blocks(p)); }

// ---- fa2_backward_3_mma

void mma_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    launch_traced(probe, [&](auto tracer) { launch_fa2_backward_3_mma(machine, p, tracer); });
}

}  // namespace

std::span<const Rung> backward_rungs() {
    static const std::array<Rung, 3> rungs{{
        {.id = "fa2_backward_1_two_pass",
         .as_tiled = nullptr,
         .tensors = fa2_tensors,
         .slots = tile_slots({"dQ_i", Slot::dQ_i, Extent::Queries, Extent::HeadColumns}),
         .launches = 3,
         .shared_bytes = two_pass_shared_bytes,
         .blocks = two_pass_blocks,
         .launch_on_host = two_pass_on_host,
         .bytes = two_pass_bytes},
        {.id = "fa2_backward_2_atomic",
         .as_tiled = nullptr,
         .tensors = fa2_tensors,
         .slots = tile_slots({"dQ_ij", Slot::dQ_ij, Extent::Queries, Extent::HeadColumns}),
         .launches = 2,
         .shared_bytes = fa2_backward_2_atomic_shared_bytes,
         .blocks = atomic_blocks,
         .launch_on_host = atomic_on_host,
         .bytes = atomic_bytes},
        {.id = "fa2_backward_3_mma",
         .as_tiled = nullptr,
         .tensors = fa2_tensors,
         .slots = tile_slots({"dQ_i", Slot::dQ_i, Extent::Queries, Extent::HeadColumns}),
         .launches = 3,
         .shared_bytes = fa2_backward_3_mma_shared_bytes,
         .blocks = two_pass_blocks,
         .launch_on_host = mma_on_host,
         .bytes = two_pass_bytes},
    }};
    return rungs;
}

}  // namespace flashstep::gpu
