// The cursor: what is shown at a step does not depend on how one came there.
#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>

#include "core/algorithms.h"
#include "lab/player.h"

using namespace flashstep;
using namespace flashstep;

namespace {

Problem small() {
    Problem p;
    p.n = 5, p.nk = 6, p.d = p.dv = 2;  // ragged on both sides
    return p;
}

Trace trace_of(const Algorithm& algorithm, const Problem& problem) {
    return record(algorithm, problem, make_inputs(problem));
}

// All that a panel can ask for at the cursor.
std::string shown(const Player& player) {
    const Trace& trace = player.trace();
    const int k = player.step();
    std::string text = std::to_string(player.position()) + ":" + std::to_string(trace.steps[k].line);
    for (int tile : trace.resident(k)) text += " " + std::to_string(trace.tile_at(tile, k));
    for (std::size_t t = 0; t < trace.tensors.size(); ++t) {
        if (trace.tensors[t].space != Space::Hbm) continue;
        const Trace::View view = trace.matrix_at(static_cast<int>(t), k, player.head());
        text += " " + std::to_string(view.written.count());
        for (Eigen::Index e = 0; e < view.values.size(); ++e)
            if (view.written.data()[e]) text += "," + std::to_string(view.values.data()[e]);
    }
    return text;
}

}  // namespace

TEST_CASE("random seeks show what walking line by line shows, for every algorithm") {
    for (const Algorithm& algorithm : algorithms()) {
        CAPTURE(algorithm.id);
        const Trace trace = trace_of(algorithm, small());
        Player walk(trace), jump(trace);
        std::map<int, std::string> seen;
        seen[0] = shown(walk);
        while (!walk.at_end()) {
            walk.forward(Unit::Line);
            seen[walk.step()] = shown(walk);
        }
        CHECK(seen.size() == static_cast<std::size_t>(walk.count() + 1));
        std::mt19937 random(1);
        bool same = true;
        for (int k = 0; k < 200; ++k) {
            const int step = static_cast<int>(random() % (static_cast<unsigned>(walk.last()) + 1));
            jump.seek(step);
            same = same && jump.step() == step && shown(jump) == seen[step];
        }
        CHECK(same);
    }
}

TEST_CASE("back undoes forward at every step, in lines, tiles and row blocks") {
    for (const Algorithm& algorithm : algorithms()) {
        CAPTURE(algorithm.id);
        const Trace trace = trace_of(algorithm, small());
        for (const Unit unit : {Unit::Line, Unit::Tile, Unit::Block}) {
            Player player(trace);
            std::vector<int> starts{0};
            while (!player.at_end()) {
                const int before = player.step();
                player.forward(unit);
                REQUIRE(player.step() > before);
                if (!player.at_end()) starts.push_back(player.step());
            }
            player.backward(unit);
            bool same = true;
            while (!starts.empty() && player.step() > 0) {
                while (!starts.empty() && starts.back() > player.step()) starts.pop_back();
                same = same && !starts.empty() && starts.back() == player.step();
                const int before = player.step();
                player.backward(unit);
                REQUIRE(player.step() < before);
            }
            CHECK(same);
            CHECK(player.step() == 0);
        }
    }
}

TEST_CASE("positions count a head's own steps from 1, and the inputs are 0") {
    Problem p = small();
    p.heads = 2, p.kv_heads = 1;
    const Trace trace = trace_of(*find_algorithm("fa2_forward"), p);
    Player player(trace, 1);
    CHECK(player.position() == 0);
    CHECK(player.step_at(1) == trace.head_range(1).first);
    player.end();
    CHECK(player.position() == player.count());
    CHECK(player.current().head == 1);
    player.set_head(0);
    CHECK(player.current().head == 0);
    CHECK(player.position() == player.count());
    player.seek(1 << 30);
    CHECK(player.at_end());
}

TEST_CASE("a tile's first step lies in that tile, and a tile that the mask skips has none") {
    Problem p;
    p.n = p.nk = 6, p.causal = true;
    const Trace trace = trace_of(*find_algorithm("fa2_forward"), p);
    const Player player(trace);
    for (int i = 0; i < p.row_blocks(); ++i) {
        for (int j = 0; j < p.col_blocks(); ++j) {
            const int step = player.first_step_of_tile(i, j);
            if (j >= p.visible_blocks(i)) {
                CHECK(step == -1);
                continue;
            }
            REQUIRE(step > 0);
            CHECK((trace.steps[step].i == i && trace.steps[step].j == j));
        }
    }
}

TEST_CASE("playing moves at its speed, stops at the end, and starts again from the inputs") {
    const Trace trace = trace_of(*find_algorithm("fa2_forward"), Problem());
    Player player(trace);
    player.set_speed(4);
    player.set_playing(true);
    for (int k = 0; k < 60; ++k) player.tick(1.0 / 60);
    CHECK(player.position() >= 3);
    CHECK(player.position() <= 4);
    for (int k = 0; k < 600 && player.playing(); ++k) player.tick(0.1);
    CHECK(player.at_end());
    CHECK_FALSE(player.playing());
    player.set_playing(true);
    CHECK(player.step() == 0);
}
