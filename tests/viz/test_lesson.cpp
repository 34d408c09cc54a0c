// A lesson in the window: Space walks through it, stepping by hand moves the mark, questions are answered, and what is
// shown is what the text is about, or said not to be.
#include <doctest/doctest.h>
#include <imgui.h>

#include <algorithm>

#include "lessons/evaluate.h"
#include "tests/viz/drawn_text.h"
#include "tests/viz/stage.h"
#include "viz/panels/panels.h"
#include "viz/shell/lesson_walk.h"

using namespace flashstep;
using namespace flashstep::viz;
using flashstep::testing::Stage;

namespace {

LessonWalk& walk_of(Stage& s) {
    LessonWalk* walk = lesson_walk(s.app);
    REQUIRE(walk);
    return *walk;
}

const Beat& marked(Stage& s) {
    LessonWalk& walk = walk_of(s);
    return walk.lesson.beats[static_cast<std::size_t>(walk.beat)];
}

// The index of the first beat for which `which` holds.
template <class Which>
int beat_where(const Lesson& lesson, Which which) {
    const auto found = std::ranges::find_if(lesson.beats, which);
    REQUIRE(found != lesson.beats.end());
    return static_cast<int>(found - lesson.beats.begin());
}

int question_of(const Lesson& lesson, QuestionKind kind) {
    return beat_where(lesson, [&](const Beat& b) { return b.question && b.question->kind == kind; });
}

void open_beat(Stage& s, int beat) {
    go_to_beat(s.app, beat);
    s.settle();
}

// Where a word stands in the next frame.
ImVec2 place_of(Stage& s, std::string_view word) {
    const ImDrawData* data = s.frame();
    for (const flashstep::testing::DrawnRun& run : flashstep::testing::DrawnText(*ImGui::GetIO().Fonts).read(*data))
        if (run.text == word) return {run.at.x + 4, run.at.y};
    FAIL("not on the screen: " << word);
    return {};
}

bool on_screen(Stage& s, std::string_view word) {
    const ImDrawData* data = s.frame();
    return std::ranges::any_of(flashstep::testing::DrawnText(*ImGui::GetIO().Fonts).read(*data),
                               [&](const flashstep::testing::DrawnRun& run) { return run.text == word; });
}

void click_word(Stage& s, std::string_view word) {
    const ImVec2 at = place_of(s, word);
    s.click(at.x, at.y);
}

StartState start_of(const Lesson& lesson, Language language = Language::English) {
    StartState start;
    start.lesson = lesson.id;
    start.preset = lesson.scenes.front().preset->id;
    start.language = language;
    return start;
}

}  // namespace

TEST_CASE("Space alone leads through every lesson, and each beat finds its run and its step") {
    for (const Lesson& lesson : lessons()) {
        CAPTURE(lesson.id);
        Stage s(start_of(lesson), 1280, 720);
        LessonWalk& walk = walk_of(s);
        CHECK(walk.beat == 0);
        for (int b = 0; b < static_cast<int>(lesson.beats.size()); ++b) {
            CAPTURE(b);
            CHECK(walk.beat == b);
            CHECK(walk.reached == b);
            CHECK(shows_beat(s.app));
            const Place& at = marked(s).at;
            CHECK(s.app.run->recipe.fault == lesson.find_scene(at.scene)->recipe.fault);
            CHECK(s.app.player->step() == step_at(s.app.run->trace, at));
            CHECK(s.app.selected.has_value() == marked(s).explain.has_value());
            s.press(Key::Space);
            s.settle();
        }
        CHECK(walk.beat + 1 == static_cast<int>(lesson.beats.size()));  // Space at the end changes nothing
        CHECK(!s.app.player->playing());
    }
}

TEST_CASE("a lesson's beats name panels that there are") {
    for (const Lesson& lesson : lessons())
        for (const Beat& beat : lesson.beats)
            for (const std::string& id : beat.panels) CHECK_MESSAGE(find_panel(id), id);
}

TEST_CASE("stepping by hand moves the mark to the beat of that step") {
    Stage s(start_of(*find_lesson("fa2_forward")));
    LessonWalk& walk = walk_of(s);
    const auto step = [&](const char* place) { return step_at(s.app.run->trace, parse_place(place)); };
    s.app.seek(step("line=10 i=1 j=1"));
    s.frame();
    CHECK(place_text(marked(s).at) == "line=10 i=1 j=1");
    s.press(Key::Right);  // the loop's line, before the next beat's place
    CHECK(place_text(marked(s).at) == "line=10 i=1 j=1");
    s.press(Key::Right), s.press(Key::Right);
    CHECK(place_text(marked(s).at) == "line=8 i=1 j=2");
    s.press(Key::Home);
    CHECK(place_text(marked(s).at) == "start");
    CHECK(walk.beat == 1);            // of the two beats there the nearer one
    CHECK(walk.reached > walk.beat);  // what was read stays
    s.press(Key::Space);
    CHECK(walk.beat == 2);
}

TEST_CASE("with motion the cursor runs to the next beat line by line, and Space again is there at once") {
    Stage s(start_of(*find_lesson("fa2_forward")));
    LessonWalk& walk = walk_of(s);
    open_beat(s, beat_where(walk.lesson, [](const Beat& b) { return place_text(b.at) == "line=8 i=1 j=1"; }) - 1);
    s.app.ui.reduce_motion = false;
    const int from = s.app.player->step();
    s.press(Key::Space);
    CHECK(walk.travel_to > from + 1);
    CHECK(s.app.player->step() == from);
    for (int k = 0; k < 60; ++k) s.frame();
    CHECK(s.app.player->step() > from);
    CHECK(s.app.player->step() < walk.travel_to);
    const int to = walk.travel_to, beat = walk.beat;
    s.press(Key::Space);
    CHECK(s.app.player->step() == to);
    CHECK(walk.beat == beat);
    CHECK(walk.travel_to == -1);
    s.press(Key::Space);
    CHECK(walk.beat == beat + 1);
    // A hand on the cursor ends the way.
    s.app.ui.reduce_motion = true;
    open_beat(s, beat - 1);
    s.app.ui.reduce_motion = false;
    s.press(Key::Space);
    REQUIRE(walk.travel_to >= 0);
    s.press(Key::Left);
    CHECK(walk.travel_to == -1);
}

TEST_CASE("a typed answer is judged, and wrong ones get their replies") {
    Stage s(start_of(*find_lesson("fa2_forward")));
    LessonWalk& walk = walk_of(s);
    const int beat = question_of(walk.lesson, QuestionKind::Value);
    open_beat(s, beat);
    BeatProgress& progress = walk.progress[static_cast<std::size_t>(beat)];
    const Question& question = *walk.lesson.beats[static_cast<std::size_t>(beat)].question;
    const auto answer = [&](const std::string& text) {
        const ImVec2 at = place_of(s, "Check");
        s.click(at.x - 60, at.y);
        progress.typed.clear();
        s.press(Key::A, {.ctrl = true, .shift = false, .alt = false});
        s.type(text.c_str());
        s.press(Key::Enter);
    };
    answer("hm");
    REQUIRE(progress.last);
    CHECK(progress.last->answer == Answer::Unreadable);
    answer(number_text(evaluate(question.wrong[0].answer, walk.scenes), {}, Within::Text));
    CHECK(progress.last->reply == &question.wrong[0].reply);
    CHECK(!progress.done);
    answer(number_text(evaluate(question.answer, walk.scenes), {}, Within::Text));
    CHECK(progress.last->reply == &question.right);
    CHECK(progress.done);
    CHECK(walk.beat == beat);
}

TEST_CASE("an option is chosen by a click, and a wrong one says why it tempts") {
    Stage s(start_of(*find_lesson("fa2_forward")), 1920, 1080);
    LessonWalk& walk = walk_of(s);
    const int beat = question_of(walk.lesson, QuestionKind::Choice);
    open_beat(s, beat);
    BeatProgress& progress = walk.progress[static_cast<std::size_t>(beat)];
    const Question& question = *walk.lesson.beats[static_cast<std::size_t>(beat)].question;
    click_word(s, "neither");
    REQUIRE(progress.last);
    CHECK(progress.last->reply == &question.options[3].reply);
    CHECK(on_screen(s, "Not"));
    const std::size_t right = right_options(question, walk.scenes).at(0);
    CHECK(!progress.done);
    click_word(s, "both");
    CHECK(on_screen(s, "Show"));  // after two wrong answers the right one can be asked for
    const ImVec2 both = place_of(s, "both"), neither = place_of(s, "neither");
    s.click(both.x, both.y - (static_cast<float>(2 - right)) * (neither.y - both.y));
    CHECK(progress.chosen == right);
    CHECK(progress.done);
    CHECK(progress.last->reply == &question.right);
}

TEST_CASE("a cell that is clicked in the memory view answers the question about it") {
    Stage s(start_of(*find_lesson("fa2_forward")));
    LessonWalk& walk = walk_of(s);
    const int beat = question_of(walk.lesson, QuestionKind::Cell);
    open_beat(s, beat);
    BeatProgress& progress = walk.progress[static_cast<std::size_t>(beat)];
    const Question& question = *walk.lesson.beats[static_cast<std::size_t>(beat)].question;
    CHECK(!progress.last);
    const int tensor = s.app.run->trace.find(question.tensor, Space::Sram);
    const CellName right = right_cells(question, walk.scenes).at(0);
    s.app.selected = CellRef{tensor, 1 - right.row, right.col};
    s.frame();
    REQUIRE(progress.last);
    CHECK(progress.last->answer == Answer::Wrong);
    s.app.selected = CellRef{tensor, right.row, right.col};
    s.frame();
    CHECK(progress.done);
}

TEST_CASE("an experiment is seen to be done when its goal is reached, and undone numbers are offered back") {
    Stage s(start_of(*find_lesson("fa2_forward")));
    LessonWalk& walk = walk_of(s);
    const int beat = beat_where(walk.lesson, [](const Beat& b) { return b.try_it.has_value(); });
    open_beat(s, beat);
    BeatProgress& progress = walk.progress[static_cast<std::size_t>(beat)];
    CHECK(!progress.done);
    s.app.session.set_cell(InputMatrix::K, 0, 3, 2, 0);  // changes nothing that the goal asks for
    s.settle();
    CHECK(!progress.done);
    s.app.session.set_cell(InputMatrix::K, 0, 2, 0, 2);
    s.settle();
    CHECK(progress.done);
    CHECK(walk.beat == beat);
    CHECK(!shows_beat(s.app));
    click_word(s, "Back");
    s.settle();
    CHECK(shows_beat(s.app));
    CHECK(s.app.run->recipe.inputs.K[0](2, 0) == 0);
}

TEST_CASE("a banner says that something else is shown, and its button brings the lesson's run back") {
    Stage s(start_of(*find_lesson("fa2_forward")));
    LessonWalk& walk = walk_of(s);
    open_beat(s, 4);
    const int step = s.app.player->step();
    CHECK(!on_screen(s, "Back"));
    Problem causal = s.problem();
    causal.causal = true;
    s.app.session.resize(causal);
    s.settle();
    CHECK(!shows_beat(s.app));
    CHECK(walk.beat == 4);
    s.press(Key::Right);  // the mark stays: this is another walk
    CHECK(walk.beat == 4);
    click_word(s, "Back");
    s.settle();
    CHECK(shows_beat(s.app));
    CHECK(!s.problem().causal);
    CHECK(s.app.player->step() == step);
    CHECK(!on_screen(s, "Back"));
    // Another kernel is no other experiment.
    choose_kernel(s.app, "");
    s.settle();
    CHECK(shows_beat(s.app));
}

TEST_CASE("a link to an experiment opens it and leaves the lesson open") {
    Stage s(start_of(*find_lesson("fa2_forward")));
    CHECK(follow_link(s.app, "preset=n64"));
    s.settle();
    CHECK(s.problem().n == 64);
    CHECK(s.app.lesson);
    CHECK(!shows_beat(s.app));
    s.press(Key::Space);
    s.settle();
    CHECK(shows_beat(s.app));
}

TEST_CASE("what was read and answered in a lesson is kept while another thing is looked at") {
    Stage s(start_of(*find_lesson("fa2_forward")));
    open_beat(s, 5);
    walk_of(s).progress[5].tries = 3;
    s.app.open_preset(*find_preset("n64"));
    s.settle();
    CHECK(!s.app.lesson);
    CHECK(!lesson_walk(s.app));
    s.press(Key::Space);  // plays again
    CHECK(s.app.player->playing());
    s.app.open_lesson(*find_lesson("fa2_forward"));
    s.settle();
    CHECK(walk_of(s).beat == 5);
    CHECK(walk_of(s).progress[5].tries == 3);
    CHECK(shows_beat(s.app));
}

TEST_CASE("a beat lights the tensors of its focus, and all others are dimmed until the cursor moves on") {
    Stage s(start_of(*find_lesson("fa2_forward")));
    const auto tensor = [&](const char* name, Space space) -> const Tensor& {
        return s.app.run->trace.tensors[s.app.run->trace.find(name, space)];
    };
    open_beat(s, beat_where(walk_of(s).lesson, [](const Beat& b) { return place_text(b.at) == "line=9 i=1 j=1"; }));
    CHECK(in_focus(s.app, tensor("m_i", Space::Sram)));
    CHECK(!in_focus(s.app, tensor("V_j", Space::Sram)));
    CHECK(in_focus(s.app, tensor("V", Space::Hbm)));  // the beat speaks of nothing in HBM
    s.press(Key::Right);
    s.press(Key::Right);
    CHECK(in_focus(s.app, tensor("m_i", Space::Sram)));
    CHECK(in_focus(s.app, tensor("V_j", Space::Sram)));
}
