// The problems that the kernels of the ladder are run on, and their inputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "core/problem.h"
#include "gpu/registry.h"

namespace flashstep {

inline Problem problem(int n, int nk, int d, int dv, int br, int bc, bool causal = false) {
    Problem p;
    p.n = n, p.nk = nk, p.d = d, p.dv = dv, p.br = br, p.bc = bc, p.causal = causal;
    p.scale = 1 / std::sqrt(static_cast<double>(d));
    return p;
}

// Which keys an additive mask hides; the others get small numbers. Kept in Problem::seed, so that a problem says it
// all.
enum class Hidden : std::uint64_t { Some = 1, FirstTile, WholeRows, Everything };

inline Problem masked(Problem p, MaskShape shape, Hidden hidden) {
    p.mask = shape, p.seed = static_cast<std::uint64_t>(hidden);
    return p;
}

inline Inputs inputs_of(const Problem& p) {
    Inputs in = make_inputs(p);
    const auto hidden = static_cast<Hidden>(p.seed);
    for (int r = 0; r < in.mask.rows(); ++r) {
        for (int c = 0; c < in.mask.cols(); ++c) {
            const int mixed = (r * 7 + c * 5) % 11;
            const bool hide = hidden == Hidden::Some        ? mixed < 3
                              : hidden == Hidden::FirstTile ? c < p.bc
                              : hidden == Hidden::WholeRows ? r % 3 == 1 || mixed == 0
                                                            : true;
            in.mask(r, c) = hide ? -kInf : (mixed - 5) / 8.0;
        }
    }
    return in;
}

// Both shapes of mask, with and without causality, on ragged tiles and on several heads.
inline std::vector<Problem> masked_problems() {
    std::vector<Problem> all;
    for (bool causal : {false, true}) {
        for (MaskShape shape : {MaskShape::Keys, MaskShape::Scores}) {
            for (Hidden hidden : {Hidden::Some, Hidden::FirstTile, Hidden::WholeRows, Hidden::Everything}) {
                all.push_back(masked(problem(5, 7, 3, 2, 2, 3, causal), shape, hidden));
                all.push_back(masked(problem(9, 4, 3, 4, 4, 2, causal), shape, hidden));
            }
            all.push_back(masked(problem(1, 5, 2, 2, 1, 2, causal), shape, Hidden::Some));
            all.push_back(masked(problem(40, 37, 8, 8, 16, 16, causal), shape, Hidden::Some));
            Problem grouped = masked(problem(5, 6, 3, 2, 2, 2, causal), shape, Hidden::Some);
            grouped.batch = 2, grouped.heads = 4, grouped.kv_heads = 2;
            all.push_back(grouped);
        }
    }
    return all;
}

// Sizes around the edges: one row, below, at and above a block, ragged both ways, more keys than queries and fewer.
inline std::vector<Problem> problems() {
    std::vector<Problem> all = masked_problems();
    for (bool causal : {false, true}) {
        for (int n : {1, 4, 5}) {
            for (int nk : {1, 4, 7}) {
                for (int b : {1, 2, 3, 8}) all.push_back(problem(n, nk, 3, 3, b, b, causal));
                all.push_back(problem(n, nk, 1, 2, 2, 3, causal));
                all.push_back(problem(n, nk, 4, 1, 4, 1, causal));
            }
        }
        for (int n : {63, 64, 65}) {
            all.push_back(problem(n, n, 40, 40, 32, 32, causal));
            all.push_back(problem(n, n, 64, 64, 64, 64, causal));
            all.push_back(problem(n, 20, 3, 40, 16, 5, causal));
            all.push_back(problem(20, n, 40, 3, 7, 16, causal));
            all.push_back(problem(n, n, 1, 1, 100, 80, causal));
        }
        Problem grouped = problem(5, 6, 3, 2, 2, 2, causal);
        grouped.batch = 2, grouped.heads = 6, grouped.kv_heads = 2;
        all.push_back(grouped);
        grouped.kv_heads = 1;
        all.push_back(grouped);
        Problem unscaled = problem(9, 9, 4, 4, 4, 4, causal);
        unscaled.scale = 1;
        all.push_back(unscaled);
    }
    return all;
}

// The kernels that run the problems here: in fp32, with any blocks and head dimensions.
inline std::vector<gpu::KernelInfo> fp32_kernels() {
    std::vector<gpu::KernelInfo> some;
    for (const gpu::KernelInfo& kernel : gpu::kernels()) {
        if (std::ranges::find(kernel.dtypes, DType::Fp32) != kernel.dtypes.end()) some.push_back(kernel);
    }
    return some;
}

// A kernel in one of its number formats. `exact` is none of its own: it runs what fp32 runs.
struct Variant {
    gpu::KernelInfo kernel;
    DType dtype;
    bool on_tensor_cores() const { return dtype != DType::Fp32; }
};

inline std::vector<Variant> variants() {
    std::vector<Variant> all;
    for (const gpu::KernelInfo& kernel : gpu::kernels()) {
        for (DType dtype : kernel.dtypes) {
            if (dtype != DType::Exact) all.push_back({kernel, dtype});
        }
    }
    return all;
}

inline std::string text(const Variant& v) { return std::string(v.kernel.id) + " in " + std::string(name(v.dtype)); }

// The problem in the variant's number format, with its kernel's own blocks where it has only those.
inline Problem fitted(const Variant& v, Problem p) {
    p.dtype = v.dtype, p.base2 = v.kernel.base2;
    if (v.kernel.br > 0) p.br = v.kernel.br, p.bc = v.kernel.bc;
    return p;
}

// A problem on heads that share K and V.
inline Problem shared_heads(Problem p, int heads, int kv_heads) {
    p.heads = heads, p.kv_heads = kv_heads;
    return p;
}

// Sizes around the edges of tiles that tensor cores have: one row, below, at and above a block, head dimensions that
// are padded and that are not, rows that see no key, heads that share K and V.
inline std::vector<Problem> tensor_core_problems() {
    return {problem(1, 1, 3, 3, 64, 64),
            problem(65, 130, 40, 24, 64, 64, true),
            problem(200, 70, 64, 64, 64, 64, true),
            problem(63, 64, 128, 80, 64, 64),
            problem(129, 65, 8, 128, 64, 64),
            shared_heads(problem(66, 70, 16, 16, 64, 64, true), 4, 2)};
}

inline std::string text(const Problem& p) {
    std::ostringstream out;
    out << "n " << p.n << " nk " << p.nk << " d " << p.d << " dv " << p.dv << " br " << p.br << " bc " << p.bc
        << " causal " << p.causal << " mask " << static_cast<int>(p.mask) << " seed " << p.seed << " heads " << p.batch
        << "x" << p.heads << "/" << p.kv_heads;
    return out.str();
}

}  // namespace flashstep
