// Cancelling from another thread, progress, and starting values that are computed once.
#include "core/task.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "core/algorithms.h"
#include "core/compare.h"
#include "core/first_non_finite.h"
#include "core/ops/operation.h"
#include "core/starting_values.h"

using namespace flashstep;

namespace {

// Shapes of operands and a result that fit an operation, large enough to be asked within.
struct Shapes {
    Shape a, b, result;
};
Shapes large(const Operation& operation) {
    constexpr int kSide = 512;
    const Shape square{kSide, kSide}, column{kSide, 1}, row{1, kSide}, twice{2 * kSide, kSide};
    const auto node = [](Shape shape) { return Expr{.op = Op::Fill, .rows = shape.rows, .cols = shape.cols}; };
    for (const Shape& a : {square, column, row})
        for (const Shape& b : {square, column, row})
            for (const Shape& result : {square, twice, column})
                if (operation.fits(node(result), node(a), node(b))) return {a, b, result};
    FAIL(operation.name);
    return {};
}

// What only moves numbers is done before anybody could wait for it.
bool moves_only(Op op) {
    for (const Op moving : {Op::Leaf, Op::Input, Op::Fill, Op::PadRows, Op::Part, Op::Stack, Op::DiagMatrix})
        if (op == moving) return true;
    return false;
}

}  // namespace

TEST_CASE("every operation notices within a large operand that it is cancelled, in every format") {
    const std::atomic<bool> cancel = true;
    for (const Operation* operation : operations()) {
        if (moves_only(operation->op)) continue;
        CAPTURE(operation->name);
        const Shapes shapes = large(*operation);
        const Matrix a = Matrix::Ones(shapes.a.rows, shapes.a.cols), b = Matrix::Ones(shapes.b.rows, shapes.b.cols);
        const Expr e{.op = operation->op, .number = 1, .rows = shapes.result.rows, .cols = shapes.result.cols};
        for (const DType dtype : {DType::Exact, DType::Fp16}) {
            Problem p;
            p.dtype = dtype;
            const Task running, cancelled{.cancel = &cancel};
            CHECK_NOTHROW(operation->value({e, a, b, p, running}));
            CHECK_THROWS_AS(operation->value({e, a, b, p, cancelled}), Cancelled);
        }
    }
    Matrix values = Matrix::Ones(512, 512);
    CHECK_THROWS_AS(round_all(values, DType::Bf16, {.cancel = &cancel}), Cancelled);
}

TEST_CASE("a small product is not slowed by asking: the task is asked once per 65,536 additions") {
    const std::atomic<bool> cancel = true;
    const Matrix a = Matrix::Ones(4, 4);
    const Expr e{.op = Op::MatMul, .rows = 4, .cols = 4};
    const Task cancelled{.cancel = &cancel};
    CHECK(operation(Op::MatMul).value({e, a, a, Problem{}, cancelled})(0, 0) == 4);
}

TEST_CASE("a cancelled run stops before its first step, whatever runs: record, count, compare, search, start") {
    const std::atomic<bool> cancel = true;
    std::atomic<float> progress = -1;
    const Task task{.cancel = &cancel, .progress = &progress};
    const Problem p;
    const Inputs in = make_inputs(p);
    for (const Algorithm& algorithm : algorithms()) {
        CAPTURE(algorithm.id);
        CHECK_THROWS_AS(count(algorithm, p, task), Cancelled);
        CHECK_THROWS_AS(record(algorithm, p, in, nullptr, task), Cancelled);
        if (!algorithm.forward.empty()) CHECK_THROWS_AS(starting_values(algorithm, p, in, task), Cancelled);
        const Trace trace = record(algorithm, p, in);
        CHECK_THROWS_AS(first_non_finite(trace, task), Cancelled);
    }
    CHECK(progress == -1);
    const Trace trace = record(*find_algorithm("fa2_forward"), p, in);
    KernelRun run;
    for (const Version& version : trace.versions)
        if (trace.tensors[version.tensor].name == "O")
            run.captured[{"O", version.copy, -1, -1}] = trace.matrix_at(version.tensor, trace.last_step(), 0).values;
    CHECK(compare(trace, run, {}).verdict == Verdict::Equal);
    CHECK_THROWS_AS(compare(trace, run, {}, task), Cancelled);
}

TEST_CASE("a large step of standard attention is left while it runs") {
    Problem p;
    p.n = p.nk = 4000, p.d = p.dv = 256;  // the first product alone takes seconds
    const Inputs in = make_inputs(p);
    std::atomic<bool> cancel = false;
    std::atomic<float> progress = -1;
    std::chrono::steady_clock::time_point asked;
    std::thread other([&] {
        while (progress < 0) std::this_thread::yield();  // the first of three steps has begun
        asked = std::chrono::steady_clock::now();
        cancel = true;
    });
    CHECK_THROWS_AS(
        record(*find_algorithm("standard_attention"), p, in, nullptr, {.cancel = &cancel, .progress = &progress}),
        Cancelled);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - asked;
    other.join();
    CHECK(progress < 0.1f);   // still the first
    CHECK(took.count() < 1 * FLASHSTEP_TIMES_SLOWER);  // 0.1 s on a machine that has nothing else to do
}

TEST_CASE("an overflow's search for blocks that fit is left too") {
    Problem p;
    p.n = p.nk = 1 << 12, p.br = p.bc = 256, p.d = p.dv = 64, p.sram_bytes = 1000;
    std::atomic<bool> cancel = false;
    CHECK_THROWS_WITH_AS(count(*find_algorithm("fa2_forward"), p), doctest::Contains("SRAM overflow"), Error);
    cancel = true;
    CHECK_THROWS_AS(largest_fitting_block(*find_algorithm("fa2_forward"), p, {.cancel = &cancel}), Cancelled);
}

TEST_CASE("progress rises from 0 towards 1, and a forward pass that is only needed leaves it alone") {
    Problem p;
    p.n = p.nk = 64, p.br = p.bc = 8, p.d = p.dv = 8;
    const Inputs in = make_inputs(p);
    std::atomic<float> progress = -1;
    const Task task{.cancel = nullptr, .progress = &progress};
    starting_values(*find_algorithm("fa2_backward"), p, in, task);
    CHECK(progress == -1);
    for (const Algorithm& algorithm : algorithms()) {
        progress = -1;
        record(algorithm, p, in, nullptr, task);
        CHECK_MESSAGE((progress > 0 && progress <= 1), algorithm.id << " " << progress);
    }
}

TEST_CASE("a recording from starting values that are known is the one that computes them itself") {
    Problem p;
    p.heads = 4, p.kv_heads = 2, p.dtype = DType::Fp16, p.causal = true;
    const Inputs in = make_inputs(p);
    for (const Algorithm& algorithm : algorithms()) {
        CAPTURE(algorithm.id);
        const Recorded recorded = record_with_start(algorithm, p, in);
        const Trace alone = record(algorithm, p, in), again = record(algorithm, p, in, recorded.start);
        CHECK(recorded.start.empty() == (algorithm.forward.empty() && !algorithm.reads_scores));
        const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
        CHECK(std::ranges::equal(alone.values, again.values, same));
        CHECK(std::ranges::equal(alone.values, recorded.trace.values, same));
        CHECK(alone.steps.size() == again.steps.size());
    }
    StartingValues other = record_with_start(*find_algorithm("fa2_backward"), p, in).start;
    other.at("L").front().setZero();
    CHECK(record(*find_algorithm("fa2_backward"), p, in, other).values !=
          record(*find_algorithm("fa2_backward"), p, in).values);
}
