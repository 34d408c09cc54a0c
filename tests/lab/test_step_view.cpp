// What happens in a step, against the counters and the trace it is read from.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/algorithms.h"
#include "lab/player.h"
#include "lab/presets.h"
#include "lab/run.h"
#include "lab/step_view.h"

using namespace flashstep;

namespace {

using Kind = Change::Kind;

Trace trace_of(const char* preset, std::string_view algorithm = {}) {
    return make_run(recipe_of(*find_preset(preset), {.algorithm = algorithm, .kernel = "none"}), nullptr,
                    Parts::Verdict)
        .trace;
}

// Every algorithm, on two heads with a mask and ragged blocks.
std::vector<Trace> all_traces() {
    Problem p;
    p.n = 5, p.nk = 7, p.d = 3, p.dv = 2, p.heads = 2, p.kv_heads = 1, p.causal = true, p.mask = MaskShape::Scores;
    std::vector<Trace> traces;
    for (const Algorithm& algorithm : algorithms()) traces.push_back(record(algorithm, p, make_inputs(p)));
    return traces;
}

int step_of(const Trace& trace, int line, int i, int j) {
    for (int s = 1; s <= trace.last_step(); ++s) {
        const Step& step = trace.steps[s];
        if (step.line == line && step.i == i && step.j == j) return s;
    }
    FAIL("there is no such step");
    return 0;
}

std::string name_in(const Trace& trace, int tensor) { return tensor < 0 ? "" : trace.tensors[tensor].name; }

// "load Q -> Q_i", "store O <- O_i", "init O", "write S_ij"
std::vector<std::string> words_of(const Trace& trace, const StepView& view) {
    std::vector<std::string> words;
    for (const Change& c : view.changes) {
        const std::string matrix = name_in(trace, c.matrix), tile = name_in(trace, c.tile);
        words.push_back(c.kind == Kind::Load    ? "load " + matrix + " -> " + tile
                        : c.kind == Kind::Store ? "store " + matrix + " <- " + tile
                        : c.kind == Kind::Init  ? "init " + matrix
                                                : "write " + tile);
    }
    return words;
}

std::vector<std::string> names(const Trace& trace, const std::vector<int>& tiles) {
    std::vector<std::string> all;
    for (const int tile : tiles) all.push_back(name_in(trace, tile));
    return all;
}

}  // namespace

TEST_CASE("the steps of the first walk do what the paper's lines say, in their order") {
    const Trace trace = trace_of("n4d3");
    using Words = std::vector<std::string>;
    const auto changes = [&](int line, int i, int j) {
        return words_of(trace, view_of(trace, step_of(trace, line, i, j)));
    };
    CHECK(changes(4, 0, -1) == Words{"load Q -> Q_i"});
    CHECK(changes(7, 0, 1) == Words{"load K -> K_j", "load V -> V_j"});
    CHECK(changes(8, 1, 0) == Words{"write S_ij"});
    // Line 9 keeps the old maximum, then assigns m, P and l.
    const StepView nine = view_of(trace, step_of(trace, 9, 0, 1));
    const Words all = words_of(trace, nine);
    CHECK(all == Words{"write m_old", "write m_i", "write P_ij", "write l_i"});
    for (const Change& change : nine.changes) {
        CHECK(trace.versions[change.version].tensor == change.tile);
        CHECK_FALSE(change.operands.empty());
    }
    CHECK(nine.write_of(trace.find("m_i", Space::Sram)) == &nine.changes[1]);
    CHECK(nine.write_of(trace.find("Q_i", Space::Sram)) == nullptr);
    CHECK(nine.reads_tile(trace.find("S_ij", Space::Sram)));
    CHECK_FALSE(nine.reads_tile(trace.find("K_j", Space::Sram)));
    CHECK(nine.loaded == 0);
    // P_ij is made of S_ij and the maximum that the same line has just assigned.
    std::set<int> read(nine.changes[2].operands.begin(), nine.changes[2].operands.end());
    CHECK(read.contains(nine.changes[1].version));

    const StepView load = view_of(trace, step_of(trace, 4, 1, -1));
    REQUIRE(load.move_of(trace.find("Q", Space::Hbm)));
    CHECK(load.move_of(trace.find("Q", Space::Hbm))->block == 1);
    CHECK(load.loaded == 2 * 3 * 4);
    CHECK(load.stored == 0);
    CHECK(view_of(trace, 0).changes.empty());
}

TEST_CASE("a tile is freed in the last step it is on chip, and in no other") {
    const Trace trace = trace_of("n4d3");
    for (int s = 1; s <= trace.last_step(); ++s) {
        const StepView view = view_of(trace, s);
        CHECK(view.resident == trace.resident(s));
        for (std::size_t t = 0; t < trace.tensors.size(); ++t) {
            const int tile = static_cast<int>(t);
            if (trace.tensors[t].space != Space::Sram) continue;
            const auto& lives = trace.lifetimes[t];
            const bool ends = std::ranges::find(lives, s, &Trace::Lifetime::last) != lives.end();
            CHECK((std::ranges::find(view.freed, tile) != view.freed.end()) == ends);
        }
    }
    const int last_key_block = step_of(trace, 10, 0, 1);
    const std::vector<std::string> freed = names(trace, view_of(trace, last_key_block).freed);
    CHECK(std::ranges::find(freed, "S_ij") != freed.end());
    CHECK(std::ranges::find(freed, "O_i") == freed.end());
}

TEST_CASE("in every algorithm the bytes of the steps add up, and every written version is one change") {
    for (const Trace& trace : all_traces()) {
        CAPTURE(trace.algorithm);
        std::int64_t loaded = 0, stored = 0, sram_read = 0, sram_written = 0;
        for (int s = 1; s <= trace.last_step(); ++s) {
            const StepView view = view_of(trace, s);
            const Step& step = trace.steps[s];
            std::vector<int> written;
            for (const Change& c : view.changes) {
                if (c.matrix >= 0) CHECK(trace.tensors[c.matrix].space == Space::Hbm);
                if (c.tile >= 0) CHECK(trace.tensors[c.tile].space == Space::Sram);
                CHECK((c.kind == Kind::Write) == (c.matrix < 0));
                if (c.kind == Kind::Write) sram_written += c.bytes;
                if (c.version >= step.version_begin && c.version < step.version_end) written.push_back(c.version);
                for (const int operand : c.operands) CHECK(operand < c.version);
            }
            CHECK(std::ranges::is_sorted(written));
            CHECK(std::ranges::adjacent_find(written) == written.end());
            CHECK(static_cast<int>(written.size()) == step.version_end - step.version_begin);
            for (const Operand& read : view.reads) sram_read += read.bytes;
            loaded += view.loaded, stored += view.stored;
        }
        const Traffic& total = trace.steps.back().total;
        CHECK(loaded == total.hbm_read);
        CHECK(stored == total.hbm_write);
        CHECK(sram_read == total.sram_read);
        CHECK(sram_written <= total.sram_write);  // loads write their tiles too
    }
}

TEST_CASE("a player keeps the view of its step") {
    const Trace trace = trace_of("n64");
    Player player(trace);
    player.seek(20);
    const StepView* first = &player.view();
    CHECK(first->step == 20);
    CHECK(&player.view() == first);
    player.forward(Unit::Tile);
    CHECK(player.view().step == player.step());
    CHECK(words_of(trace, player.view()) == words_of(trace, view_of(trace, player.step())));
}
