// Predicting: the values of the next line are not on the screen, an answer is judged, and the explanation follows it.
#include <doctest/doctest.h>
#include <imgui.h>

#include <algorithm>

#include "lab/format.h"
#include "tests/viz/drawn_text.h"
#include "tests/viz/stage.h"
#include "viz/panels/cells.h"
#include "viz/shell/predict.h"

using namespace flashstep;
using namespace flashstep::viz;
using flashstep::testing::Stage;

namespace {

StartState in_layout(const char* layout) {
    StartState start;
    start.layout = layout;
    return start;
}

double right_value(Stage& s) {
    const Prediction& p = prediction(s.app);
    return p.run->trace.value(p.run->trace.versions[p.version])(p.row, p.col);
}

bool on_screen(Stage& s, std::string_view word) {
    const ImDrawData* data = s.frame();
    return std::ranges::any_of(flashstep::testing::DrawnText(*ImGui::GetIO().Fonts).read(*data),
                               [&](const flashstep::testing::DrawnRun& run) { return run.text == word; });
}

}  // namespace

TEST_CASE("P rests before each line that computes, and shows it with its cell after the answer") {
    for (const char* layout : {"lesson", "workbench"}) {
        CAPTURE(layout);
        Stage s(in_layout(layout));
        s.press(Key::Home);
        s.press(Key::P);
        int asked = 0;
        for (; prediction(s.app).step >= 0 && asked < 100; ++asked) {
            const Prediction& p = prediction(s.app);
            REQUIRE(predicting(s.app));
            CHECK(s.app.player->step() == p.before);
            CHECK(p.before < p.step);
            CHECK_FALSE(s.app.selected);  // the explanation is not about what is asked
            const Trace& trace = s.app.run->trace;
            CHECK(trace.versions[p.version].step == p.step);
            CHECK(trace.tile_at(trace.versions[p.version].tensor, s.app.player->step()) != p.version);
            CHECK(std::ranges::is_sorted(p.options));
            s.frame();
            reveal_prediction(s.app);
            s.frame();
            CHECK(s.app.player->step() == p.step);
            REQUIRE(s.app.selected);
            CHECK(version_of(s.app, *s.app.selected).version == p.version);
            s.press(Key::P);
        }
        CHECK(asked == 16);  // lines 8, 9, 10 of four tiles, 12 and 13 of two row blocks
        CHECK(predicting(s.app));
        s.press(Key::Escape);
        CHECK_FALSE(predicting(s.app));
    }
}

TEST_CASE("a prediction is typed, picked or given up, and a wrong one says what it was") {
    Stage s(in_layout("lesson"));
    s.app.seek(step_at(s.app.run->trace, parse_place("line=8 i=1 j=2")));
    s.frame();
    s.press(Key::P);
    Prediction& p = prediction(s.app);
    REQUIRE(p.on);
    CHECK(p.run->trace.steps[p.step].line == 9);
    CHECK(p.options.size() >= 2);
    p.typed = "so";
    answer_prediction(s.app);
    CHECK(p.last == Answer::Unreadable);
    // What the cell holds now is wrong, and said to be that.
    const int old = s.app.run->trace.tile_at(s.app.run->trace.versions[p.version].tensor, p.before);
    REQUIRE(old >= 0);
    p.typed = exact_number(s.app.run->trace.value(s.app.run->trace.versions[old])(p.row, p.col));
    answer_prediction(s.app);
    CHECK(p.last == Answer::Wrong);
    CHECK(p.was_old);
    CHECK(on_screen(s, "now;"));
    CHECK(s.app.player->step() == p.before);
    for (const double option : std::vector<double>(p.options)) {
        if (std::string(short_number(option).text) == short_number(right_value(s)).text) continue;
        answer_prediction(s.app, option);
        CHECK(p.last == Answer::Wrong);
    }
    // Another tile and cell of the same line.
    const int other = p.versions.back();
    REQUIRE(other != p.version);
    ask_for(s.app, other, 1, 0);
    CHECK_FALSE(p.last);
    CHECK((p.version == other && p.row == 1));
    p.typed = exact_number(right_value(s));
    answer_prediction(s.app);
    CHECK(p.last == Answer::Right);
    CHECK(p.revealed);
    CHECK(s.app.player->step() == p.step);
    CHECK(s.app.selected == CellRef{s.app.run->trace.versions[other].tensor, 1, 0});
    CHECK(on_screen(s, "That"));
}

TEST_CASE("a hand on the cursor or another run asks anew, and one key ends it") {
    Stage s(in_layout("lesson"));
    s.press(Key::P);
    const int first = prediction(s.app).step;
    s.app.seek(first);
    s.frame();
    CHECK(prediction(s.app).step > first);
    s.app.session.set_cell(InputMatrix::K, 0, 0, 0, 2);
    s.settle();
    CHECK(prediction(s.app).run == s.app.run);
    for (const Algorithm& algorithm : algorithms()) {
        CAPTURE(algorithm.id);
        choose_algorithm(s.app, algorithm);
        s.settle();
        s.press(Key::Home);
        s.frame();
        CHECK(prediction(s.app).run == s.app.run);
    }
    s.press(Key::End);
    s.frame();
    CHECK(prediction(s.app).step == -1);
    s.press(Key::P);
    CHECK_FALSE(predicting(s.app));
    s.press(Key::P);
    CHECK(predicting(s.app));
}
