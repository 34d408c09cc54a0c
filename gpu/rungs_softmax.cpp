// The rungs of the softmax: one thread per row, tiles of a single score.
#include <array>

#include "gpu/kernels/softmax_1_naive.cuh"
#include "gpu/kernels/softmax_2_safe.cuh"
#include "gpu/kernels/softmax_3_online.cuh"
#include "gpu/rungs.h"
#include "gpu/simt/executor.h"

namespace flashstep::gpu {

namespace {

using simt::Role;

// The mask is in the scores that they read.
AttentionShape by_score(AttentionShape p) {
    p.B_r = p.B_c = 1;
    p.causal = 0, p.mask_rows = 0;
    return p;
}

std::vector<TensorSpec> tensors(const AttentionShape& p) {
    return {{"X", Role::Input, p.total_heads(), p.n, p.nk, false},
            {"P", Role::Output, p.total_heads(), p.n, p.nk, true}};
}

std::int64_t no_shared_memory(const AttentionShape&) { return 0; }
std::int64_t blocks(const AttentionShape& p) { return (std::int64_t{p.total_heads()} * p.n + 127) / 128; }

template <int kPasses>
std::map<std::string, TensorBytes> bytes(const AttentionShape& p) {
    const std::int64_t scores = std::int64_t{4} * p.total_heads() * p.n * p.nk;
    return {{"X", {kPasses * scores, 0}}, {"P", {0, scores}}};
}

void naive_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    launch_traced(probe, [&](auto tracer) { launch_softmax_1_naive(machine, p, tracer); });
}
void safe_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    launch_traced(probe, [&](auto tracer) { launch_softmax_2_safe(machine, p, tracer); });
}
void online_on_host(simt::Executor& machine, const AttentionShape& p, const Probe* probe) {
    launch_traced(probe, [&](auto tracer) { launch_softmax_3_online(machine, p, tracer); });
}

}  // namespace

std::span<const Rung> softmax_rungs() {
    static const SlotSpec m{"m", Slot::m, Extent::One, Extent::One}, l{"l", Slot::l, Extent::One, Extent::One},
        weight{"p", Slot::p, Extent::One, Extent::One};
    static const std::array<Rung, 3> rungs{{
        {.id = "softmax_1_naive",
         .as_tiled = by_score,
         .tensors = tensors,
         .slots = {l, weight},
         .launches = 1,
         .shared_bytes = no_shared_memory,
         .blocks = blocks,
         .launch_on_host = naive_on_host,
         .bytes = bytes<2>},
        {.id = "softmax_2_safe",
         .as_tiled = by_score,
         .tensors = tensors,
         .slots = {m, l, weight},
         .launches = 1,
         .shared_bytes = no_shared_memory,
         .blocks = blocks,
         .launch_on_host = safe_on_host,
         .bytes = bytes<3>},
        {.id = "softmax_3_online",
         .as_tiled = by_score,
         .tensors = tensors,
         .slots = {m, l, weight},
         .launches = 1,
         .shared_bytes = no_shared_memory,
         .blocks = blocks,
         .launch_on_host = online_on_host,
         .bytes = bytes<2>},
    }};
    return rungs;
}

}  // namespace flashstep::gpu
