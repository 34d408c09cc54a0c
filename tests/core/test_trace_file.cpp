// Trace files: what is written is read back, field by field; what is no trace file is refused with the place.
#include "core/compare.h"
#include "core/faults.h"
#include "core/io/file.h"
#include "gpu/run.h"
#include "lab/presets.h"
#include "tests/core/trace_file_tools.h"
#include "tests/program.h"

using namespace flashstep;
using namespace flashstep::testing;

namespace {

// Each differs from the others in what a trace holds.
std::vector<Problem> example_problems() {
    const Problem lesson = find_preset("n4d3")->problem;
    std::vector<Problem> problems(7, lesson);
    problems[1].n = 7, problems[1].nk = 5, problems[1].d = 2, problems[1].dv = 4, problems[1].br = 3;
    problems[2].causal = true, problems[2].n = 6;
    problems[3].batch = 2, problems[3].heads = 4, problems[3].kv_heads = 2;
    problems[4].dtype = DType::Fp16, problems[4].mask = MaskShape::Keys;
    problems[5].dtype = DType::Bf16, problems[5].mask = MaskShape::Scores, problems[5].sram_bytes = 1 << 20;
    problems[6].dtype = DType::Exact, problems[6].base2 = true, problems[6].n = problems[6].nk = 1;
    return problems;
}

Inputs with_special_values(const Problem& p) {
    Inputs inputs = make_inputs(p);
    inputs.V[0](0, 0) = std::nan(""), inputs.V[0](0, 1) = -kInf, inputs.Q[0](0, 0) = kInf, inputs.Q[0](0, 1) = -0.0;
    if (inputs.mask.size() > 1) inputs.mask(0, 1) = -kInf;
    return inputs;
}

KernelRun special_run() {
    KernelRun run;
    run.kernel = "fa2_forward_1_tile", run.where = Where::Recorded, run.device = "NVIDIA H100", run.date = "2025-01-31";
    run.captured[{"S_ij", 0, 0, 1}] = Matrix{{1.5, -kInf}, {std::nan(""), -0.0}};
    run.captured[{"O", 3, -1, -1}] = Matrix{{5e-324, kInf, 1.7976931348623157e308}};
    run.captured[{"E", 0, -1, -1}] = Matrix(0, 3);
    run.hbm["Q"] = {12, 0}, run.hbm["O"] = {0, std::int64_t{1} << 60};
    run.counters = {{"barriers", 3}, {"shuffles", -1}, {"barriers", 4}};
    return run;
}

void check_equal(const KernelRun& x, const KernelRun& y) {
    // How often instructions ran is not kept.
    [[maybe_unused]] const auto& [kernel, where, device, date, captured, hbm, counters, instructions] = x;
    CHECK(kernel == y.kernel);
    CHECK(where == y.where);
    CHECK(device == y.device);
    CHECK(date == y.date);
    CHECK(hbm == y.hbm);
    CHECK(counters == y.counters);
    REQUIRE(captured.size() == y.captured.size());
    for (const auto& [key, tile] : captured) {
        REQUIRE(y.captured.contains(key));
        const Matrix& other = y.captured.at(key);
        REQUIRE(tile.rows() == other.rows());
        REQUIRE(tile.cols() == other.cols());
        for (Eigen::Index k = 0; k < tile.size(); ++k) CHECK(same(tile.data()[k], other.data()[k]));
    }
}

std::string lesson_bytes() {
    const Preset& preset = *find_preset("n4d3");
    return io::trace_bytes(record(*find_algorithm("fa2_forward"), preset.problem, preset.inputs(preset.problem)));
}

}  // namespace

TEST_CASE("a trace of any algorithm and problem is read back equal in every field") {
    for (const Algorithm& algorithm : algorithms())
        for (const Problem& problem : example_problems()) {
            CAPTURE(algorithm.id);
            for (const Inputs& inputs : {make_inputs(problem), with_special_values(problem)}) {
                const Trace trace = record(algorithm, problem, inputs);
                const std::string bytes = io::trace_bytes(trace);
                check_equal(trace, io::parse_trace(bytes, "x"));
                CHECK(io::trace_bytes(io::parse_trace(bytes, "x")) == bytes);
            }
        }
}

TEST_CASE("a trace of any fault is read back equal in every field") {
    Problem problem = find_preset("n4d3")->problem;
    problem.n = 3, problem.nk = 5;
    for (const Fault& fault : faults()) {
        CAPTURE(fault.id);
        const Trace trace =
            record(*find_algorithm(std::string(fault.algorithm)), problem, make_inputs(problem), &fault);
        check_equal(trace, io::parse_trace(io::trace_bytes(trace), "x"));
    }
}

TEST_CASE("a difference in one field is seen by the comparison of these tests") {
    const Trace trace = io::parse_trace(lesson_bytes(), "x");
    Trace other = trace;
    other.tensors[1].registers = !other.tensors[1].registers;
    CHECK_FALSE(equal(other.tensors, trace.tensors));
    other.steps[3].w = 2;
    CHECK_FALSE(equal(other.steps, trace.steps));
    other.steps = trace.steps, other.steps[3].total.barriers = 1;
    CHECK_FALSE(equal(other.steps, trace.steps));
    CHECK_FALSE(same(0.0, -0.0));
    CHECK_FALSE(same(kInf, -kInf));
}

TEST_CASE("a kernel's run is read back equal in every field") {
    check_equal(special_run(), io::parse_kernel_run(io::kernel_run_bytes(special_run()), "x"));
    const Preset& preset = *find_preset("n4d3");
    const gpu::KernelInfo& kernel = *gpu::find_kernel(preset.kernel);
    const KernelRun run = gpu::run_kernel(kernel, preset.problem, preset.inputs(preset.problem), {});
    const TemporaryFolder folder;
    io::write_kernel_run(folder.file("run.fst"), run);
    const KernelRun read = io::read_kernel_run(folder.file("run.fst"));
    check_equal(run, read);
    const Trace mirror = record(*find_algorithm("fa2_forward"), preset.problem, preset.inputs(preset.problem));
    CHECK(compare(mirror, read, bytes_of(mirror)).verdict == Verdict::Equal);
    CHECK(io::kernel_run_bytes({}) == io::kernel_run_bytes(io::parse_kernel_run(io::kernel_run_bytes({}), "x")));
}

TEST_CASE("a name that could not be read back is refused when it is written") {
    KernelRun run;
    for (const std::string& name : {std::string(201, 'x'), std::string("a\nb"), std::string("\xc3\xa4")}) {
        run.device = name;
        CHECK(contains(error_of([&] { io::kernel_run_bytes(run); }), "cannot be saved"));
    }
    run.device = std::string(200, 'x');
    CHECK(io::parse_kernel_run(io::kernel_run_bytes(run), "x").device == run.device);
}

TEST_CASE("the format stays as it is: the first bytes and the checksum of a file") {
    const std::string bytes = io::kernel_run_bytes({});
    CHECK(bytes.substr(0, 16) == std::string("\x89"
                                             "FST\r\n\x1a\n\x02\0\0\0KRUN",
                                             16));
    CHECK(bytes.ends_with("END " + as_bytes(crc32("END " + std::string(8, '\0')), 4) + std::string(8, '\0')));
    CHECK(crc32("123456789") == 0xcbf43926);  // the check value of CRC-32
    CHECK(put_together(take_apart(lesson_bytes())) == lesson_bytes());
}

TEST_CASE("what is no trace file of this version is refused with what it is") {
    const std::string good = lesson_bytes();
    const auto with = [&](std::size_t at, const std::string& bytes) {
        return std::string(good).replace(at, bytes.size(), bytes);
    };
    struct Row {
        std::string bytes;
        std::vector<std::string> parts;
    };
    const Row rows[] = {
        {"", {"'f': byte 0: ", "found nothing", "--save"}},
        {"1,2,3\n", {"byte 0: ", "found '1,2,'", "--save"}},
        {with(0, "\x93NUM"), {"byte 0: ", "NUM", "--save"}},
        {std::string(good).replace(4, 2, "\n"), {"byte 4: ", "line ends"}},
        {with(8, std::string("\x03\0\0\0", 4)), {"byte 8: ", "version 2, found 3", "newer flashstep: update yours"}},
        {with(8, std::string("\x01\0\0\0", 4)), {"byte 8: ", "version 2, found 1", "older flashstep: save it again"}},
        {with(8, std::string("\0\0\0\0", 4)), {"byte 8: ", "version 2, found 0", "damaged"}},
        {with(12, "KRUN"), {"byte 12: ", "expected content 'TRCE', found 'KRUN'"}},
        {with(16, "TENS"), {"byte 16: ", "expected section 'HEAD', found 'TENS'"}},
        {with(20, "zzzz"), {"byte 20: ", "checksum 7a7a7a7a of section 'HEAD'"}},
        {with(24, as_bytes(~std::uint64_t{0}, 8)), {"byte 24: ", "expected 18446744073709551615 bytes"}},
        {with(40, "?"), {"byte 20: ", "checksum"}},
        {good + "x", {"byte " + std::to_string(good.size()) + ": ", "expected the end of the file, found 1 more"}},
        {good + good, {"expected the end of the file"}},
    };
    for (const Row& row : rows) {
        const std::string error = error_of([&] { io::parse_trace(row.bytes, "f"); });
        CAPTURE(error);
        for (const std::string& part : row.parts) CHECK_MESSAGE(contains(error, part), part);
    }
    CHECK(contains(error_of([&] { io::parse_kernel_run(good, "f"); }), "expected content 'KRUN', found 'TRCE'"));
}

TEST_CASE("sections in another order, twice, or missing are refused") {
    const Container good = take_apart(lesson_bytes());
    for (std::size_t k = 0; k < good.sections.size(); ++k) {
        Container twice = good, missing = good, swapped = good;
        twice.sections.insert(twice.sections.begin() + static_cast<std::ptrdiff_t>(k), good.sections[k]);
        missing.sections.erase(missing.sections.begin() + static_cast<std::ptrdiff_t>(k));
        if (k > 0) std::swap(swapped.sections[k], swapped.sections[k - 1]);
        for (const Container* wrong : {&twice, &missing, &swapped}) {
            if (wrong == &swapped && k == 0) continue;
            CHECK(contains(error_of([&] { io::parse_trace(put_together(*wrong), "f"); }), ": byte "));
        }
    }
}

TEST_CASE("trace --save and trace --load show the same page, JSON and matrices") {
    const TemporaryFolder folder;
    const std::string file = folder.file("run.fst");
    const std::vector<std::string> base = {"trace", "fa2_backward", "--n", "5", "--causal", "--heads", "2"};
    const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words);
    };
    const auto page = with(base, {"--save", file, "--out", folder.file("a")});
    REQUIRE(page.status == 0);
    CHECK(contains(page.err, "saved the trace to"));
    const auto again = run_program({"trace", "--load", file, "--out", folder.file("b")});
    CHECK(again.status == 0);
    CHECK(again.out == page.out);
    CHECK(text_of(folder.file("a/dQ.npy")) == text_of(folder.file("b/dQ.npy")));
    CHECK(run_program({"trace", "fa2_backward", "--load", file, "--json"}).out == with(base, {"--json"}).out);
}

TEST_CASE("wrong use of --save and --load is refused") {
    const TemporaryFolder folder;
    const std::string file = folder.file("run.fst");
    REQUIRE(run_program({"trace", "fa2_forward", "--save", file}).status == 0);
    write_text(folder.file("cut.fst"), text_of(file).substr(0, 1000));
    struct Row {
        std::vector<std::string> words, parts;
    };
    const Row rows[] = {
        {{"--load", file, "--n", "4"}, {"--n contradict", "its own problem"}},
        {{"--load", file, "--causal"}, {"--causal contradict"}},
        {{"--load", file, "--preset", "n4d3"}, {"--preset contradict"}},
        {{"--load", file, "--kernel", "fa2_forward_1_tile"}, {"--kernel contradict"}},
        {{"--load", file, "--fault", "no-rescale"}, {"--fault contradict"}},
        {{"--load", file, "--save", file}, {"--save contradict"}},
        {{"fa1_forward", "--load", file}, {"holds a trace of fa2_forward, not of fa1_forward"}},
        {{"--load", folder.file("cut.fst")}, {"cut.fst': byte ", "damaged"}},
        {{"--load", folder.file("none.fst")}, {"cannot read"}},
        {{"--load", folder.path()}, {"is a folder"}},
        {{"--load", ""}, {"cannot read ''"}},
        {{"fa2_forward", "--save", folder.file("none/run.fst")}, {"cannot write"}},
        {{"fa2_forward", "--save", folder.path()}, {"cannot write", "Is a directory"}},
        {{"fa2_forward", "--save", ""}, {"cannot write ''"}},
    };
    for (const Row& row : rows) {
        std::vector<std::string> words = {"trace"};
        words.insert(words.end(), row.words.begin(), row.words.end());
        const auto output = run_program(words);
        CAPTURE(output.err);
        CHECK(output.status == 2);
        CHECK(output.out.empty());
        for (const std::string& part : row.parts) CHECK_MESSAGE(contains(output.err, part), part);
    }
}
