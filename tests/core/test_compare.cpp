// The comparer: a faithful capture passes, and every way to be wrong is caught and named.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "core/algorithms.h"
#include "core/compare.h"
#include "core/error_scale.h"
#include "core/output_error.h"
#include "lab/presets.h"

using namespace flashstep;

namespace {

struct Fixture {
    Problem problem;
    Inputs inputs;
    Trace mirror;
    std::map<std::string, TensorBytes> bytes;
};

Fixture make(Problem problem, Inputs inputs) {
    Trace trace = record(*find_algorithm("fa2_forward"), problem, inputs);
    auto bytes = bytes_of(trace);
    return {problem, std::move(inputs), std::move(trace), std::move(bytes)};
}

Fixture n4d3() {
    const Preset& preset = *find_preset("n4d3");
    return make(preset.problem, preset.inputs(preset.problem));
}

// A FlashAttention-2 forward in float written apart from the mirror, with hooks where a kernel can go wrong.
struct FloatKernel {
    std::function<float(float)> rescale_output = [](float a) { return a; };  // applied to e^(m_old - m)
    float scale_factor = 1;
    bool tile_maximum = false;  // forms P with the tile's maximum
    // What a 16-bit kernel does to P before PV and to O at the end; in fp32 nothing.
    std::function<float(float)> cast_P = [](float x) { return x; }, cast_O = cast_P;
    bool sums_cast_P = false;  // takes l from P after the cast

    KernelRun run(const Problem& p, const Inputs& in, const std::map<std::string, TensorBytes>& bytes) const {
        KernelRun result;
        result.hbm = bytes;
        const auto given = [&](const Matrix& values) {
            Matrix copy = values;
            round_all(copy, p.dtype);
            return Eigen::MatrixXf(copy.cast<float>());
        };
        for (int head = 0; head < p.total_heads(); ++head) {
            const Eigen::MatrixXf Q = given(in.Q[head]), K = given(in.K[p.kv_index(head)]),
                                  V = given(in.V[p.kv_index(head)]);
            Matrix O(p.n, p.dv), L(p.n, 1);
            for (int i = 0; i < p.row_blocks(); ++i) {
                const int rows = std::min(p.br, p.n - i * p.br);
                Eigen::VectorXf m = Eigen::VectorXf::Constant(rows, -INFINITY), l = Eigen::VectorXf::Zero(rows);
                Eigen::MatrixXf Oi = Eigen::MatrixXf::Zero(rows, p.dv);
                for (int j = 0; j < p.visible_blocks(i); ++j) {
                    const int cols = std::min(p.bc, p.nk - j * p.bc);
                    Eigen::MatrixXf S(rows, cols), P(rows, cols);
                    for (int r = 0; r < rows; ++r) {
                        for (int c = 0; c < cols; ++c) {
                            float dot = 0;
                            for (int k = 0; k < p.d; ++k) dot += Q(i * p.br + r, k) * K(j * p.bc + c, k);
                            S(r, c) = p.visible(i * p.br + r, j * p.bc + c)
                                          ? dot * static_cast<float>(p.scale) * scale_factor
                                          : -INFINITY;
                        }
                        const float m_old = m(r);
                        m(r) = std::max(m_old, S.row(r).maxCoeff());
                        const float used = tile_maximum ? S.row(r).maxCoeff() : m(r);
                        for (int c = 0; c < cols; ++c) P(r, c) = S(r, c) == -INFINITY ? 0.0f : std::exp(S(r, c) - used);
                        const float alpha = m_old == -INFINITY ? 0.0f : std::exp(m_old - m(r));
                        const Eigen::RowVectorXf weights = P.row(r).unaryExpr(cast_P);
                        l(r) = alpha * l(r) + (sums_cast_P ? weights : Eigen::RowVectorXf(P.row(r))).sum();
                        const float on_output = rescale_output(alpha);
                        for (int c = 0; c < p.dv; ++c) {
                            float sum = on_output * Oi(r, c);
                            for (int k = 0; k < cols; ++k) sum += weights(k) * V(j * p.bc + k, c);
                            Oi(r, c) = sum;
                        }
                    }
                    result.captured[{"S_ij", head, i, j}] = S.cast<double>();
                    result.captured[{"P_ij", head, i, j}] = P.cast<double>();
                    result.captured[{"m_i", head, i, j}] = m.cast<double>();
                    result.captured[{"l_i", head, i, j}] = l.cast<double>();
                    result.captured[{"O_i", head, i, j}] = Oi.cast<double>();
                }
                for (int r = 0; r < rows; ++r) {
                    for (int c = 0; c < p.dv; ++c) O(i * p.br + r, c) = cast_O(l(r) == 0 ? 0.0f : Oi(r, c) / l(r));
                    L(i * p.br + r, 0) = m(r) + std::log(l(r));
                }
            }
            result.captured[{"O", head, -1, -1}] = O;
            result.captured[{"L", head, -1, -1}] = L;
        }
        return result;
    }
};

Comparison check(const Fixture& f, const KernelRun& run) { return compare(f.mirror, run, f.bytes); }

}  // namespace

TEST_CASE("a right kernel in float equals the mirror over sizes, masks and extreme scores") {
    for (int n : {1, 4, 63, 200})
        for (int d : {3, 64})
            for (bool causal : {false, true})
                for (double size : {1.0, 8.0}) {
                    Problem p;
                    p.n = n, p.nk = n + (causal ? 7 : 0), p.d = p.dv = d, p.br = 16, p.bc = 32, p.causal = causal;
                    p.scale = 1 / std::sqrt(d);
                    Inputs in = make_inputs(p);
                    in.Q[0] *= size, in.K[0] *= size;
                    const Fixture f = make(p, in);
                    const Comparison result = check(f, FloatKernel().run(p, in, f.bytes));
                    INFO("n " << n << " d " << d << " size " << size << " causal " << causal << " "
                              << (result.first ? describe(*result.first, p) : ""));
                    CHECK(result.verdict == Verdict::Equal);
                    for (const TensorSummary& tensor : result.tensors) { CHECK(tensor.worst_ratio < 1); }
                }
}

namespace {

float to_format(float x, DType format) { return static_cast<float>(round_to(x, format)); }

FloatKernel kernel_16_bit(DType format) {
    FloatKernel kernel;
    kernel.cast_P = kernel.cast_O = [format](float x) { return to_format(x, format); };
    return kernel;
}

// The largest number of the format that is not above x >= 0.
float cut_off(float x, DType format) {
    const float near = to_format(x, format);
    if (near <= x) return near;
    const float ulp =
        near - to_format(std::nextafter(near, 0.0f) * (1 - (format == DType::Fp16 ? 0x1p-11f : 0x1p-8f)), format);
    return near - ulp;
}

}  // namespace

TEST_CASE("16 bits: a kernel that rounds where the policy says equals the mirror, tile by tile and in its output") {
    for (DType format : {DType::Fp16, DType::Bf16})
        for (int n : {1, 63, 200})
            for (bool causal : {false, true})
                for (double size : {1.0, 6.0}) {
                    Problem p;
                    p.n = p.nk = n, p.d = p.dv = 64, p.br = 16, p.bc = 32, p.causal = causal, p.dtype = format;
                    p.scale = 0.125;
                    Inputs in = make_inputs(p);
                    in.Q[0] *= size, in.K[0] *= size;
                    const Fixture f = make(p, in);
                    const KernelRun run = kernel_16_bit(format).run(p, in, f.bytes);
                    const Comparison result = check(f, run);
                    INFO(name(format) << " n " << n << " size " << size << " causal " << causal << " "
                                      << (result.first ? describe(*result.first, p) : ""));
                    CHECK(result.verdict == Verdict::Equal);
                    const auto errors = output_errors(f.mirror, run);
                    REQUIRE(errors.size() == 1);
                    CHECK(errors[0].within);
                    CHECK((errors[0].kernel > 0) == (n > 1));  // one key: P = 1, and O is V exactly
                }
}

TEST_CASE("16 bits: P not cast, cast the wrong way or summed after the cast, and O rounded to bf16 are caught") {
    Problem p;
    p.n = p.nk = 200, p.d = p.dv = 64, p.br = 16, p.bc = 32, p.scale = 0.125, p.dtype = DType::Fp16;
    const Fixture f = make(p, make_inputs(p));
    const auto differs_in = [&](const FloatKernel& kernel) {
        const Comparison result = check(f, kernel.run(p, f.inputs, f.bytes));
        return result.first ? result.first->tensor : std::string("nothing");
    };
    FloatKernel uncast = kernel_16_bit(p.dtype), cut = uncast, summed = uncast, coarse = uncast;
    uncast.cast_P = [](float x) { return x; };
    cut.cast_P = [](float x) { return cut_off(x, DType::Fp16); };
    summed.sums_cast_P = true;
    coarse.cast_O = [](float x) { return to_format(x, DType::Bf16); };
    CHECK(differs_in(kernel_16_bit(p.dtype)) == "nothing");
    CHECK(differs_in(uncast) == "O_i");
    CHECK(differs_in(cut) == "O_i");
    CHECK(differs_in(summed) == "l_i");
    CHECK(differs_in(coarse) == "O");
}

TEST_CASE("16 bits: an output further from double than twice what unfused attention loses is out of its limit") {
    Problem p;
    p.n = p.nk = 64, p.d = p.dv = 32, p.br = 16, p.bc = 16, p.dtype = DType::Fp16;
    const Fixture f = make(p, make_inputs(p));
    KernelRun run = kernel_16_bit(p.dtype).run(p, f.inputs, f.bytes);
    const OutputError right = output_errors(f.mirror, run).at(0);
    CHECK(right.within);
    Matrix& O = run.captured.at({"O", 0, -1, -1});
    const double kept = O(17, 5);
    O(17, 5) = kept + 3 * right.limit;
    CHECK_FALSE(output_errors(f.mirror, run).at(0).within);
    KernelRun output_only = run;  // without tiles to compare there is this limit alone
    std::erase_if(output_only.captured, [](const auto& entry) { return entry.first.slot != "O"; });
    CHECK(check(f, output_only).verdict == Verdict::Different);
    O(17, 5) = std::nan("");
    CHECK_FALSE(output_errors(f.mirror, run).at(0).within);
    O(17, 5) = kept;
    CHECK(output_errors(f.mirror, run).at(0).within);
    CHECK(output_errors(n4d3().mirror, run).empty());  // fp32 has a rule of its own
}

TEST_CASE("the faults of FlashAttention kernels are caught at their known first step, line and tile") {
    const Fixture f = n4d3();
    FloatKernel forgets;
    forgets.rescale_output = [](float) { return 1.0f; };
    Comparison result = check(f, forgets.run(f.problem, f.inputs, f.bytes));
    REQUIRE(result.first);
    CHECK(result.verdict == Verdict::Different);
    CHECK(result.first->tensor == "O_i");
    CHECK(result.first->line == 10);
    CHECK(result.first->i == 0);
    CHECK(result.first->j == 1);
    CHECK(result.first->row == 1);  // row 1 keeps its maximum and hides the fault
    CHECK(describe(*result.first, f.problem).find("line 10, i=1 j=2: O_i[2,1] is ") != std::string::npos);

    FloatKernel printed;  // the misprint: inf * 0 on the first tile
    printed.rescale_output = [](float a) { return 1 / a; };
    result = check(f, printed.run(f.problem, f.inputs, f.bytes));
    CHECK(result.verdict == Verdict::NonFinite);
    REQUIRE(result.first);
    CHECK(result.first->j == 0);

    FloatKernel guarded;  // the misprint, patched to be finite and quietly wrong
    guarded.rescale_output = [](float a) { return a == 0 ? 0 : 1 / a; };
    result = check(f, guarded.run(f.problem, f.inputs, f.bytes));
    REQUIRE(result.first);
    CHECK(result.verdict == Verdict::Different);
    CHECK(result.first->line == 10);
    CHECK(result.first->j == 1);

    FloatKernel unscaled;
    unscaled.scale_factor = 0.5f;
    result = check(f, unscaled.run(f.problem, f.inputs, f.bytes));
    REQUIRE(result.first);
    CHECK(result.first->line == 8);
    CHECK(result.first->tensor == "S_ij");

    FloatKernel tile_max;
    tile_max.tile_maximum = true;
    result = check(f, tile_max.run(f.problem, f.inputs, f.bytes));
    REQUIRE(result.first);
    CHECK(result.first->line == 9);
    CHECK(result.first->tensor == "P_ij");
}

TEST_CASE("every captured element is looked at: a small change of any one of them is found") {
    const Fixture f = n4d3();
    const KernelRun right = FloatKernel().run(f.problem, f.inputs, f.bytes);
    for (const auto& [key, values] : right.captured)
        for (Eigen::Index k = 0; k < values.size(); ++k) {
            KernelRun wrong = right;
            double& element = wrong.captured[key].data()[k];
            element += 1e-3 * (1 + std::abs(element));
            const SlotKey& changed = key;  // clang 14 captures no structured binding
            INFO(changed.slot << " " << changed.i << " " << changed.j << " element " << k);
            const Comparison result = check(f, wrong);
            CHECK(result.verdict == Verdict::Different);
            REQUIRE(result.first);
            CHECK(result.first->tensor == key.slot);
            if (key.j >= 0) CHECK(result.first->j == key.j);
        }
}

TEST_CASE("weights below fp32's normal range may be flushed to zero, those above it and masked ones may not change") {
    Problem p;
    p.n = 1, p.nk = 4, p.d = p.dv = 1, p.br = 1, p.bc = 4, p.scale = 1, p.mask = MaskShape::Keys;
    Inputs in = make_inputs(p);
    in.Q[0] << 1;
    in.K[0] << 0, -95, -85, 0;  // e^-95 is subnormal, e^-85 is not
    in.mask << 0, 0, 0, -kInf;
    const Fixture f = make(p, in);
    const auto with = [&](int key, double weight) {
        KernelRun run;
        run.hbm = f.bytes;
        for (int v = 0; v < static_cast<int>(f.mirror.versions.size()); ++v)
            if (f.mirror.tensors[f.mirror.versions[v].tensor].name == "P_ij")
                run.captured[{"P_ij", 0, 0, 0}] = f.mirror.value(f.mirror.versions[v]);
        run.captured.at({"P_ij", 0, 0, 0})(0, key) = weight;
        return check(f, run).verdict;
    };
    CHECK(with(0, 1) == Verdict::Equal);
    CHECK(with(1, 0) == Verdict::Equal);
    CHECK(with(2, 0) == Verdict::Different);
    CHECK(with(3, 1e-45) == Verdict::Different);
}

TEST_CASE("missing, superfluous and misshapen tiles, other bytes, NaN and masks are differences") {
    const Fixture f = n4d3();
    const KernelRun right = FloatKernel().run(f.problem, f.inputs, f.bytes);
    CHECK(check(f, right).verdict == Verdict::Equal);

    KernelRun run = right;
    run.captured.erase({"P_ij", 0, 1, 0});
    Comparison result = check(f, run);
    CHECK(result.verdict == Verdict::Different);
    CHECK(describe(*result.first, f.problem).find("did not produce") != std::string::npos);

    run = right;
    run.captured[{"S_ij", 0, 0, 5}] = Matrix::Zero(2, 2);
    CHECK(check(f, run).verdict == Verdict::Different);

    run = right;
    run.captured[{"S_ij", 0, 0, 0}] = Matrix::Zero(2, 3);
    CHECK(check(f, run).verdict == Verdict::Different);

    run = right;
    run.hbm["K"].read += 4;
    result = check(f, run);
    CHECK(result.verdict == Verdict::Different);
    CHECK(!result.bytes_equal);

    run = right;
    run.hbm.erase("L");
    CHECK(!check(f, run).bytes_equal);

    run = right;
    run.captured[{"O", 0, -1, -1}](3, 2) = std::nan("");
    CHECK(check(f, run).verdict == Verdict::NonFinite);

    run = right;
    run.captured[{"m_i", 0, 0, 0}](0, 0) = -INFINITY;
    CHECK(check(f, run).verdict == Verdict::NonFinite);
}

TEST_CASE("what a mask defines must match exactly: -inf scores and zero weights have no tolerance") {
    Problem p;
    p.n = p.nk = 4, p.causal = true;
    const Fixture f = make(p, make_inputs(p));
    const KernelRun right = FloatKernel().run(p, f.inputs, f.bytes);
    REQUIRE(check(f, right).verdict == Verdict::Equal);
    KernelRun run = right;
    run.captured[{"S_ij", 0, 0, 0}](0, 1) = -1e30;  // a finite mask
    CHECK(check(f, run).verdict == Verdict::NonFinite);
    run = right;
    run.captured[{"P_ij", 0, 0, 0}](0, 1) = 1e-30;
    CHECK(check(f, run).verdict == Verdict::Different);
}

TEST_CASE("a NaN input gives a non-finite comparison even where both sides agree") {
    Problem p;
    Inputs in = make_inputs(p);
    in.K[0](1, 1) = std::nan("");
    const Fixture f = make(p, in);
    CHECK(check(f, FloatKernel().run(p, in, f.bytes)).verdict == Verdict::NonFinite);
}

TEST_CASE("an infinite input gives a non-finite comparison even where both sides agree") {
    Problem p;
    Inputs in = make_inputs(p);
    for (double infinite : {kInf, -kInf}) {
        in.V[0](1, 1) = infinite;
        const Fixture f = make(p, in);
        CHECK(check(f, FloatKernel().run(p, in, f.bytes)).verdict == Verdict::NonFinite);
    }
}

TEST_CASE("tensors that a kernel keeps to itself are listed as not materialised") {
    const Fixture f = n4d3();
    KernelRun run = FloatKernel().run(f.problem, f.inputs, f.bytes);
    std::erase_if(run.captured, [](const auto& entry) { return entry.first.slot == "P_ij"; });
    const Comparison result = check(f, run);
    CHECK(result.verdict == Verdict::Equal);
    CHECK(std::find(result.not_materialised.begin(), result.not_materialised.end(), "P_ij") !=
          result.not_materialised.end());
}

TEST_CASE("the error scale of a score is the value plus the sum of its absolute terms") {
    const Fixture f = n4d3();
    ErrorScale scale(f.mirror);
    for (int v = 0; v < static_cast<int>(f.mirror.versions.size()); ++v) {
        const Version& version = f.mirror.versions[v];
        const Step& step = f.mirror.steps[version.step];
        if (f.mirror.tensors[version.tensor].name != "S_ij") continue;
        for (int r = 0; r < 2; ++r)
            for (int c = 0; c < 2; ++c) {
                double terms = 0;
                for (int k = 0; k < 3; ++k)
                    terms += std::abs(f.inputs.Q[0](step.i * 2 + r, k) * f.inputs.K[0](step.j * 2 + c, k));
                CHECK(scale.of(v)(r, c) == doctest::Approx(terms + std::abs(f.mirror.value(version)(r, c))));
            }
    }
}
