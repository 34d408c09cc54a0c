// The rungs of FlashAttention-1: tensors, slots, launches on the executor, closed forms of their HBM bytes.
#include <algorithm>
#include <array>

#include "gpu/kernels/fa1_forward_1_tile.cuh"
#include "gpu/rungs.h"
#include "gpu/simt/executor.h"

namespace flashstep::gpu {

namespace {

using simt::Role;

std::vector<TensorSpec> tensors(const AttentionShape& p) {
    auto specs = attention_inputs(p);
    specs.push_back({"O", Role::Output, p.total_heads(), p.n, p.dv, true});
    specs.push_back({"l", Role::Output, p.total_heads(), p.n, 1, true});
    specs.push_back({"m", Role::Output, p.total_heads(), p.n, 1, true});
    return specs;
}

std::int64_t blocks(const AttentionShape& p) { return p.total_heads(); }

std::map<std::string, TensorBytes> bytes(const AttentionShape& p) {
    const std::int64_t h = 4 * p.total_heads(), n = p.n, rows = loaded_rows(p);
    std::map<std::string, TensorBytes> bytes{
        {"Q", {h * rows * p.d, 0}},        {"K", {h * p.nk * p.d, 0}},
        {"V", {h * p.nk * p.dv, 0}},       {"O", {h * rows * p.dv, h * (n + rows) * p.dv}},
        {"l", {h * rows, h * (n + rows)}}, {"m", {h * rows, h * (n + rows)}}};
    add_mask_bytes(bytes, p, loaded_mask(p));
    return bytes;
}

void fa1_1_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    launch_traced(probe, [&](auto tracer) { launch_fa1_forward_1_tile(machine, p, tracer); });
}

}  // namespace

std::span<const Rung> fa1_rungs() {
    static const std::array<Rung, 1> rungs{{
        {.id = "fa1_forward_1_tile",
         .as_tiled = nullptr,
         .tensors = tensors,
         .slots = {{"S_ij", Slot::S_ij, Extent::Queries, Extent::Keys},
                   {"m_ij", Slot::m_ij, Extent::Queries, Extent::One},
                   {"P_ij", Slot::P_ij, Extent::Queries, Extent::Keys},
                   {"l_ij", Slot::l_ij, Extent::Queries, Extent::One},
                   {"m_new", Slot::m_new, Extent::Queries, Extent::One},
                   {"l_new", Slot::l_new, Extent::Queries, Extent::One},
                   {"O_i", Slot::O_i, Extent::Queries, Extent::ValueColumns}},
         .launches = 1,
         .shared_bytes = fa1_forward_1_tile_shared_bytes,
         .blocks = blocks,
         .launch_on_host = fa1_1_on_host,
         .bytes = bytes},
    }};
    return rungs;
}

}  // namespace flashstep::gpu
