// Softmax as it is defined (Milakov and Gimelshein 2018, Algorithm 1): it overflows.
//
// The idea: the sum l of e^x over the row, then e^x / l. Two passes, because the last element contributes to the first
// quotient. No maximum is subtracted: from a score of 89 on e^x is infinite in fp32, and the row becomes NaN. One
// thread per row; its neighbours read other rows, so that no two lanes of a warp read side by side.
//
// HBM bytes, per head (4 bytes an element): read X 2 n nk, written P n nk.
#pragma once

#include "gpu/families/softmax.h"

namespace flashstep::gpu {

// Line 1: one thread per row of X.
template <class Tracer>
FS_KERNEL void softmax_1_naive(Global<const float> X,  // [heads, n, nk], scores
                               Global<float> P,        // [heads, n, nk], each row sums to 1
                               AttentionShape p, Tracer probe) {
    const std::int64_t row = std::int64_t{block_idx().x} * block_dim().x + thread_idx().x;  // of all heads
    if (row >= std::int64_t{p.total_heads()} * p.n) return;
    const int head = static_cast<int>(row / p.n), i = static_cast<int>(row % p.n);
    const std::int64_t first = row * p.nk;

    // Lines 2 to 4: first pass, l = sum of e^x.
    float l = 0.0f;
    for (int j = 0; j < p.nk; ++j) {
        l += exp_diff(X[first + j], 0.0f);
        probe.write(Slot::l, head, i, j, 0, l);
    }
    // Lines 5, 6: second pass, p = e^x / l; 0 where all scores are -inf.
    for (int j = 0; j < p.nk; ++j) {
        const float e = exp_diff(X[first + j], 0.0f);
        const float weight = l == 0.0f ? 0.0f : e / l;
        P[first + j] = weight;
        probe.write(Slot::p, head, i, j, 0, weight);
    }
}

struct Softmax1Naive : SoftmaxRung<2> {
    static constexpr std::string_view id = "softmax_1_naive";
    static constexpr Text title{"Softmax as defined: two passes, overflows", "按定义计算 softmax：扫两遍，会上溢"};
    static constexpr std::string_view algorithm = "naive_softmax";
    static constexpr std::array slots{SlotSpec{"l", Slot::l, Extent::One, Extent::One},
                                      SlotSpec{"p", Slot::p, Extent::One, Extent::One}};
    static constexpr bool overflows = true;

    // The launch, the same for the executor and for a device.
    template <class Machine, class Tracer>
    static void launch(Machine& machine, const AttentionShape& p, Tracer probe) {
        const std::int64_t rows = std::int64_t{p.total_heads()} * p.n;
        machine.launch(Launch{.name = id, .grid = {static_cast<int>((rows + 127) / 128), 1, 1}, .block = {128, 1, 1}},
                       softmax_1_naive<Tracer>, machine.read("X"), machine.write("P"), p, probe);
    }
};

}  // namespace flashstep::gpu
