// Online softmax (Milakov and Gimelshein 2018, Algorithm 3): maximum and sum in one pass.
//
// The idea: l is kept relative to the maximum so far; when that grows, l is corrected by e^(m_old - m). What changed
// from softmax_2_safe: two passes again, as many as the naive softmax, and as safe. FlashAttention is this correction,
// done tile by tile and to the output too. One thread per row.
//
// HBM bytes, per head (4 bytes an element): read X 2 n nk, written P n nk.
#pragma once

#include "gpu/families/softmax.h"

namespace flashstep::gpu {

// Line 1: one thread per row of X.
template <class Tracer>
FS_KERNEL void softmax_3_online(Global<const float> X,  // [heads, n, nk], scores
                                Global<float> P,        // [heads, n, nk], each row sums to 1
                                AttentionShape p, Tracer probe) {
    const std::int64_t row = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;  // of all heads
    if (row >= std::int64_t{p.total_heads()} * p.n) return;
    const int head = static_cast<int>(row / p.n), i = static_cast<int>(row % p.n);
    const std::int64_t first = row * p.nk;

    // Line 2: m = -inf, l = 0.
    float m = minus_infinity();
    float l = 0.0f;
    for (int j = 0; j < p.nk; ++j) {  // line 3; first pass
        // Line 4: m = max(m_old, x).
        const float x = X[first + j];
        const float m_old = m;
        m = max_of(m_old, x);
        // Line 5: l = l e^(m_old - m) + e^(x - m).
        l = l * exp_diff(m_old, m) + exp_diff(x, m);
        probe.write(Slot::m, head, i, j, 0, m);
        probe.write(Slot::l, head, i, j, 0, l);
    }
    // Lines 6, 7: second pass, p = e^(x - m) / l; 0 where all scores are -inf.
    for (int j = 0; j < p.nk; ++j) {
        const float e = exp_diff(X[first + j], m);
        const float weight = l == 0.0f ? 0.0f : e / l;
        P[first + j] = weight;
        probe.write(Slot::p, head, i, j, 0, weight);
    }
}

struct Softmax3Online : SoftmaxRung<2> {
    static constexpr std::string_view id = "softmax_3_online";
    static constexpr Text title{"Online softmax: maximum and sum in one pass", "在线 softmax：一遍同时求出最大值与和"};
    static constexpr std::string_view algorithm = "online_softmax";

    // The launch, the same for the executor and for a device.
    template <class Machine, class Tracer>
    static void launch(Machine& machine, const AttentionShape& p, Tracer probe) {
        const std::int64_t rows = std::int64_t{p.total_heads()} * p.n;
        machine.launch(Launch{.name = id, .grid = {static_cast<int>((rows + 127) / 128), 1, 1}, .block = {128, 1, 1}},
                       softmax_3_online<Tracer>, machine.read("X"), machine.write("P"), p, probe);
    }
};

}  // namespace flashstep::gpu
