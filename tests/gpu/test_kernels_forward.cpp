// The forward kernels beyond what every kernel is held to: known outputs, masks at their edges, large scores, NaN.
#include <doctest/doctest.h>

#include "core/algorithms.h"
#include "core/compare.h"
#include "gpu/run.h"
#include "tests/gpu/kernel_problems.h"
#include "tests/gpu/kernel_reference.h"

namespace flashstep::gpu {

namespace {

Matrix matrix(int rows, int cols, std::initializer_list<double> values) {
    Matrix m(rows, cols);
    std::copy(values.begin(), values.end(), m.data());
    return m;
}

// The kernels whose result is O: their captured O and, where they have them, L, m_i and l_i mean the same.
std::vector<KernelInfo> forward_kernels() {
    std::vector<KernelInfo> forward;
    for (const KernelInfo& kernel : fp32_kernels()) {
        if (std::ranges::find(kernel.slots, "O") != kernel.slots.end()) forward.push_back(kernel);
    }
    return forward;
}

const KernelInfo& fa2() { return *find_kernel("fa2_forward_1_tile"); }

}  // namespace

TEST_CASE("Vector A: the 4 x 4 example, its first row tile by tile") {
    Problem p = problem(4, 4, 4, 2, 2, 2);
    Inputs in;
    in.Q = {matrix(4, 4, {1, 0, 2, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0, 2, 1, 1})};
    in.K = {matrix(4, 4, {2, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 2, 1})};
    in.V = {matrix(4, 2, {1, 0, 0, 1, 1, 1, 2, 1})};
    in.dO = {Matrix::Zero(4, 2)};
    const Matrix O = matrix(4, 2, {1.269873, 0.842940, 1, 0.811230, 1, 0.573067, 1, 0.811230});
    const Matrix L = matrix(4, 1, {2.851129, 2.167224, 2.351129, 2.667224});
    for (const KernelInfo& kernel : forward_kernels()) {
        const KernelRun run = run_kernel(kernel, p, in, {});
        CHECK((run.captured.at({"O", 0, -1, -1}) - O).cwiseAbs().maxCoeff() < 1e-6);
    }
    const KernelRun run = run_kernel(fa2(), p, in, {});
    CHECK((run.captured.at({"L", 0, -1, -1}) - L).cwiseAbs().maxCoeff() < 1e-6);
    const auto first = [&](const char* slot, int j) { return run.captured.at({slot, 0, 0, j}).row(0).eval(); };
    CHECK(first("m_i", 0)(0) == 1);
    CHECK(first("l_i", 0)(0) == 2);
    CHECK(first("O_i", 0) == matrix(1, 2, {1, 1}));
    CHECK(first("m_i", 1)(0) == 2);
    CHECK(first("l_i", 1)(0) == doctest::Approx(2.342290).epsilon(1e-6));
    CHECK((first("O_i", 1) - matrix(1, 2, {2.974410, 1.974410})).cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("Vector D: the causal mask is bottom-right, and a row without keys gives O = 0 and L = -inf") {
    for (int b : {1, 2, 3, 8}) {
        for (const auto& [n, nk] : {std::pair{2, 5}, std::pair{5, 2}}) {
            Problem p = problem(n, nk, 2, 1, b, b, true);
            Inputs in;
            in.Q = {Matrix::Zero(n, 2)};
            in.K = {Matrix::Zero(nk, 2)};
            in.V = {Matrix(nk, 1)};
            in.dO = {Matrix::Zero(n, 1)};
            for (int k = 0; k < nk; ++k) in.V[0](k, 0) = k + 1;
            const Matrix O = n == 2 ? matrix(2, 1, {2.5, 3}) : matrix(5, 1, {0, 0, 0, 1, 1.5});
            for (const KernelInfo& kernel : forward_kernels()) {
                const KernelRun run = run_kernel(kernel, p, in, {});
                CHECK((run.captured.at({"O", 0, -1, -1}) - O).cwiseAbs().maxCoeff() < 1e-6);
                if (!run.captured.contains({"L", 0, -1, -1}) || n == 2) continue;
                const Matrix L = run.captured.at({"L", 0, -1, -1});
                for (int r = 0; r < 3; ++r) CHECK(L(r, 0) == -kInf);
                CHECK(L(3, 0) == 0);
                CHECK(L(4, 0) == doctest::Approx(0.693147));
            }
        }
    }
}

TEST_CASE("Vector E: a first tile that is wholly masked leaves m at -inf, and low scores after it keep their weights") {
    // One query sees keys 2 and 3 of tile 1 only through their scores: keys 0, 1 are masked for row 0 of a causal
    // block.
    Problem p = problem(1, 4, 1, 4, 1, 2);
    p.scale = 1;
    Inputs in;
    in.Q = {matrix(1, 1, {1})};
    in.K = {matrix(4, 1, {-kInf, -kInf, -200, -201})};
    in.V = {Matrix::Identity(4, 4)};
    in.dO = {Matrix::Zero(1, 4)};
    for (const KernelInfo& kernel : forward_kernels()) {
        const KernelRun run = run_kernel(kernel, p, in, {});
        const Matrix O = run.captured.at({"O", 0, -1, -1});
        CHECK(O(0, 0) == 0);
        CHECK(O(0, 1) == 0);
        CHECK(O(0, 2) == doctest::Approx(0.731059).epsilon(1e-6));
        CHECK(O(0, 3) == doctest::Approx(0.268941).epsilon(1e-6));
        if (!run.captured.contains({"m_i", 0, 0, 0})) continue;
        CHECK(run.captured.at({"m_i", 0, 0, 0})(0, 0) == -kInf);
        CHECK(run.captured.at({"l_i", 0, 0, 0})(0, 0) == 0);
        CHECK(run.captured.at({"m_i", 0, 0, 1})(0, 0) == -200);
    }
}

TEST_CASE("Vector F: a zero-filled tail key is not counted") {
    Problem p = problem(3, 3, 1, 1, 2, 2);
    p.scale = 1;
    Inputs in;
    in.Q = {Matrix::Ones(3, 1)};
    in.K = {-Matrix::Ones(3, 1)};
    in.V = {Matrix::Ones(3, 1)};
    in.dO = {Matrix::Zero(3, 1)};
    for (const KernelInfo& kernel : forward_kernels()) {
        const Matrix O = run_kernel(kernel, p, in, {}).captured.at({"O", 0, -1, -1});
        CHECK((O - Matrix::Ones(3, 1)).cwiseAbs().maxCoeff() < 1e-6);
    }
}

TEST_CASE("Scores of thousands overflow nothing") {
    for (double size : {30.0, -30.0, 1000.0}) {
        Problem p = problem(6, 7, 4, 3, 2, 3);
        Inputs in = inputs_of(p);
        for (Matrix& Q : in.Q) Q *= size;
        for (Matrix& K : in.K) K *= 30;
        for (const KernelInfo& kernel : forward_kernels()) {
            CAPTURE(kernel.id);
            const KernelRun run = run_kernel(kernel, p, in, {});
            for (const auto& [key, values] : run.captured) CHECK(values.allFinite());
            check_against_reference(kernel.algorithm, p, in, run);
        }
    }
}

TEST_CASE("NaN in an input reaches the outputs of the rows that see it, and no others") {
    Problem p = problem(4, 4, 2, 2, 2, 2, true);
    Inputs in = inputs_of(p);
    in.K[0](2, 0) = std::nan("");
    for (const KernelInfo& kernel : forward_kernels()) {
        const Matrix O = run_kernel(kernel, p, in, {}).captured.at({"O", 0, -1, -1});
        for (int r = 0; r < 4; ++r) CHECK(O.row(r).hasNaN() == (r >= 2));
    }
}

TEST_CASE("For sm_75, the tensor-core rungs that are there equal their mirrors, with two mma instructions for one") {
    int rungs = 0;
    for (const Variant& v : variants()) {
        const std::vector<Target> targets = targets_of(v.kernel, v.dtype);
        if (!v.on_tensor_cores() || std::ranges::find(targets, 75) == targets.end()) continue;
        CAPTURE(text(v));
        for (int d : {40, 128}) {
            const Problem p = fitted(v, shared_heads(problem(130, 75, d, d, 64, 64, true), 2, 1));
            const Inputs in = inputs_of(p);
            RunOptions options;
            const KernelRun later = run_kernel(v.kernel, p, in, options);
            options.target = 75;
            const KernelRun run = run_kernel(v.kernel, p, in, options);
            const Trace mirror = record(*find_algorithm(v.kernel.algorithm), p, in);
            const Comparison c = compare(mirror, run, bytes_of(mirror));
            CHECK_MESSAGE(c.verdict == Verdict::Equal, (c.first ? describe(*c.first, p) : std::string()));
            CHECK(c.bytes_equal);
            for (const auto& [key, values] : later.captured) CHECK(values == run.captured.at(key));
            const auto products = [](const KernelRun& of) {
                return std::map(of.counters.begin(), of.counters.end()).at("mma instructions");
            };
            CHECK(products(later) > 0);
            CHECK(products(run) == 2 * products(later));
        }
        ++rungs;
    }
    CHECK(rungs == 2);  // 3_mma and 4_swizzle, in fp16
}

}  // namespace flashstep::gpu
