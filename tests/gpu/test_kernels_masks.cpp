// Additive masks in the kernels: what they hide, what they cost, and the mistakes that the comparer has to find.
#include <doctest/doctest.h>

#include "core/algorithms.h"
#include "core/compare.h"
#include "gpu/run.h"
#include "tests/gpu/kernel_problems.h"

namespace flashstep::gpu {

namespace {

// What the mirror says of a kernel that is run on other inputs than the mirror.
Comparison compare_with(const KernelInfo& kernel, const Problem& p, const Inputs& mirror, const Inputs& kernels) {
    const Trace trace = record(*find_algorithm(kernel.algorithm), p, mirror);
    return compare(trace, run_kernel(kernel, p, kernels, {}), own_bytes(kernel, p));
}

// Whether the problem's mask changes what the kernel computes: through M, or the scores or the forward pass it is
// given.
bool takes_mask(const KernelInfo& kernel, const Problem& p) { return own_bytes(kernel, p).contains("M"); }

}  // namespace

TEST_CASE("A kernel that forgets the mask, reads it transposed or adds it before the scale is caught") {
    int caught = 0;
    for (const KernelInfo& kernel : fp32_kernels()) {
        Problem p = masked(problem(6, 6, 4, 4, 2, 2), MaskShape::Scores, Hidden::Some);
        if (!takes_mask(kernel, p)) continue;
        CAPTURE(kernel.id);
        const Inputs right = inputs_of(p);
        CHECK(compare_with(kernel, p, right, right).verdict == Verdict::Equal);
        Inputs forgotten = right, transposed = right, diluted = right;
        forgotten.mask.setZero();
        transposed.mask = right.mask.transpose().eval();
        diluted.mask *= p.scale;  // -inf stays
        for (const Inputs& wrong : {forgotten, transposed, diluted}) {
            const Comparison c = compare_with(kernel, p, right, wrong);
            CHECK(c.verdict != Verdict::Equal);
            REQUIRE(c.first);
            CHECK((c.first->tensor == "S" || c.first->tensor == "S_ij" || c.first->tensor == "D"));
            ++caught;
        }
    }
    CHECK(caught > 0);
}

TEST_CASE("Key padding is the same as a matrix of equal rows, but for its bytes") {
    for (const KernelInfo& kernel : fp32_kernels()) {
        CAPTURE(kernel.id);
        const Problem keys = masked(problem(5, 7, 3, 2, 2, 3, true), MaskShape::Keys, Hidden::Some);
        const Problem scores = masked(keys, MaskShape::Scores, Hidden::Some);
        const Inputs padded = inputs_of(keys);
        Inputs full = padded;
        full.mask = padded.mask.replicate(scores.n, 1);
        const KernelRun a = run_kernel(kernel, keys, padded, {}), b = run_kernel(kernel, scores, full, {});
        for (const auto& [key, values] : a.captured) {
            if (std::ranges::find(kernel.order_dependent, key.slot) == kernel.order_dependent.end())
                CHECK(values == b.captured.at(key));
        }
    }
}

TEST_CASE("FA2 reads the mask once per visible tile: rows x keys of a matrix, the keys of key padding") {
    const KernelInfo& fa2 = *find_kernel("fa2_forward_1_tile");
    Problem p = problem(5, 7, 3, 2, 2, 3, true);  // row blocks 1 to 3 see 2, 2 and 3 tiles: 6, 6 and 7 keys
    REQUIRE(p.visible_blocks(0) == 2);
    REQUIRE(p.visible_blocks(1) == 2);
    const auto read = [&](MaskShape shape) {
        const Problem q = masked(p, shape, Hidden::Some);
        const KernelRun run = run_kernel(fa2, q, inputs_of(q), {});
        CHECK(run.hbm == bytes_of(record(*find_algorithm("fa2_forward"), q, inputs_of(q))));
        return run.hbm.at("M").read;
    };
    CHECK(read(MaskShape::Scores) == 4 * (2 * 6 + 2 * 6 + 1 * 7));
    CHECK(read(MaskShape::Keys) == 4 * (6 + 6 + 7));
    CHECK(!run_kernel(fa2, p, inputs_of(p), {}).hbm.contains("M"));
}

TEST_CASE("-inf on -inf hides and gives no NaN; +inf in a mask is data and is reported as non-finite") {
    for (const KernelInfo& kernel : fp32_kernels()) {
        CAPTURE(kernel.id);
        Problem p = masked(problem(4, 4, 2, 2, 2, 2, true), MaskShape::Scores, Hidden::Everything);
        const Inputs hidden = inputs_of(p);
        const KernelRun run = run_kernel(kernel, p, hidden, {});
        for (const auto& captured : run.captured) CHECK_MESSAGE(!captured.second.hasNaN(), captured.first.slot);
        Inputs infinite = make_inputs(p);
        infinite.mask(3, 1) = kInf;
        CHECK(compare_with(kernel, p, infinite, infinite).verdict == Verdict::NonFinite);
    }
}

}  // namespace flashstep::gpu
