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

using LaunchOnHost = void (*)(simt::Executor&, const AttentionShape&, const Probe*);

Rung fa2_rung(std::string_view id, std::int64_t (*shared_bytes)(const AttentionShape&), LaunchOnHost launch) {
    return {.id = id,
            .as_tiled = nullptr,
            .tensors = fa2_tensors,
            .slots = fa2_slots(),
            .launches = 1,
            .shared_bytes = shared_bytes,
            .blocks = fa2_blocks,
            .launch_on_host = launch,
            .bytes = fa2_bytes};
}

}  // namespace

std::span<const Rung> forward_rungs() {
    using simt::Executor;
    using Shape = AttentionShape;
    static const std::array<Rung, 7> rungs{{
        fa2_rung("fa2_forward_1_tile", fa2_forward_1_tile_shared_bytes,
                 [](Executor& m, const Shape& p, const Probe* probe) {
                     launch_traced(probe, [&](auto t) { launch_fa2_forward_1_tile(m, p, t); });
                 }),
        fa2_rung("fa2_forward_2_warps", fa2_forward_2_warps_shared_bytes,
                 [](Executor& m, const Shape& p, const Probe* probe) {
                     launch_traced(probe, [&](auto t) { launch_fa2_forward_2_warps(m, p, t); });
                 }),
        fa2_rung("fa2_forward_3_mma", fa2_forward_3_mma_shared_bytes,
                 [](Executor& m, const Shape& p, const Probe* probe) {
                     launch_traced(probe, [&](auto t) { launch_fa2_forward_3_mma(m, p, t); });
                 }),
        fa2_rung("fa2_forward_4_swizzle", fa2_forward_4_swizzle_shared_bytes,
                 [](Executor& m, const Shape& p, const Probe* probe) {
                     launch_traced(probe, [&](auto t) { launch_fa2_forward_4_swizzle(m, p, t); });
                 }),
        fa2_rung("fa2_forward_5_cp_async", fa2_forward_5_cp_async_shared_bytes,
                 [](Executor& m, const Shape& p, const Probe* probe) {
                     launch_traced(probe, [&](auto t) { launch_fa2_forward_5_cp_async(m, p, t); });
                 }),
        fa2_rung("fa2_forward_6_exp2", fa2_forward_6_exp2_shared_bytes,
                 [](Executor& m, const Shape& p, const Probe* probe) {
                     launch_traced(probe, [&](auto t) { launch_fa2_forward_6_exp2(m, p, t); });
                 }),
        fa2_rung("fa2_forward_7_registers", fa2_forward_7_registers_shared_bytes,
                 [](Executor& m, const Shape& p, const Probe* probe) {
                     launch_traced(probe, [&](auto t) { launch_fa2_forward_7_registers(m, p, t); });
                 }),
    }};
    return rungs;
}

}  // namespace flashstep::gpu
