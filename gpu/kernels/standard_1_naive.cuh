// Standard attention in three launches (FA1 paper, Algorithm 0): S and P go through HBM.
//
// The idea: what a framework does without fusion. S = scale Q K^T is written to HBM, the softmax reads it and writes P,
// O = P V reads P. Each thread computes one element (the softmax: one row) straight from global memory, with no tile
// and no shared memory, so each operand is fetched again for every element that needs it: far above Algorithm 0's bound
// of 4nd + 4n^2 elements, where each operand moves once per operation.
//
// HBM bytes, per head (4 bytes an element; v = visible (query, key) pairs, n nk without a mask):
//   S launch: read Q v d, K v d, an additive mask M v; written S n nk. Softmax: read S 3 n nk (maximum, sum, quotient),
//   written P n nk. O launch: read P n nk dv, V n nk dv, written O n dv.
#pragma once

#include "gpu/families/standard.h"
#include "gpu/mask_tile.h"

namespace flashstep::gpu {

// Line 1: S = scale Q K^T + M, -inf where the mask hides the key. One thread per element of S.
FS_KERNEL void standard_1_naive_scores(Global<const float> Q,  // [heads, n, d]
                                       Global<const float> K,  // [kv heads, nk, d]
                                       Global<const float> M,  // [mask_rows, nk]; empty: no mask
                                       Global<float> S,        // [heads, n, nk]
                                       AttentionShape p) {
    const std::int64_t e = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;
    const std::int64_t elements = std::int64_t{p.n} * p.nk;  // of one head
    if (e >= p.total_heads() * elements) return;
    const int head = static_cast<int>(e / elements);
    const int r = static_cast<int>(e % elements / p.nk), c = static_cast<int>(e % p.nk);
    if (!p.visible(r, c)) {
        S[e] = minus_infinity();
        return;
    }
    const std::int64_t q = (std::int64_t{head} * p.n + r) * p.d, k = (std::int64_t{p.kv_head(head)} * p.nk + c) * p.d;
    float sum = 0.0f;
    for (int x = 0; x < p.d; ++x) sum += Q[q + x] * K[k + x];
    sum *= p.scale;
    S[e] = p.mask_rows > 0 ? sum + M[std::int64_t{p.mask_rows > 1 ? r : 0} * p.nk + c] : sum;
}

// Line 2: P = softmax(S); the row's maximum is taken off first, so that no exponential overflows. One thread per row.
FS_KERNEL void standard_1_naive_softmax(Global<const float> S,  // [heads, n, nk]
                                        Global<float> P,        // [heads, n, nk]
                                        AttentionShape p) {
    const std::int64_t row = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;  // of all heads
    if (row >= std::int64_t{p.total_heads()} * p.n) return;
    const std::int64_t first = row * p.nk;
    float m = minus_infinity();
    for (int c = 0; c < p.nk; ++c) m = max_of(m, S[first + c]);
    float l = 0.0f;
    for (int c = 0; c < p.nk; ++c) l += exp_diff(S[first + c], m);
    for (int c = 0; c < p.nk; ++c) {
        const float weight = exp_diff(S[first + c], m);
        P[first + c] = l == 0.0f ? 0.0f : weight / l;  // a row without visible keys has P = 0
    }
}

// Line 3: O = P V. One thread per element of O.
FS_KERNEL void standard_1_naive_output(Global<const float> P,  // [heads, n, nk]
                                       Global<const float> V,  // [kv heads, nk, dv]
                                       Global<float> O,        // [heads, n, dv]
                                       AttentionShape p) {
    const std::int64_t e = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;
    if (e >= std::int64_t{p.total_heads()} * p.n * p.dv) return;
    const std::int64_t row = e / p.dv;  // of all heads
    const int x = static_cast<int>(e % p.dv), head = static_cast<int>(row / p.n);
    const std::int64_t v = std::int64_t{p.kv_head(head)} * p.nk * p.dv + x;
    float sum = 0.0f;
    for (int c = 0; c < p.nk; ++c) sum += P[row * p.nk + c] * V[v + std::int64_t{c} * p.dv];
    O[e] = sum;
}

struct Standard1Naive : StandardForward {
    static constexpr std::string_view id = "standard_1_naive";
    static constexpr Text title{"Standard attention: three launches, S and P go through HBM",
                                "标准注意力：启动三次，S 和 P 都经过 HBM"};
    static constexpr int launches = 3;

    // The launches, the same for the executor and for a device.
    template <class Machine, class Tracer>
    static void launch(Machine& machine, const AttentionShape& p, Tracer) {
        const std::int64_t rows = std::int64_t{p.total_heads()} * p.n;
        const auto over = [](std::string_view name, std::int64_t threads) {
            return Launch{.name = name, .grid = {static_cast<int>((threads + 127) / 128), 1, 1}, .block = {128, 1, 1}};
        };
        machine.launch(over("standard_1_naive_scores", rows * p.nk), standard_1_naive_scores, machine.read("Q"),
                       machine.read("K"), mask_view(machine, p), machine.write("S"), p);
        machine.launch(over("standard_1_naive_softmax", rows), standard_1_naive_softmax, machine.read("S"),
                       machine.write("P"), p);
        machine.launch(over("standard_1_naive_output", rows * p.dv), standard_1_naive_output, machine.read("P"),
                       machine.read("V"), machine.write("O"), p);
    }
};

}  // namespace flashstep::gpu
