// The backward kernels beyond what every kernel is held to: known gradients, groups of heads, atomic adds.
#include <doctest/doctest.h>

#include <cmath>

#include "core/algorithms.h"
#include "core/compare.h"
#include "core/error.h"
#include "gpu/run.h"
#include "gpu/rungs.h"
#include "gpu/simt/executor.h"
#include "tests/gpu/kernel_problems.h"

namespace flashstep::gpu {

namespace {

const KernelInfo& atomic() { return *find_kernel("fa2_backward_2_atomic"); }
const KernelInfo& two_pass() { return *find_kernel("fa2_backward_1_two_pass"); }

std::vector<KernelInfo> backward_kernels() {
    std::vector<KernelInfo> backward;
    for (const KernelInfo& kernel : fp32_kernels()) {
        if (std::ranges::find(kernel.slots, "dQ") != kernel.slots.end()) backward.push_back(kernel);
    }
    return backward;
}

Matrix matrix(int rows, int cols, std::initializer_list<double> values) {
    Matrix m(rows, cols);
    std::copy(values.begin(), values.end(), m.data());
    return m;
}

// The last step of a backward pass: each block adds its keys' part of scale dS K to dQ. With or without atomics.
enum class Adds { Atomic, Plain };
template <Adds kAdds>
FS_KERNEL void add_to_dQ(Global<const float> dS,  // [n, nk]
                         Global<const float> K,   // [nk, d]
                         Global<float> dQ,        // [n, d]
                         AttentionShape p) {
    const int col0 = block_idx().x * p.B_c, cols = p.cols(block_idx().x);
    for (int e = thread_idx().x; e < p.n * p.d; e += block_dim().x) {
        float sum = 0.0f;
        for (int c = col0; c < col0 + cols; ++c) sum += dS[e / p.d * p.nk + c] * K[c * p.d + e % p.d];
        if constexpr (kAdds == Adds::Atomic) {
            atomic_add(dQ, e, p.scale * sum);
        } else {
            dQ[e] += p.scale * sum;
        }
    }
}

template <Adds kAdds>
std::string error_of_adding(int B_c, std::uint64_t seed) {
    const AttentionShape p = shape_of(two_pass(), problem(4, 8, 3, 3, 2, B_c));
    simt::Executor machine({.seed = seed});
    machine.add_input<float>("dS", std::vector<float>(32, 1.0f));
    machine.add_input<float>("K", std::vector<float>(24, 1.0f));
    machine.add_output<float>("dQ", 12);
    machine.zero("dQ");
    try {
        machine.launch(Launch{.name = "add_to_dQ", .grid = {p.col_blocks(), 1, 1}, .block = {32, 1, 1}},
                       add_to_dQ<kAdds>, machine.read("dS"), machine.read("K"), machine.write("dQ"), p);
    } catch (const Error& error) { return error.what(); }
    return {};
}

}  // namespace

TEST_CASE("Vector B: the gradients of the 2 x 2 example") {
    Problem p = problem(2, 2, 2, 2, 1, 1);
    Inputs in;
    in.Q = {Matrix::Identity(2, 2)};
    in.K = {matrix(2, 2, {1, 1, 0, 2})};
    in.V = {matrix(2, 2, {1, 2, 3, 4})};
    in.dO = {Matrix::Identity(2, 2)};
    const Matrix dQ = matrix(2, 2, {-0.312797, 0.312797, -0.312797, 0.312797});
    const Matrix dK = matrix(2, 2, {-0.312797, -0.312797, 0.312797, 0.312797});
    const Matrix dV = matrix(2, 2, {0.669762, 0.330238, 0.330238, 0.669762});
    CHECK(backward_kernels().size() >= 3);
    for (const KernelInfo& kernel : backward_kernels()) {
        CAPTURE(kernel.id);
        for (int b : {1, 2, 3}) {
            p.br = p.bc = b;
            const KernelRun run = run_kernel(kernel, p, in, {});
            const auto is = [&](const char* name, const Matrix& expected) {
                return (run.captured.at({name, 0, -1, -1}) - expected).cwiseAbs().maxCoeff() < 2e-6;
            };
            CHECK(is("dQ", dQ));
            CHECK(is("dK", dK));
            CHECK(is("dV", dV));
            if (run.captured.contains({"D", 0, -1, -1})) CHECK(is("D", matrix(2, 1, {1.660477, 3.339523})));
        }
    }
}

TEST_CASE("A backward that forgets the atomic on dQ is caught as a race between blocks, and with it is not") {
    for (std::uint64_t seed : {1u, 2u, 3u}) {
        CHECK(error_of_adding<Adds::Atomic>(2, seed) == "");
        const std::string error = error_of_adding<Adds::Plain>(2, seed);
        CAPTURE(error);
        CHECK(error.find("race between blocks on global dQ[") != std::string::npos);
        CHECK(error_of_adding<Adds::Plain>(8, seed) == "");  // one block has nobody to race with
    }
}

TEST_CASE("Atomic adds change bits of dQ with the order of the blocks, and nothing else; two passes change none") {
    const Problem p = problem(24, 40, 8, 8, 8, 4);
    for (const KernelInfo& kernel : {atomic(), two_pass()}) {
        RunOptions options;
        const KernelRun first = run_kernel(kernel, p, inputs_of(p), options);
        bool dQ_differs = false;
        for (std::uint64_t seed = 2; seed < 8; ++seed) {
            options.seed = seed;
            const KernelRun other = run_kernel(kernel, p, inputs_of(p), options);
            for (const auto& [key, values] : first.captured) {
                const Matrix difference = values - other.captured.at(key);
                if (key.slot == "dQ") {
                    dQ_differs |= !difference.isZero(0);
                    CHECK(difference.cwiseAbs().maxCoeff() < 1e-6);
                } else {
                    CHECK(difference.isZero(0));
                }
            }
        }
        CHECK(dQ_differs == (kernel.id == atomic().id));
    }
}

TEST_CASE("Each (i, j) adds its part of dQ once: atomics, and bytes read and written, follow from the tiles") {
    const Problem p = problem(20, 28, 6, 5, 8, 8);
    const KernelRun run = run_kernel(atomic(), p, inputs_of(p), {});
    const std::map<std::string, std::int64_t> counters(run.counters.begin(), run.counters.end());
    CHECK(counters.at("atomics") == 4 * 20 * 6);
    CHECK(run.hbm.at("dQ") == TensorBytes{4 * 4 * 20 * 6, 4 * (4 + 1) * 20 * 6});
    const Trace mirror = record(*find_algorithm("fa2_backward"), p, inputs_of(p));
    const Comparison c = compare(mirror, run, bytes_of(mirror));
    CHECK(c.verdict == Verdict::Equal);
    // The running dQ is nobody's: only what stands in HBM at the end is compared.
    int compared = 0;
    for (const TensorSummary& t : c.tensors) compared += t.name == "dQ" ? t.tiles : 0;
    CHECK(compared == p.row_blocks());
}

TEST_CASE("dK and dV sum over the query heads of a group: heads of their own that hold equal K, V add up to the same") {
    Problem grouped = problem(7, 9, 4, 3, 4, 2, true);
    grouped.heads = 6, grouped.kv_heads = 2;
    Problem apart = grouped;
    apart.kv_heads = 6;
    const Inputs in = inputs_of(grouped);
    Inputs copied = in;
    for (auto member : {&Inputs::K, &Inputs::V}) {
        (copied.*member).clear();
        for (int head = 0; head < 6; ++head)
            (copied.*member).push_back((in.*member)[static_cast<std::size_t>(grouped.kv_index(head))]);
    }
    for (const KernelInfo& kernel : backward_kernels()) {
        CAPTURE(kernel.id);
        const KernelRun together = run_kernel(kernel, grouped, in, {}), alone = run_kernel(kernel, apart, copied, {});
        for (const char* name : {"dK", "dV"}) {
            for (int kv = 0; kv < 2; ++kv) {
                Matrix sum = alone.captured.at({name, 3 * kv, -1, -1});
                for (int member : {1, 2}) sum += alone.captured.at({name, 3 * kv + member, -1, -1});
                CHECK((sum - together.captured.at({name, kv, -1, -1})).cwiseAbs().maxCoeff() < 1e-5);
            }
            CHECK(!together.captured.contains({name, 2, -1, -1}));
        }
    }
}

TEST_CASE("The comparer finds a wrong head of dK, and rubbish where only the initialisation stands") {
    Problem p = problem(6, 3, 2, 2, 2, 2, true);  // rows 1 to 3 see no key
    p.heads = 4, p.kv_heads = 2;
    const Inputs in = inputs_of(p);
    const auto verdict = [&](const KernelInfo& kernel, const SlotKey& key, int row) {
        const Trace mirror = record(*find_algorithm(kernel.algorithm), p, in);
        KernelRun run = run_kernel(kernel, p, in, {});
        CHECK(compare(mirror, run, own_bytes(kernel, p)).verdict == Verdict::Equal);
        run.captured.at(key)(row, 0) += 0.125;
        const Comparison c = compare(mirror, run, own_bytes(kernel, p));
        REQUIRE(c.first);
        CHECK(c.first->tensor == key.slot);
        return c.verdict;
    };
    CHECK(verdict(two_pass(), {"dK", 1, -1, -1}, 2) == Verdict::Different);
    CHECK(verdict(atomic(), {"dQ", 3, -1, -1}, 0) == Verdict::Different);
    CHECK(verdict(*find_kernel("fa1_forward_1_tile"), {"O", 0, -1, -1}, 0) == Verdict::Different);
}

TEST_CASE("Rows that see no key have zero gradients, and no NaN reaches the others") {
    const Problem p = masked(problem(6, 5, 3, 3, 2, 2), MaskShape::Scores, Hidden::WholeRows);
    for (const KernelInfo& kernel : backward_kernels()) {
        CAPTURE(kernel.id);
        const KernelRun run = run_kernel(kernel, p, inputs_of(p), {});
        for (const auto& [key, values] : run.captured) CHECK(!values.hasNaN());
        for (int row : {1, 4}) CHECK(run.captured.at({"dQ", 0, -1, -1}).row(row).isZero(0));
        CHECK(!run.captured.at({"dQ", 0, -1, -1}).isZero());
    }
}

}  // namespace flashstep::gpu
