// The backward pass of standard attention in five launches (FA1 paper, Algorithm 3): P, dP and dS go through HBM.
//
// The idea: what a framework does without fusion. The forward pass has kept P; dP = dO V^T is written, the gradient of
// the softmax reads P and dP and writes dS, and dQ, dK, dV are products with what stands in HBM. Each thread computes
// one element (the softmax's gradient: one row) straight from global memory, so each operand is fetched again for every
// element that needs it: far above Algorithm 3's bound of 8nd + 7n^2 elements. Elements of dK and dV sum over the query
// heads that share them before they are written.
//
// HBM bytes, per head (4 bytes an element; g = query heads that share a head of K and V):
//   dV: read P n nk dv, dO n nk dv, written dV nk dv / g. dP: read dO n nk dv, V n nk dv, written dP n nk.
//   dS: read P 2 n nk, dP 2 n nk (sum, difference), written dS n nk. dQ: read dS n nk d, K n nk d, written dQ n d.
//   dK: read dS n nk d, Q n nk d, written dK nk d / g.
#pragma once

#include "gpu/families/standard.h"

namespace flashstep::gpu {

// Line 1: dV = P^T dO. One thread per element of dV.
FS_KERNEL void standard_backward_1_naive_dV(Global<const float> P,   // [heads, n, nk]
                                            Global<const float> dO,  // [heads, n, dv]
                                            Global<float> dV,        // [kv heads, nk, dv]
                                            AttentionShape p) {
    const std::int64_t e = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;
    if (e >= std::int64_t{p.batch} * p.kv_heads * p.nk * p.dv) return;
    const std::int64_t key = e / p.dv;  // of all heads of V
    const int x = static_cast<int>(e % p.dv), c = static_cast<int>(key % p.nk), kv = static_cast<int>(key / p.nk);
    float sum = 0.0f;
    for (int member = 0; member < p.group(); ++member) {
        const std::int64_t first_row = (std::int64_t{kv} * p.group() + member) * p.n;
        for (int r = 0; r < p.n; ++r) sum += P[(first_row + r) * p.nk + c] * dO[(first_row + r) * p.dv + x];
    }
    dV[e] = sum;
}

// Line 2: dP = dO V^T. One thread per element of dP.
FS_KERNEL void standard_backward_1_naive_dP(Global<const float> dO,  // [heads, n, dv]
                                            Global<const float> V,   // [kv heads, nk, dv]
                                            Global<float> dP,        // [heads, n, nk]
                                            AttentionShape p) {
    const std::int64_t e = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;
    if (e >= std::int64_t{p.total_heads()} * p.n * p.nk) return;
    const std::int64_t row = e / p.nk;  // of all heads
    const int c = static_cast<int>(e % p.nk), head = static_cast<int>(row / p.n);
    const std::int64_t v = (std::int64_t{p.kv_head(head)} * p.nk + c) * p.dv;
    float sum = 0.0f;
    for (int x = 0; x < p.dv; ++x) sum += dO[row * p.dv + x] * V[v + x];
    dP[e] = sum;
}

// Line 3: dS = P o (dP - rowsum(P o dP)). One thread per row.
FS_KERNEL void standard_backward_1_naive_dS(Global<const float> P,   // [heads, n, nk]
                                            Global<const float> dP,  // [heads, n, nk]
                                            Global<float> dS,        // [heads, n, nk]
                                            AttentionShape p) {
    const std::int64_t row = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;  // of all heads
    if (row >= std::int64_t{p.total_heads()} * p.n) return;
    const std::int64_t first = row * p.nk;
    float D = 0.0f;
    for (int c = 0; c < p.nk; ++c) D += P[first + c] * dP[first + c];
    for (int c = 0; c < p.nk; ++c) dS[first + c] = P[first + c] * (dP[first + c] - D);
}

// Line 4: dQ = scale dS K. One thread per element of dQ.
FS_KERNEL void standard_backward_1_naive_dQ(Global<const float> dS,  // [heads, n, nk]
                                            Global<const float> K,   // [kv heads, nk, d]
                                            Global<float> dQ,        // [heads, n, d]
                                            AttentionShape p) {
    const std::int64_t e = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;
    if (e >= std::int64_t{p.total_heads()} * p.n * p.d) return;
    const std::int64_t row = e / p.d;  // of all heads
    const int x = static_cast<int>(e % p.d), head = static_cast<int>(row / p.n);
    const std::int64_t k = std::int64_t{p.kv_head(head)} * p.nk * p.d + x;
    float sum = 0.0f;
    for (int c = 0; c < p.nk; ++c) sum += dS[row * p.nk + c] * K[k + std::int64_t{c} * p.d];
    dQ[e] = p.scale * sum;
}

// Line 5: dK = scale dS^T Q. One thread per element of dK.
FS_KERNEL void standard_backward_1_naive_dK(Global<const float> dS,  // [heads, n, nk]
                                            Global<const float> Q,   // [heads, n, d]
                                            Global<float> dK,        // [kv heads, nk, d]
                                            AttentionShape p) {
    const std::int64_t e = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;
    if (e >= std::int64_t{p.batch} * p.kv_heads * p.nk * p.d) return;
    const std::int64_t key = e / p.d;  // of all heads of K
    const int x = static_cast<int>(e % p.d), c = static_cast<int>(key % p.nk), kv = static_cast<int>(key / p.nk);
    float sum = 0.0f;
    for (int member = 0; member < p.group(); ++member) {
        const std::int64_t first_row = (std::int64_t{kv} * p.group() + member) * p.n;
        for (int r = 0; r < p.n; ++r) sum += dS[(first_row + r) * p.nk + c] * Q[(first_row + r) * p.d + x];
    }
    dK[e] = p.scale * sum;
}

struct StandardBackward1Naive : StandardBackward {
    static constexpr std::string_view id = "standard_backward_1_naive";
    static constexpr Text title{"Standard attention backward: five launches, P, dP and dS go through HBM",
                                "标准注意力反向：启动五次，P、dP、dS 都经过 HBM"};
    static constexpr int launches = 5;

    // The launches, the same for the executor and for a device.
    template <class Machine, class Tracer>
    static void launch(Machine& machine, const AttentionShape& p, Tracer) {
        const std::int64_t rows = std::int64_t{p.total_heads()} * p.n, keys = std::int64_t{p.batch} * p.kv_heads * p.nk;
        const auto over = [](std::string_view name, std::int64_t threads) {
            return Launch{.name = name, .grid = {static_cast<int>((threads + 127) / 128), 1, 1}, .block = {128, 1, 1}};
        };
        machine.launch(over("standard_backward_1_naive_dV", keys * p.dv), standard_backward_1_naive_dV,
                       machine.read("P"), machine.read("dO"), machine.write("dV"), p);
        machine.launch(over("standard_backward_1_naive_dP", rows * p.nk), standard_backward_1_naive_dP,
                       machine.read("dO"), machine.read("V"), machine.write("dP"), p);
        machine.launch(over("standard_backward_1_naive_dS", rows), standard_backward_1_naive_dS, machine.read("P"),
                       machine.read("dP"), machine.write("dS"), p);
        machine.launch(over("standard_backward_1_naive_dQ", rows * p.d), standard_backward_1_naive_dQ,
                       machine.read("dS"), machine.read("K"), machine.write("dQ"), p);
        machine.launch(over("standard_backward_1_naive_dK", keys * p.d), standard_backward_1_naive_dK,
                       machine.read("dS"), machine.read("Q"), machine.write("dK"), p);
    }
};

}  // namespace flashstep::gpu
