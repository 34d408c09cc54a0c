// The forward rungs of FlashAttention: tensors, slots, launches on the executor, closed forms of their HBM bytes.
#include <array>

#include "gpu/kernels/fa2_forward_1_tile.cuh"
#include "gpu/kernels/fa2_forward_2_warps.cuh"
#include "gpu/kernels/fa2_forward_3_mma.cuh"
#include "gpu/kernels/fa2_forward_4_swizzle.cuh"
#include "gpu/kernels/fa2_forward_5_cp_async.cuh"
#include "gpu/kernels/fa2_forward_6_exp2.cuh"
#include "gpu/kernels/fa2_forward_7_registers.cuh"
#include "gpu/rungs.h"
#include "gpu/simt/executor.h"

namespace flashstep::gpu {

namespace {

using simt::Role;

// ---- FlashAttention-2: what its rungs have in common

const std::vector<SlotSpec>& fa2_slots() {
    static const std::vector<SlotSpec> slots{{"S_ij", Slot::S_ij, Extent::Queries, Extent::Keys},
                                             {"m_i", Slot::m_i, Extent::Queries, Extent::One},
                                             {"l_i", Slot::l_i, Extent::Queries, Extent::One},
                                             {"P_ij", Slot::P_ij, Extent::Queries, Extent::Keys},
                                             {"O_i", Slot::O_i, Extent::Queries, Extent::ValueColumns}};
    return slots;
}

std::vector<TensorSpec> fa2_tensors(const AttentionShape& p) {
    auto specs = attention_inputs(p);
    specs.push_back({"O", Role::Output, p.total_heads(), p.n, p.dv, true, p.element});
    specs.push_back({"L", Role::Output, p.total_heads(), p.n, 1, true});
    return specs;
}

std::int64_t fa2_blocks(const AttentionShape& p) { return std::int64_t{p.total_heads()} * p.row_blocks(); }

std::map<std::string, TensorBytes> fa2_bytes(const AttentionShape& p) {
    const std::int64_t h = bytes_of(p.element) * p.total_heads(), n = p.n, keys = loaded_keys(p);
    std::map<std::string, TensorBytes> bytes{{"Q", {h * n * p.d, 0}},
                                             {"K", {h * keys * p.d, 0}},
                                             {"V", {h * keys * p.dv, 0}},
                                             {"O", {0, h * n * p.dv}},
                                             {"L", {0, 4 * p.total_heads() * n}}};
    add_mask_bytes(bytes, p, loaded_mask(p));
    return bytes;
}

void fa2_1_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    launch_traced(probe, [&](auto tracer) { launch_fa2_forward_1_tile(machine, p, tracer); });
}

void fa2_2_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    launch_traced(probe, [&](auto tracer) { launch_fa2_forward_2_warps(machine, p, tracer); });
}

void fa2_3_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    probe ? launch_fa2_forward_3_mma(machine, p, *probe) : launch_fa2_forward_3_mma(machine, p, NoProbe{});
}

void fa2_4_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    probe ? launch_fa2_forward_4_swizzle(machine, p, *probe) : launch_fa2_forward_4_swizzle(machine, p, NoProbe{});
}

void fa2_5_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    probe ? launch_fa2_forward_5_cp_async(machine, p, *probe) : launch_fa2_forward_5_cp_async(machine, p, NoProbe{});
}

void fa2_6_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    probe ? launch_fa2_forward_6_exp2(machine, p, *probe) : launch_fa2_forward_6_exp2(machine, p, NoProbe{});
}

void fa2_7_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    probe ? launch_fa2_forward_7_registers(machine, p, *probe) : launch_fa2_forward_7_registers(machine, p, NoProbe{});
}

}  // namespace

std::span<const Rung> forward_rungs() {
    static const std::array<Rung, 7> rungs{{
        {.id = "fa2_forward_1_tile",
         .as_tiled = nullptr,
         .tensors = fa2_tensors,
         .slots = fa2_slots(),
         .launches = 1,
         .shared_bytes = fa2_forward_1_tile_shared_bytes,
         .blocks = fa2_blocks,
         .launch_on_host = fa2_1_on_host,
         .bytes = fa2_bytes},
        {.id = "fa2_forward_2_warps",
         .as_tiled = nullptr,
         .tensors = fa2_tensors,
         .slots = fa2_slots(),
         .launches = 1,
         .shared_bytes = fa2_forward_2_warps_shared_bytes,
         .blocks = fa2_blocks,
         .launch_on_host = fa2_2_on_host,
         .bytes = fa2_bytes},
        {.id = "fa2_forward_3_mma",
         .as_tiled = nullptr,
         .tensors = fa2_tensors,
         .slots = fa2_slots(),
         .launches = 1,
         .shared_bytes = fa2_forward_3_mma_shared_bytes,
         .blocks = fa2_blocks,
         .launch_on_host = fa2_3_on_host,
         .bytes = fa2_bytes},
        {.id = "fa2_forward_4_swizzle",
         .as_tiled = nullptr,
         .tensors = fa2_tensors,
         .slots = fa2_slots(),
         .launches = 1,
         .shared_bytes = fa2_forward_4_swizzle_shared_bytes,
         .blocks = fa2_blocks,
         .launch_on_host = fa2_4_on_host,
         .bytes = fa2_bytes},
        {.id = "fa2_forward_5_cp_async",
         .as_tiled = nullptr,
         .tensors = fa2_tensors,
         .slots = fa2_slots(),
         .launches = 1,
         .shared_bytes = fa2_forward_5_cp_async_shared_bytes,
         .blocks = fa2_blocks,
         .launch_on_host = fa2_5_on_host,
         .bytes = fa2_bytes},
        {.id = "fa2_forward_6_exp2",
         .as_tiled = nullptr,
         .tensors = fa2_tensors,
         .slots = fa2_slots(),
         .launches = 1,
         .shared_bytes = fa2_forward_6_exp2_shared_bytes,
         .blocks = fa2_blocks,
         .launch_on_host = fa2_6_on_host,
         .bytes = fa2_bytes},
        {.id = "fa2_forward_7_registers",
         .as_tiled = nullptr,
         .tensors = fa2_tensors,
         .slots = fa2_slots(),
         .launches = 1,
         .shared_bytes = fa2_forward_7_registers_shared_bytes,
         .blocks = fa2_blocks,
         .launch_on_host = fa2_7_on_host,
         .bytes = fa2_bytes},
    }};
    return rungs;
}

}  // namespace flashstep::gpu
