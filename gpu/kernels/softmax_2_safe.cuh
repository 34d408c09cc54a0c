// Safe softmax (Milakov and Gimelshein 2018, Algorithm 2): three passes over the row.
//
// The idea: e^(x - m) with the row's maximum m is at most 1, and the quotient is the same. What changed from
// softmax_1_naive: nothing overflows, at the price of a pass before the others, because m has to be known before the
// first exponential. One thread per row.
//
// HBM bytes, per head (4 bytes an element): read X 3 n nk, written P n nk.
#pragma once

#include "gpu/families/softmax.h"

namespace flashstep::gpu {

// Line 1: one thread per row of X.
template <class Tracer>
FS_KERNEL void softmax_2_safe(Global<const float> X,  // [heads, n, nk], scores
                              Global<float> P,        // [heads, n, nk], each row sums to 1
                              AttentionShape p, Tracer probe) {
    const std::int64_t row = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;  // of all heads
    if (row >= std::int64_t{p.total_heads()} * p.n) return;
    const int head = static_cast<int>(row / p.n), i = static_cast<int>(row % p.n);
    const std::int64_t first = row * p.nk;

    // Lines 2 to 4: first pass, m = max(m, x).
    float m = minus_infinity();
    for (int j = 0; j < p.nk; ++j) {
        m = max_of(m, X[first + j]);
        probe.write(Slot::m, head, i, j, 0, m);
    }
    // Lines 5 to 7: second pass, l = sum of e^(x - m).
    float l = 0.0f;
    for (int j = 0; j < p.nk; ++j) {
        l += exp_diff(X[first + j], m);
        probe.write(Slot::l, head, i, j, 0, l);
    }
    // Lines 8, 9: third pass, p = e^(x - m) / l; 0 where all scores are -inf.
    for (int j = 0; j < p.nk; ++j) {
        const float e = exp_diff(X[first + j], m);
        const float weight = l == 0.0f ? 0.0f : e / l;
        P[first + j] = weight;
        probe.write(Slot::p, head, i, j, 0, weight);
    }
}

struct Softmax2Safe : SoftmaxRung<3> {
    static constexpr std::string_view id = "softmax_2_safe";
    static constexpr Text title{"Safe softmax: a third pass for the maximum", "safe softmax：多扫一遍求最大值"};
    static constexpr std::string_view algorithm = "safe_softmax";

    // The launch, the same for the executor and for a device.
    template <class Machine, class Tracer>
    static void launch(Machine& machine, const AttentionShape& p, Tracer probe) {
        const std::int64_t rows = std::int64_t{p.total_heads()} * p.n;
        machine.launch(Launch{.name = id, .grid = {static_cast<int>((rows + 127) / 128), 1, 1}, .block = {128, 1, 1}},
                       softmax_2_safe<Tracer>, machine.read("X"), machine.write("P"), p, probe);
    }
};

}  // namespace flashstep::gpu
