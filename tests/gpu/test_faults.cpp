// Faults: each shows first where its row of the table says, changes the result in its preset, and hides where it hides.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/algorithms.h"
#include "core/compare.h"
#include "core/reference.h"
#include "gpu/run.h"
#include "lab/presets.h"

using namespace flashstep;

namespace {

// What a right kernel would have captured: the right mirror's own tiles.
KernelRun capture_of(const Trace& trace) {
    KernelRun run;
    for (const Version& version : trace.versions) {
        const Tensor& tensor = trace.tensors[version.tensor];
        const Step& step = trace.steps[version.step];
        if (version.step == 0 || tensor.space == Space::Hbm || step.j < 0) continue;
        const Op op = trace.exprs[version.expr].op;
        if (op != Op::Leaf && op != Op::Fill)
            run.captured[{tensor.name, step.head, step.i, step.j}] = trace.value(version);
    }
    return run;
}

Matrix output(const Trace& trace, std::string_view name) {
    return trace.matrix_at(trace.find(name, Space::Hbm), trace.last_step(), 0).values;
}

// Largest difference; a NaN counts as infinite.
double distance(const Matrix& a, const Matrix& b) {
    const double d = (a - b).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
    return std::isnan(d) ? kInf : d;
}

struct Pair {
    Trace right, wrong;
};

Pair run_pair(const Fault& fault) {
    const Preset& preset = *find_preset(fault.preset);
    const Algorithm& algorithm = *find_algorithm(fault.algorithm);
    const Inputs in = preset.inputs(preset.problem);
    return {record(algorithm, preset.problem, in), record(algorithm, preset.problem, in, &fault)};
}

Problem vector_a() {
    Problem p;
    p.d = 4, p.dv = 2, p.scale = 0.5, p.dtype = DType::Exact;
    return p;
}

Inputs vector_a_inputs(const Problem& p) {
    Inputs in = make_inputs(p);
    in.Q[0] << 1, 0, 2, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0, 2, 1, 1;
    in.K[0] << 2, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 2, 1;
    in.V[0] << 1, 0, 0, 1, 1, 1, 2, 1;
    return in;
}

}  // namespace

TEST_CASE("every fault is reported at its known first step, line, tile and tensor") {
    for (const Fault& fault : faults()) {
        INFO(fault.id);
        REQUIRE(find_preset(fault.preset));
        const Pair pair = run_pair(fault);
        const Comparison result = compare(pair.wrong, capture_of(pair.right), {});
        CHECK(result.verdict != Verdict::Equal);
        REQUIRE(result.first);
        INFO(describe(*result.first, pair.wrong.problem));
        // The line where it shows is the fault's own, or a later one where the word only moves data.
        CHECK(result.first->line == (fault.word == Word::Load ? 8 : fault.line));
        CHECK(result.first->tensor == fault.tensor);
        CHECK(result.first->i == fault.i);
        CHECK(result.first->j == fault.j);
    }
}

TEST_CASE(
    "every kernel that mirrors a fault's algorithm equals the right mirror and finds the fault at its first step") {
    bool guard_in_state = false;
    for (const Fault& fault : faults())
        for (const gpu::KernelInfo& kernel : gpu::kernels()) {
            const Preset& preset = *find_preset(fault.preset);
            const bool runs = std::ranges::find(kernel.dtypes, preset.problem.dtype) != kernel.dtypes.end();
            if (kernel.algorithm != fault.algorithm || !runs) continue;
            INFO(fault.id);
            INFO(kernel.id);
            const Pair pair = run_pair(fault);
            const KernelRun run = gpu::run_kernel(kernel, preset.problem, preset.inputs(preset.problem), {});
            const auto bytes =
                kernel.bytes_equal_mirror ? bytes_of(pair.right) : gpu::own_bytes(kernel, preset.problem);
            CHECK(compare(pair.right, run, bytes).verdict == Verdict::Equal);
            const Comparison found = compare(pair.wrong, run, bytes);
            CHECK(found.verdict != Verdict::Equal);
            REQUIRE(found.first);
            CHECK(found.first->line == (fault.word == Word::Load ? 8 : fault.line));
            CHECK(found.first->tensor == fault.tensor);
            CHECK(found.first->i == fault.i);
            CHECK(found.first->j == fault.j);
            guard_in_state |= fault.id == "guard-in-state";
        }
    CHECK(guard_in_state);
}

TEST_CASE("every fault makes an output visibly wrong in its preset") {
    for (const Fault& fault : faults()) {
        const Pair pair = run_pair(fault);
        double worst = 0;
        for (const Tensor& tensor : pair.right.tensors)
            if (tensor.space == Space::Hbm && tensor.role == Role::Output)
                worst = std::max(worst, distance(output(pair.right, tensor.name), output(pair.wrong, tensor.name)));
        INFO(fault.id << " " << worst);
        CHECK(worst > (fault.meaning == Meaning::HalfPrecision ? 5e-5 : 1e-2));
    }
}

TEST_CASE("without its line or word a fault changes nothing: the right trace is the same with no fault") {
    const Preset& preset = *find_preset("n4d3");
    const Inputs in = preset.inputs(preset.problem);
    const Algorithm& fa2 = *find_algorithm("fa2_forward");
    Fault elsewhere = *find_fault("no-rescale");
    elsewhere.line = 12;
    CHECK(record(fa2, preset.problem, in, &elsewhere).values == record(fa2, preset.problem, in).values);
}

TEST_CASE("vector A: what each fault makes of the known output") {
    const Problem p = vector_a();
    const Inputs in = vector_a_inputs(p);
    const auto faulty = [&](const char* id) {
        return output(record(*find_algorithm("fa2_forward"), p, in, find_fault(id)), "O");
    };
    for (int r = 0; r < 4; ++r) CHECK(faulty("literal-inverse").row(r).hasNaN());
    const auto row_is = [&](const char* id, int row, double a, double b) {
        INFO(id);
        CHECK(faulty(id)(row, 0) == doctest::Approx(a).epsilon(1e-6));
        CHECK(faulty(id)(row, 1) == doctest::Approx(b).epsilon(1e-6));
    };
    row_is("literal-inverse-guarded", 0, 2.273337, 1.846404);
    row_is("no-rescale", 0, 1.539746, 1.112813);
    row_is("tile-max", 2, 1.080235, 0.663799);
    row_is("no-scale", 0, 1.527701, 0.917405);
}

TEST_CASE("rows whose maximum does not move hide no-rescale and the guarded inverse") {
    const Problem p = vector_a();
    const Inputs in = vector_a_inputs(p);
    const Algorithm& fa2 = *find_algorithm("fa2_forward");
    const Matrix right = output(record(fa2, p, in), "O");
    for (const char* id : {"no-rescale", "literal-inverse-guarded"}) {
        const Matrix wrong = output(record(fa2, p, in, find_fault(id)), "O");
        int hidden = 0;
        for (int r = 0; r < 4; ++r) hidden += distance(right.row(r), wrong.row(r)) < 1e-12;
        CHECK(hidden > 0);
        CHECK(hidden < 4);
    }
}

TEST_CASE("vector E: a guard kept as the maximum silences a row") {
    const Preset& preset = *find_preset("hidden_first_tile");
    const Inputs in = preset.inputs(preset.problem);
    const Algorithm& fa2 = *find_algorithm("fa2_forward");
    CHECK(output(record(fa2, preset.problem, in), "O")(0, 0) == doctest::Approx(0.731059).epsilon(1e-6));
    CHECK(output(record(fa2, preset.problem, in, find_fault("guard-in-state")), "O").isZero());
}

TEST_CASE("vector F: an unmasked zero-filled tail") {
    const Preset& preset = *find_preset("tail");
    const Inputs in = preset.inputs(preset.problem);
    CHECK(output(record(*find_algorithm("fa2_forward"), preset.problem, in, find_fault("no-tail-mask")), "O")(0, 0) ==
          doctest::Approx(0.524633).epsilon(1e-6));
}

TEST_CASE("a fault of another algorithm is refused") {
    const Preset& preset = *find_preset("n4d3");
    CHECK_THROWS_WITH_AS(
        record(*find_algorithm("fa1_forward"), preset.problem, preset.inputs(preset.problem), find_fault("no-d")),
        doctest::Contains("no-d is one of fa2_backward"), Error);
}
