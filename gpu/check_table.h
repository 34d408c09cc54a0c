// The shapes that `flashstep check all` and gpu/check.sh run every kernel on.
#pragma once

#include <span>
#include <string>

#include "core/problem.h"
#include "gpu/registry.h"

namespace flashstep::gpu {

struct CheckShape {
    int n, nk, d, dv;
    int br, bc;  // for kernels that take any blocks
    enum class Causal { No, Yes } causal = Causal::No;
    int heads = 1, kv_heads = 1;
    enum class Scores { Ordinary, Extreme } scores = Scores::Ordinary;  // extreme: in the hundreds
    MaskShape mask = MaskShape::None;                                   // hides keys, tiles and a whole row
    int batch = 1;
};

// Together they hold each of these at least twice: N in {1, 4, 63, 64, 65, 127, 200, 256}, Nk != N, causal with Nq < Nk
// (keys hidden) and Nq > Nk, d in {3, 40, 64, 80, 128}, shared heads (K and V of several), extreme scores, rows that
// see no key, masks of both shapes.
std::span<const CheckShape> check_table();

// The shape as the kernel runs it: its own number format, blocks and exponentials.
Problem problem_of(const CheckShape& shape, const KernelInfo& kernel);
Inputs inputs_of(const CheckShape& shape, const Problem& problem);
// Why the shape proves nothing about the kernel; empty: it does.
std::string left_out(const CheckShape& shape, const KernelInfo& kernel);

}  // namespace flashstep::gpu
