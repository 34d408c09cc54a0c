// Look-ups in traces: values, residency and bytes at any step, heads, and the golden traces.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/algorithms.h"
#include "lab/presets.h"

using namespace flashstep;

namespace {

Trace n4d3(std::string_view algorithm) {
    const Preset& preset = *find_preset("n4d3");
    return record(*find_algorithm(algorithm), preset.problem, preset.inputs(preset.problem));
}

std::string number(double value) {
    if (value == 0) value = 0;  // no negative zero
    return std::isinf(value) ? (value > 0 ? "inf" : "-inf") : fmt::format("{:.6g}", value);
}

// A trace as text: a line per step, then what it moved, read and wrote.
std::string text_of(const Trace& trace) {
    std::string text = fmt::format("{}, {} steps\n", trace.algorithm, trace.last_step());
    for (int s = 0; s <= trace.last_step(); ++s) {
        const Step& step = trace.steps[s];
        text += fmt::format("step {} line {} i {} j {} sram {} hbm read {} write {}\n", s, step.line, step.i + 1,
                            step.j + 1, step.sram_bytes, step.total.hbm_read, step.total.hbm_write);
        if (step.w >= 0) text += fmt::format("  warp {}\n", step.w + 1);
        if (step.total.barriers > 0) text += fmt::format("  barriers {}\n", step.total.barriers);
        for (int t = step.touch_begin; t < step.touch_end; ++t) {
            const Touch& touch = trace.touches[t];
            constexpr const char* kKinds[] = {"load", "store", "init", "read", "write"};
            text += fmt::format("  {} {}", kKinds[static_cast<int>(touch.kind)], trace.tensors[touch.tensor].name);
            if (touch.kind <= TouchKind::Init) text += fmt::format(" block {}", touch.block + 1);
            text += fmt::format(" {} bytes\n", touch.bytes);
        }
        for (int v = step.version_begin; v < step.version_end; ++v) {
            const Version& version = trace.versions[v];
            if (trace.tensors[version.tensor].block_cols == 1 && s == 0)
                continue;  // element blocks: as many lines as scores
            text += fmt::format("  {} =", trace.tensors[version.tensor].name);
            const auto values = trace.value(version);
            for (int r = 0; r < version.rows; ++r) {
                text += r ? ";" : "";
                for (int c = 0; c < version.cols; ++c) text += " " + number(values(r, c));
            }
            text += "\n";
        }
    }
    return text;
}

}  // namespace

TEST_CASE("golden traces: every algorithm at n4d3 is what it was") {
    for (const Algorithm& algorithm : algorithms()) {
        const std::string path = fmt::format("{}/tests/golden/{}_n4d3.txt", FLASHSTEP_SOURCE_DIR, algorithm.id);
        const std::string now = text_of(n4d3(algorithm.id));
        if (std::getenv("FLASHSTEP_WRITE_GOLDEN")) std::ofstream(path) << now;
        std::ifstream file(path);
        std::stringstream golden;
        golden << file.rdbuf();
        CHECK_MESSAGE(golden.str() == now, "differs from " << path << "; FLASHSTEP_WRITE_GOLDEN=1 writes it again");
    }
}

TEST_CASE("the state at any step is the last write at or before it, for tiles and matrices") {
    for (const Algorithm& algorithm : algorithms()) {
        const Trace trace = n4d3(algorithm.id);
        // Replays the versions in order and compares with the look-up at every step.
        std::map<std::tuple<int, int>, int> latest;  // (tensor, block) of the one head
        std::size_t v = 0;
        for (int s = 0; s <= trace.last_step(); ++s) {
            for (; v < trace.versions.size() && trace.versions[v].step <= s; ++v) {
                const Version& version = trace.versions[v];
                if (version.block < 0)
                    for (int b = 0; b < trace.tensors[version.tensor].blocks(); ++b)
                        latest[{version.tensor, b}] = static_cast<int>(v);
                latest[{version.tensor, version.block}] = static_cast<int>(v);
            }
            for (const auto& [key, version] : latest)
                CHECK(trace.version_at(std::get<0>(key), s, 0, std::get<1>(key)) == version);
        }
    }
}

TEST_CASE("a tile is on chip from its first write to the last step of its scope, and nothing else is") {
    const Trace trace = n4d3("fa2_forward");
    const int Q_i = trace.find("Q_i", Space::Sram), S_ij = trace.find("S_ij", Space::Sram);
    for (int s = 0; s <= trace.last_step(); ++s) {
        const Step& step = trace.steps[s];
        CHECK((trace.tile_at(Q_i, s) >= 0) == (step.line >= 4));
        CHECK((trace.tile_at(S_ij, s) >= 0) == (step.line >= 8 && step.line <= 10));
        std::int64_t bytes = 0;
        for (int tile : trace.resident(s)) {
            const Version& version = trace.versions[trace.tile_at(tile, s)];
            bytes += 4LL * version.rows * version.cols;
        }
        CHECK(bytes == step.sram_bytes);
        CHECK(step.sram_bytes <= trace.sram_peak);
    }
}

TEST_CASE("HBM bytes of a matrix at a step are the sum of its moves up to it") {
    for (const Algorithm& algorithm : algorithms()) {
        const Trace trace = n4d3(algorithm.id);
        std::map<int, HbmBytes> sums;
        for (int s = 0; s <= trace.last_step(); ++s) {
            for (int t = trace.steps[s].touch_begin; t < trace.steps[s].touch_end; ++t) {
                const Touch& touch = trace.touches[t];
                if (touch.kind == TouchKind::Load) sums[touch.tensor].read += touch.bytes;
                if (touch.kind == TouchKind::Store || touch.kind == TouchKind::Init)
                    sums[touch.tensor].write += touch.bytes;
                if (touch.kind == TouchKind::Init) sums[touch.tensor].init += touch.bytes;
            }
            std::int64_t read = 0;
            for (const auto& [tensor, bytes] : sums) {
                CHECK(trace.hbm_bytes(tensor, s) == bytes);
                read += bytes.read;
            }
            CHECK(read == trace.steps[s].total.hbm_read);
        }
    }
}

TEST_CASE("heads follow each other, and a grouped head reads its group's K and V") {
    Problem p;
    p.batch = 2, p.heads = 4, p.kv_heads = 2;
    const Inputs in = make_inputs(p);
    const Trace trace = record(*find_algorithm("fa2_forward"), p, in);
    int last = 0;
    for (int head = 0; head < 8; ++head) {
        const auto [first, end] = trace.head_range(head);
        CHECK(first == last + 1);
        last = end;
        const int expected = head / 4 * 2 + head % 4 / 2;
        CHECK(p.kv_index(head) == expected);
        CHECK(trace.matrix_at(trace.find("K", Space::Hbm), end, head).values == in.K[expected]);
        CHECK(trace.matrix_at(trace.find("Q", Space::Hbm), end, head).values == in.Q[head]);
    }
    CHECK(last == trace.last_step());
    // O of the second head is not written while the first one runs.
    CHECK(!trace.matrix_at(trace.find("O", Space::Hbm), trace.head_range(0).second, 1).written.any());
}

TEST_CASE("memory is what is allocated: K and V by kv head, S and P only in standard attention") {
    Problem p;
    p.n = 8, p.nk = 16, p.d = 4, p.dv = 2, p.batch = 2, p.heads = 4, p.kv_heads = 2;
    const Memory fa2 = count(*find_algorithm("fa2_forward"), p).memory;
    const Memory standard = count(*find_algorithm("standard_attention"), p).memory;
    CHECK(fa2.inputs == 4 * (8 * 8 * 4 + 4 * 16 * (4 + 2)));
    CHECK(fa2.outputs == 4 * 8 * 8 * 2);
    CHECK(fa2.extra == 4 * 8 * 8);
    CHECK(standard.inputs == fa2.inputs);
    CHECK(standard.extra == 4 * 2 * 8 * 8 * 16);
}

TEST_CASE("what a tensor is follows from its kind, not from its name") {
    Problem p;
    p.dtype = DType::Fp16;
    Machine machine(Mode::Count, p);
    At at{machine};
    at(1);
    {
        Sram lse{machine, "lse", TensorKind::LogSum}, m1{machine, "m1", TensorKind::Operand};
        lse = zeros(machine, {3, 1});
        CHECK(machine.totals().traffic.sram_write == 3 * 4);
        m1 = zeros(machine, {3, 1});
        CHECK(machine.totals().traffic.sram_write == 3 * 4 + 3 * 2);
    }
    for (const TensorKind kind :
         {TensorKind::Operand, TensorKind::Weights, TensorKind::Sum, TensorKind::RowDot, TensorKind::Gradient})
        CHECK_FALSE(may_be_hidden(kind));
}

TEST_CASE("every algorithm says what its tensors are as the papers' names do") {
    const auto expected = [](const std::string& name) {
        const std::string stem = name.substr(0, name.find('_'));
        if (stem.size() > 1 && stem[0] == 'd') return TensorKind::Gradient;
        if (stem == "S" || stem == "X" || stem == "x") return TensorKind::Scores;
        if (stem == "P" || stem == "p") return TensorKind::Weights;
        if (stem == "m" || stem == "max") return TensorKind::Maximum;
        if (stem == "l") return TensorKind::Sum;
        if (stem == "L") return TensorKind::LogSum;
        if (stem == "D") return TensorKind::RowDot;
        return stem == "M" ? TensorKind::Mask : TensorKind::Operand;
    };
    for (const Algorithm& algorithm : algorithms())
        for (const Tensor& tensor : record(algorithm, Problem{}, make_inputs(Problem{})).tensors) {
            CAPTURE(algorithm.id);
            CAPTURE(tensor.name);
            CHECK(tensor.kind == expected(tensor.name));
        }
}
