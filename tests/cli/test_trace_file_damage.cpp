// Damaged trace files: cut off, altered, and altered with the checksums made right again. An error names the place, or
// what was read can be looked at like any trace.
#include <random>

#include "core/compare.h"
#include "core/explain.h"
#include "core/io/trace_json.h"
#include "tests/core/trace_file_tools.h"
#include "cli/tensor_files.h"
#include "cli/walkthrough.h"

using namespace flashstep;
using namespace flashstep::testing;

namespace {

Trace small_trace(std::string_view algorithm) {
    Problem p;
    p.n = 3, p.nk = 3, p.d = p.dv = 2, p.br = 2, p.bc = 2, p.causal = true, p.mask = MaskShape::Keys;
    p.heads = 2, p.kv_heads = 1;
    return record(*find_algorithm(algorithm), p, make_inputs(p));
}

KernelRun small_run(const Trace& mirror) {
    KernelRun run;
    run.kernel = "k", run.where = Where::Recorded, run.device = "d", run.date = "2025-01-31";
    for (const std::string_view name : {"S_ij", "O_i", "m_i", "O", "dK_j"})
        for (const Version& version : mirror.versions) {
            const Tensor& tensor = mirror.tensors[static_cast<std::size_t>(version.tensor)];
            const Step& step = mirror.steps[static_cast<std::size_t>(version.step)];
            if (tensor.name != name) continue;
            if (tensor.space == Space::Sram)
                run.captured[{tensor.name, step.head, step.i, step.j}] = mirror.value(version);
            else
                run.captured[{tensor.name, step.head, -1, -1}] =
                    mirror.matrix_at(version.tensor, mirror.last_step(), step.head).values;
        }
    run.hbm = bytes_of(mirror);
    run.counters = {{"barriers", 4}};
    return run;
}

int pick(std::mt19937& random, std::size_t count) { return static_cast<int>(random() % count); }

// Everything that core and the command line do with a trace, at random steps.
void look_at_everything(const Trace& trace, const KernelRun& run, std::mt19937& random) {
    for (int round = 0; round < 4; ++round) {
        const int step = pick(random, trace.steps.size()), head = trace.steps[static_cast<std::size_t>(step)].head;
        trace.resident(step);
        trace.head_range(head);
        for (int t = 0; t < static_cast<int>(trace.tensors.size()); ++t) {
            trace.hbm_bytes(t, step);
            const Tensor& tensor = trace.tensors[static_cast<std::size_t>(t)];
            if (tensor.space == Space::Hbm) {
                trace.matrix_at(t, step, head);
                const int block = pick(random, static_cast<std::size_t>(tensor.blocks()));
                trace.version_at(t, step, trace.copy_of(t, head), block);
            } else if (const int tile = trace.tile_at(t, step); tile >= 0) {
                const Matrix values = trace.value(trace.versions[static_cast<std::size_t>(tile)]);
                CHECK(values.rows() <= tensor.rows);
            }
        }
        const int version = pick(random, trace.versions.size());
        const Version& v = trace.versions[static_cast<std::size_t>(version)];
        explain(trace, version, pick(random, static_cast<std::size_t>(v.rows)),
                pick(random, static_cast<std::size_t>(v.cols)));
    }
    counts_of(trace);
    compare(trace, run, bytes_of(trace));
    const Algorithm& algorithm = *find_algorithm(trace.algorithm);
    io::json_text(io::trace_json(algorithm, trace), -1);
    cli::walkthrough(algorithm, trace, nullptr);
    for (const std::string_view name : {"O", "S", "P", "m", "dQ"}) cli::named_tensor(trace, name);
}

// True if the error is one that names a place in the file.
bool names_a_place(const std::string& error) { return contains(error, "'f': byte ") && !contains(error, "\n"); }

// Numbers that break what is not checked.
constexpr std::int64_t kOdd[] = {0,  1,    -1,   2,       3,       4,       7,
                                 64, 1000, 4096, 1 << 16, 1 << 24, 1 << 28, std::numeric_limits<int>::max()};

void alter(std::string& bytes, std::mt19937& random) {
    if (bytes.empty()) return;
    switch (random() % 4) {
        case 0:  // one byte
            bytes[random() % bytes.size()] = static_cast<char>(random());
            break;
        case 1:  // a bit
            bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
            break;
        case 2: {  // a number, where most fields are 4 bytes long
            const std::size_t size = random() % 2 ? 4 : 8;
            if (bytes.size() < size) break;
            const std::size_t at = random() % (bytes.size() - size + 1);
            bytes.replace(
                at, size,
                as_bytes(static_cast<std::uint64_t>(kOdd[random() % std::size(kOdd)]), static_cast<int>(size)));
            break;
        }
        default: {  // a run of bytes from elsewhere
            const std::size_t size = std::min<std::size_t>(bytes.size(), 1 + random() % 16);
            const std::size_t from = random() % (bytes.size() - size + 1), to = random() % (bytes.size() - size + 1);
            bytes.replace(to, size, bytes.substr(from, size));
        }
    }
}

}  // namespace

TEST_CASE("a file that was cut off anywhere is refused with the place") {
    for (const std::string_view id : {"fa2_forward", "standard_attention"}) {
        const std::string good = io::trace_bytes(small_trace(id));
        for (std::size_t length = 0; length < good.size(); ++length) {
            const std::string error = error_of([&] { io::parse_trace(good.substr(0, length), "f"); });
            if (!names_a_place(error)) FAIL_CHECK(length << " of " << good.size() << " bytes: " << error);
        }
    }
    const std::string run = io::kernel_run_bytes(small_run(small_trace("fa2_forward")));
    for (std::size_t length = 0; length < run.size(); ++length)
        CHECK(names_a_place(error_of([&] { io::parse_kernel_run(run.substr(0, length), "f"); })));
}

TEST_CASE("a file with any byte altered is refused") {
    const std::string good = io::trace_bytes(small_trace("fa2_forward"));
    const std::string run = io::kernel_run_bytes(small_run(small_trace("fa2_forward")));
    std::mt19937 random(1);
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string bad = good;
        bad[at] ^= static_cast<char>(1 + random() % 255);
        const std::string error = error_of([&] { io::parse_trace(bad, "f"); });
        if (!names_a_place(error)) FAIL_CHECK("byte " << at << ": " << error);
    }
    for (std::size_t at = 0; at < run.size(); ++at) {
        std::string bad = run;
        bad[at] ^= static_cast<char>(1 + random() % 255);
        CHECK(names_a_place(error_of([&] { io::parse_kernel_run(bad, "f"); })));
    }
    for (int round = 0; round < 2000; ++round) {  // several alterations
        std::string bad = good;
        for (int k = 0; k < 3; ++k) alter(bad, random);
        if (bad == good) continue;
        const std::string error = error_of([&] { io::parse_trace(bad, "f"); });
        if (!names_a_place(error)) FAIL_CHECK("round " << round << ": " << error);
    }
}

TEST_CASE("a trace altered behind right checksums is refused with the place, or survives all look-ups") {
    std::mt19937 random(2);
    int refused = 0, survived = 0;
    for (const Algorithm& algorithm : algorithms()) {
        const Trace trace = small_trace(algorithm.id);
        const KernelRun run = small_run(trace);
        const Container good = take_apart(io::trace_bytes(trace));
        for (int round = 0; round < 400; ++round) {
            Container bad = good;
            // All sections alike often, though some are much longer.
            for (int k = 0; k <= round % 3; ++k)
                alter(bad.sections[random() % (good.sections.size() - 1)].second, random);
            CAPTURE(algorithm.id);
            CAPTURE(round);
            Trace read;
            const std::string error = error_of([&] { read = io::parse_trace(put_together(bad), "f"); });
            if (error == "no error") {
                ++survived;
                look_at_everything(read, run, random);
            } else {
                ++refused;
                if (!names_a_place(error)) FAIL_CHECK(error);
            }
        }
    }
    CHECK(refused > 1000);
    CHECK(survived > 200);
}

TEST_CASE("a kernel's run altered behind right checksums is refused with the place, or can be compared") {
    std::mt19937 random(3);
    int refused = 0, survived = 0;
    const Trace mirror = small_trace("fa2_forward");
    const Container good = take_apart(io::kernel_run_bytes(small_run(mirror)));
    for (int round = 0; round < 4000; ++round) {
        Container bad = good;
        for (int k = 0; k <= round % 3; ++k) alter(bad.sections[random() % (good.sections.size() - 1)].second, random);
        KernelRun read;
        const std::string error = error_of([&] { read = io::parse_kernel_run(put_together(bad), "f"); });
        if (error == "no error") {
            ++survived;
            const Comparison comparison = compare(mirror, read, bytes_of(mirror));
            if (comparison.first) describe(*comparison.first, mirror.problem);
        } else {
            ++refused;
            if (!names_a_place(error)) FAIL_CHECK(error);
        }
    }
    CHECK(refused > 200);
    CHECK(survived > 200);
}

TEST_CASE("every rule of a trace refuses what breaks it, when reading and when writing") {
    const Trace good = small_trace("fa2_forward");
    const int tile = good.find("S_ij", Space::Sram), matrix = good.find("O", Space::Hbm);
    const auto first = [&](auto rule, const auto& items) {
        return static_cast<std::size_t>(std::find_if(items.begin(), items.end(), rule) - items.begin());
    };
    const std::size_t load = first([](const Touch& t) { return t.kind == TouchKind::Load; }, good.touches);
    const std::size_t read = first([](const Touch& t) { return t.kind == TouchKind::Read; }, good.touches);
    const std::size_t product = first([](const Expr& e) { return e.op == Op::MatMul; }, good.exprs);
    const std::size_t sum = first([](const Expr& e) { return e.op == Op::Add; }, good.exprs);
    const std::size_t leaf = first([](const Expr& e) { return e.op == Op::Leaf; }, good.exprs);
    const std::size_t on_chip = first([&](const Version& v) { return v.tensor == tile; }, good.versions);
    struct Row {
        std::function<void(Trace&)> spoil;
        std::string what;
    };
    const Row rows[] = {
        {[](Trace& t) { t.algorithm = "fa9"; }, "expected the id of an algorithm, found 'fa9'"},
        {[](Trace& t) { t.problem.heads = 0; }, "heads is 0"},
        {[](Trace& t) { t.problem.n = 1000; }, "a matrix with n = 1000 rows"},
        {[](Trace& t) { t.problem.nk = 1000; }, "a matrix with nk = 1000 rows or columns"},
        {[](Trace& t) { t.problem.batch = 2; }, "a head from 3 to 3, found 1"},
        {[](Trace& t) { t.memory.extra = -1; }, "bytes of extra"},
        {[](Trace& t) { t.sram_peak = -1; }, "SRAM peak"},
        {[](Trace& t) { t.lifetimes.pop_back(); }, "lifetimes"},
        {[=](Trace& t) { t.tensors[matrix].name = "Q"; }, "one tensor called Q"},
        {[=](Trace& t) { t.tensors[matrix].name = "a b"; }, "found 'a b'"},
        {[=](Trace& t) { t.tensors[matrix].rows = 1 << 24, t.tensors[matrix].cols = 1 << 24; }, "elements of a matrix"},
        {[=](Trace& t) { t.tensors[matrix].rows = 1 << 20; }, "rows of a block from 2 to 2, found 1"},
        {[=](Trace& t) { t.tensors[matrix].block_rows = 0; }, "rows of a block from 1"},
        {[=](Trace& t) { t.tensors[matrix].registers = true; }, "found one in registers"},
        {[=](Trace& t) { t.tensors[tile].cols += 1; }, "columns of a tile from"},
        {[=](Trace& t) { t.tensors[tile].element_bytes = 0; }, "bytes of an element from 1 to 8, found 0"},
        {[=](Trace& t) { t.versions[on_chip].step = 0; }, "a step from"},
        {[=](Trace& t) { t.versions[on_chip].tensor = 99; }, "a tensor from 0"},
        {[=](Trace& t) { t.versions[on_chip].copy = 1; }, "a copy from 0 to 0, found 1"},
        {[=](Trace& t) { t.versions[on_chip].rows = 0; }, "rows of a tile from 1"},
        {[=](Trace& t) { t.versions[on_chip].expr = -1; }, "an expression from 0"},
        {[=](Trace& t) { t.versions[on_chip].rows = 1; }, "the shape of its expression"},
        {[](Trace& t) { t.versions[0].block = 5; }, "a block from -1"},
        {[](Trace& t) { t.versions[0].cols = 1; }, "columns of a block from 2 to 2, found 1"},
        {[=](Trace& t) { t.exprs[product].a = static_cast<int>(product); }, "an operand that was made before"},
        {[=](Trace& t) { t.exprs[product].b = -1; }, "an operand that was made before, found -1"},
        {[=](Trace& t) { t.exprs[t.exprs[product].a] = {.op = Op::Input, .rows = 2, .cols = 2}; },
         "without its version"},
        {[=](Trace& t) { t.exprs[product].op = Op::DiagMul; }, "operands whose shapes fit"},
        {[=](Trace& t) { t.exprs[sum].op = Op::Exp; }, "no second operand"},
        {[=](Trace& t) { t.exprs[sum].rows = 1 << 30; }, "a shape with 1 to"},
        {[=](Trace& t) { t.exprs[sum].row0 = -1; }, "a first row from 0 up"},
        {[=](Trace& t) { t.exprs[sum].version = 0; }, "no version, found 0"},
        {[=](Trace& t) { t.exprs[leaf].version = 1 << 20; }, "versions, found 1048576"},
        {[=](Trace& t) { t.exprs[leaf].version = static_cast<int>(on_chip); }, "expected "},
        {[](Trace& t) { t.steps[1].line = 99; }, "a line of fa2_forward, found 99"},
        {[](Trace& t) { t.steps[1].line = 1; }, "a line of fa2_forward, found 1"},
        {[](Trace& t) { t.steps[1].i = 1 << 20; }, "i from -1"},
        {[](Trace& t) { t.steps[1].w = -2; }, "the index of a warp"},
        {[](Trace& t) { t.steps[1].head = 1, t.steps[2].head = 0; }, "a head from 1"},
        {[](Trace& t) { ++t.steps[3].touch_begin; }, "the first movement"},
        {[](Trace& t) { t.steps[3].version_end = 1 << 20; }, "the end of the versions"},
        {[](Trace& t) { t.steps[3].total.flops_exp = -1; }, "a running total"},
        {[](Trace& t) { t.steps[3].sram_bytes = -1; }, "bytes on chip"},
        {[=](Trace& t) { t.touches[load].tensor = tile; }, "expected a matrix in HBM, found S_ij"},
        {[=](Trace& t) { t.touches[read].tensor = matrix; }, "expected a tile, found O"},
        {[=](Trace& t) { t.touches[read].version = 0; }, "expected a version of"},
        {[=](Trace& t) { t.touches[load].block = 2; }, "a block from -1 to 1, found 2"},
        {[=](Trace& t) { t.touches[load].partner = matrix; }, "found a matrix in HBM"},
        {[=](Trace& t) { t.touches[load].bytes = -4; }, "bytes from 0"},
        {[=](Trace& t) { t.lifetimes[tile][0].last = 1 << 20; }, "the last step of a tile"},
        {[=](Trace& t) { t.lifetimes[tile][1].first = 1; }, "the first step of a tile"},
        {[=](Trace& t) {
             t.lifetimes[matrix].push_back({1, 1});
         },
         "no lifetime of O"},
        {[](Trace& t) { t.values.pop_back(); }, "values"},
    };
    for (const Row& row : rows) {
        Trace bad = good;
        row.spoil(bad);
        const std::string error = error_of([&] { io::trace_bytes(bad); });
        CAPTURE(row.what);
        CHECK_MESSAGE(contains(error, row.what), error);
        CHECK(contains(error, "this trace cannot be saved"));
    }
}

TEST_CASE("a matrix far larger than what was written to it is refused") {
    Problem p;
    p.n = p.nk = 4;
    const Trace good = record(*find_algorithm("fa2_forward"), p, make_inputs(p));
    Trace bad = good;
    bad.tensors[static_cast<std::size_t>(good.find("O", Space::Hbm))].rows = 1 << 20;
    CHECK(contains(error_of([&] { io::trace_bytes(bad); }), "elements of a matrix from 1 to 4864, found 3145728"));
}

TEST_CASE("an expression that is too deep or too large is refused") {
    const Trace good = small_trace("fa2_forward");
    for (const Op op : {Op::Scale, Op::Add, Op::RowSum}) {
        Trace bad = good;
        Expr e{.op = Op::Fill, .rows = 2, .cols = 1};
        bad.exprs.push_back(e);
        for (int k = 0; k < 100; ++k) {
            const int last = static_cast<int>(bad.exprs.size()) - 1;
            bad.exprs.push_back({.op = op, .a = last, .b = op == Op::Add ? last : -1, .rows = 2, .cols = 1});
        }
        const std::string error = error_of([&] { io::trace_bytes(bad); });
        CHECK_MESSAGE(contains(error, op == Op::Scale ? "a tree at most 64 deep" : "a tree of at most 65536 terms"),
                      error);
    }
}
