// Where a run leaves the finite numbers: which step, line and element is named, and what is passed over.
#include "core/first_non_finite.h"

#include <doctest/doctest.h>

#include "core/algorithms.h"
#include "core/faults.h"
#include "lab/presets.h"

using namespace flashstep;

namespace {

Trace run(std::string_view algorithm, const Problem& p, const Inputs& in, const Fault* fault = nullptr) {
    return record(*find_algorithm(algorithm), p, in, fault);
}

struct Place {
    int line, i, j;
    std::string tensor;
    int row, col;
    bool operator==(const Place&) const = default;
};

Place place(const Trace& trace, const NonFinite& found) {
    const Version& version = trace.versions[found.version];
    const Step& step = trace.steps[version.step];
    return {step.line, step.i, step.j, trace.tensors[version.tensor].name, found.row, found.col};
}

Problem rows_of_24() {
    Problem p;
    p.n = p.nk = 2, p.d = p.dv = 128, p.br = p.bc = 1, p.scale = 1, p.dtype = DType::Fp16;
    return p;
}

Inputs all_24(const Problem& p) {
    Inputs in = make_inputs(p);
    in.Q[0].setConstant(24), in.K[0].setConstant(24);
    return in;
}

}  // namespace

TEST_CASE("nothing is found where masks hide keys, rows and tiles, whatever the algorithm") {
    for (const Algorithm& algorithm : algorithms())
        for (MaskShape mask : {MaskShape::None, MaskShape::Keys, MaskShape::Scores})
            for (bool base2 : {false, true}) {
                Problem p;
                p.n = 5, p.nk = 4, p.causal = true, p.mask = mask, p.base2 = base2;
                Inputs in = make_inputs(p);
                if (mask != MaskShape::None) in.mask.leftCols(2).setConstant(-kInf);
                const Trace trace = record(algorithm, p, in);
                const auto found = first_non_finite(trace);
                CHECK_MESSAGE(!found, algorithm.id << " " << (found ? describe(trace, *found) : ""));
            }
}

TEST_CASE("the naive softmax overflows at the exponential of the first large score") {
    Problem p;
    p.n = 1, p.nk = 3, p.bc = 1;
    Inputs in = make_inputs(p);
    in.X.push_back(Matrix(1, 3));
    in.X[0] << 1, 800, 900;
    const Trace trace = run("naive_softmax", p, in);
    const auto found = first_non_finite(trace);
    REQUIRE(found);
    CHECK(found->cause == NonFinite::Cause::Computed);
    CHECK(found->op == Op::Exp);
    CHECK(trace.steps[trace.versions[found->version].step].j == 1);  // the second element
    CHECK(describe(trace, *found).find("an exponential overflows fp32") != std::string::npos);
    CHECK_FALSE(first_non_finite(run("safe_softmax", p, in)));
}

TEST_CASE("fp16: 128 products of 24 x 24 fit fp32 on chip, and overflow where S is stored in fp16") {
    const Problem p = rows_of_24();
    const Inputs in = all_24(p);
    const Trace standard = run("standard_attention", p, in);
    const auto found = first_non_finite(standard);
    REQUIRE(found);
    CHECK(place(standard, *found) == Place{1, -1, -1, "S", 0, 0});
    CHECK(found->cause == NonFinite::Cause::Rounded);
    CHECK(describe(standard, *found) == "step 1, line 1: S[1,1] is inf: too large for fp16");
    CHECK_FALSE(first_non_finite(run("fa2_forward", p, in)));  // S never leaves the chip: fp32
    Problem scaled = p;
    scaled.scale = 0.08838834764831845;  // 1/sqrt(128): 6,517
    CHECK_FALSE(first_non_finite(run("standard_attention", scaled, in)));
}

TEST_CASE("fp32: a product that passes 3.4e38 is named with its tile") {
    Problem p;
    p.n = p.nk = 4;
    Inputs in = make_inputs(p);
    in.Q[0](3, 1) = 1e30, in.K[0](2, 1) = -1e30;
    const Trace trace = run("fa2_forward", p, in);
    const auto found = first_non_finite(trace);
    REQUIRE(found);
    CHECK(place(trace, *found) == Place{8, 1, 1, "S_ij", 1, 0});
    CHECK(found->op == Op::MatMul);
    CHECK(describe(trace, *found).find("line 8, i=2 j=2: S_ij[2,1] is -inf: a sum overflows fp32") !=
          std::string::npos);
    p.dtype = DType::Exact;
    CHECK_FALSE(first_non_finite(run("fa2_forward", p, in)));
}

TEST_CASE("an input that is infinite is named as given, a hidden score is not") {
    Problem p;
    Inputs in = make_inputs(p);
    in.V[0](2, 1) = std::nan("");
    const Trace trace = run("fa2_forward", p, in);
    const auto found = first_non_finite(trace);
    REQUIRE(found);
    CHECK(found->cause == NonFinite::Cause::Given);
    CHECK(describe(trace, *found) == "step 0: V[3,2] is nan: given so");
}

TEST_CASE("faults: the printed inverse is a division by zero on the first tile") {
    const Fault& fault = *find_fault("literal-inverse");
    const Preset& preset = *find_preset(fault.preset);
    const Trace trace = run(fault.algorithm, preset.problem, preset.inputs(preset.problem), &fault);
    const auto found = first_non_finite(trace);
    REQUIRE(found);
    CHECK(place(trace, *found) == Place{10, 0, 0, "O_i", 0, 0});
    CHECK(found->op == Op::Reciprocal);
}
