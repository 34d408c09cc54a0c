// The lesson layout: what a beat is about is seen in it, the text scrolls to the mark, panels are called in and go, the
// shelf, the hints, and any keys in any order.
#include <doctest/doctest.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <random>

#include "tests/viz/drawn_text.h"
#include "tests/viz/stage.h"
#include "viz/panels/lesson_text.h"
#include "viz/panels/memory.h"
#include "viz/panels/tour.h"

using namespace flashstep;
using namespace flashstep::viz;
using flashstep::testing::Stage;

namespace {

StartState start_of(const Lesson& lesson, Language language = Language::English) {
    StartState start;
    start.lesson = lesson.id;
    start.layout = "lesson";
    start.language = language;
    return start;
}

LessonWalk& walk_of(Stage& s) { return *lesson_walk(s.app); }

std::vector<flashstep::testing::DrawnRun> runs_of(Stage& s) {
    const ImDrawData* data = s.frame();
    return flashstep::testing::DrawnText(*ImGui::GetIO().Fonts).read(*data);
}

bool on_screen(Stage& s, std::string_view word) {
    return std::ranges::any_of(runs_of(s), [&](const auto& run) { return run.text == word; });
}

void click_word(Stage& s, std::string_view word) {
    const auto runs = runs_of(s);
    const auto found = std::ranges::find_if(runs, [&](const auto& run) { return run.text == word; });
    REQUIRE_MESSAGE(found != runs.end(), word);
    s.click(found->at.x + 2, found->at.y);
}

// The child window that holds the lesson's text.
const ImGuiWindow& text_window() {
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
        if (std::string_view(window->Name).find("/text_") != std::string_view::npos && window->WasActive)
            return *window;
    throw std::runtime_error("the lesson's text is not there");
}

// Where an item's cells end, of those that are looked at; empty: all are inside.
std::string out_of_sight(Stage& s, const std::vector<std::string>& focus) {
    const Trace& trace = s.app.run->trace;
    const MemoryState& memory = run_state<MemoryState>(s.app);
    std::string found;
    for (const std::string& name : focus)
        for (const std::vector<MemoryItem>* items : {&memory.layout.shelf, &memory.layout.bench})
            for (const MemoryItem& item : *items) {
                if (trace.tensors[static_cast<std::size_t>(item.tensor)].name != name) continue;
                const ImVec2 end = item.grid_end();
                if (end.x > memory.space.x + 1 || end.y > memory.space.y + 1) found += name + " ";
            }
    return found;
}

}  // namespace

TEST_CASE("what each beat looks at is seen in the lesson layout at 1280 x 720 without scrolling") {
    for (const Lesson& lesson : lessons()) {
        Stage s(start_of(lesson));
        for (std::size_t b = 0; b < lesson.beats.size(); ++b) {
            CAPTURE(lesson.id);
            CAPTURE(b);
            go_to_beat(s.app, static_cast<int>(b));
            s.settle();
            CHECK(out_of_sight(s, lesson.beats[b].focus) == "");
        }
    }
    // A view that is too small for it is found.
    Stage s(start_of(*find_lesson("fa2_forward")), 960, 600);
    s.app.open_preset(*find_preset("n64"));
    s.settle();
    run_state<MemoryState>(s.app).space = {100, 100};
    CHECK(out_of_sight(s, {"O"}) == "O ");
}

TEST_CASE("the text scrolls both ways so that the marked beat is seen, whether by keys, scrubbing or a link") {
    Stage s(start_of(*find_lesson("fa2_forward")));
    LessonWalk& walk = walk_of(s);
    for (int k = 0; k < 12; ++k) s.press(Key::Space), s.settle();
    const auto settled_scroll = [&] {
        for (int k = 0; k < 12; ++k) s.frame();
        return text_window().Scroll.y;
    };
    const float down = settled_scroll();
    CHECK(down > 300);
    s.press(Key::Home);
    const float up = settled_scroll();
    CHECK(up < down - 200);
    const auto step = [&](const char* place) { return step_at(s.app.run->trace, parse_place(place)); };
    s.app.seek(step("line=10 i=1 j=1"));
    const float middle = settled_scroll();
    CHECK((middle > up && middle < down));
    s.press(Key::Backspace);
    const float back = settled_scroll();
    CHECK((back > up && back < middle));
    // With motion it takes some frames, and the loop is told to go on.
    s.app.ui.reduce_motion = false;
    go_to_beat(s.app, walk.beat - 2);
    s.frame(), s.frame(), s.frame();
    CHECK(walk.scrolling);
    CHECK(text_window().Scroll.y > 0);
    for (int k = 0; k < 40; ++k) s.frame();
    CHECK_FALSE(walk.scrolling);
}

TEST_CASE("panels that a beat names stand beside the memory view while it is marked, and go again") {
    const Lesson& lesson = *find_lesson("fa2_forward");
    Stage s(start_of(lesson));
    const float alone = run_state<MemoryState>(s.app).space.x;
    const auto calls = [](const Beat& beat) { return !beat.panels.empty(); };
    const auto with = std::ranges::find_if(lesson.beats, calls);
    REQUIRE(with != lesson.beats.end());
    go_to_beat(s.app, static_cast<int>(with - lesson.beats.begin()));
    s.settle();
    CHECK(on_screen(s, "Traffic"));
    CHECK(run_state<MemoryState>(s.app).space.x < alone - 200);
    s.press(Key::Backspace);
    s.settle();
    CHECK_FALSE(on_screen(s, "Traffic"));
    CHECK(run_state<MemoryState>(s.app).space.x == alone);
}

TEST_CASE("a link into another scene opens it first, and the banner names what differs") {
    Stage s(start_of(*find_lesson("fa2_forward")));
    go_to_beat(s.app, 4);
    s.settle();
    CHECK(follow_link(s.app, "scene=wrong line=10 i=1 j=2 cell=O_i[2,1]"));
    s.settle();
    CHECK(s.app.run->recipe.fault == "no-rescale");
    CHECK(s.app.player->step() == step_at(s.app.run->trace, parse_place("line=10 i=1 j=2")));
    CHECK(walk_of(s).marked().at.scene == "wrong");
    choose_fault(s.app, nullptr);
    s.settle();
    CHECK(on_screen(s, "mistake"));  // "without a mistake": the text is about one
    // Another head is another walk.
    go_to_beat(s.app, 4);
    s.settle();
    Problem two = s.problem();
    two.heads = two.kv_heads = 2;
    s.app.session.resize(two);
    s.settle();
    CHECK_FALSE(shows_beat(s.app));
}

TEST_CASE("the last beat has the run in one line, what is open, and the way to other lessons") {
    const Lesson& lesson = lessons().back();
    Stage s(start_of(lesson));
    go_to_beat(s.app, static_cast<int>(lesson.beats.size()) - 1);
    s.settle();
    for (int k = 0; k < 12; ++k) s.frame();
    click_word(s, "lessons");
    CHECK(s.app.shelf_open);
    s.press(Key::Escape);
    s.frame();
    for (int b = 0; b < static_cast<int>(lesson.beats.size()); ++b)
        walk_of(s).progress[static_cast<std::size_t>(b)].done = true;
    CHECK_FALSE(on_screen(s, "still"));
}

TEST_CASE("S opens the shelf, keys and clicks open what is on it, and progress can be forgotten") {
    Stage s(start_of(lessons().front()), 1280, 720);
    s.press(Key::S);
    CHECK(s.app.shelf_open);
    s.frame();
    const auto count = static_cast<int>(lessons().size());
    for (int k = 0; k < count + 2; ++k) s.press(Key::Down);  // beyond the lessons: your own tensors, the first problem
    s.press(Key::Enter);
    s.settle();
    CHECK_FALSE(s.app.shelf_open);
    CHECK(s.app.lesson == nullptr);
    CHECK(frame_state(s.app).layout->id == "workbench");
    CHECK(s.app.preset == &presets().front());
    s.press(Key::S);
    s.frame();
    s.press(Key::Down), s.press(Key::Enter);
    s.settle();
    CHECK(s.app.lesson == &lessons().front());
    CHECK(frame_state(s.app).layout->id == "lesson");
    for (int k = 0; k < 3; ++k) s.press(Key::Space), s.settle();
    CHECK(walk_of(s).reached == 3);
    s.press(Key::S);
    s.frame();
    click_word(s, "Forget");
    CHECK(walk_of(s).reached == 3);  // asked first
    click_word(s, "Forget");
    CHECK(walk_of(s).reached == 0);
    s.press(Key::Escape);
    CHECK_FALSE(s.app.shelf_open);
    // Your own tensors: the inputs, at the workbench.
    s.press(Key::S);
    s.frame();
    for (int k = 0; k < count + 1; ++k) s.press(Key::Down);
    s.press(Key::Enter);
    CHECK(s.app.inputs_open);
    CHECK(frame_state(s.app).layout->id == "workbench");
}

TEST_CASE("each hint goes when what it asks for is done, or by its button, or all by Esc") {
    Stage s(start_of(*find_lesson("fa2_forward")));
    start_tour(s.app);
    s.frame();
    CHECK(tour_hint(s.app) == 0);
    CHECK(on_screen(s, "Skip"));
    s.press(Key::Space);
    CHECK(tour_hint(s.app) == 1);
    s.press(Key::Right);
    CHECK(tour_hint(s.app) == 2);
    const MemoryState& memory = run_state<MemoryState>(s.app);
    const ImVec2 cell = memory.layout.shelf.front().grid;
    s.click(memory.origin.x + cell.x + 8, memory.origin.y + cell.y + 8);
    CHECK(s.app.selected);
    CHECK(tour_hint(s.app) == 3);
    s.press(Key::W);
    CHECK_FALSE(tour_runs(s.app));
    s.press(Key::W);
    start_tour(s.app);
    click_word(s, "Next");
    CHECK(tour_hint(s.app) == 1);
    s.press(Key::Escape);
    CHECK_FALSE(tour_runs(s.app));
}

TEST_CASE("any keys in any order leave the lesson layout alive, and the marked beat one that there is") {
    std::mt19937 random(11);
    constexpr Key kKeys[] = {Key::Left, Key::Right, Key::Home,      Key::End, Key::Space, Key::Escape, Key::Enter,
                             Key::Up,   Key::Down,  Key::Backspace, Key::S,   Key::W,     Key::P,      Key::K,
                             Key::L,    Key::T,     Key::B,         Key::C,   Key::Num1,  Key::Num3,   Key::F1};
    for (const Lesson& lesson : lessons()) {
        CAPTURE(lesson.id);
        Stage s(start_of(lesson));
        start_tour(s.app);
        for (int k = 0; k < 400; ++k) {
            const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
            s.app.ui.reduce_motion = pick(2) == 0;
            s.press(kKeys[pick(static_cast<int>(std::size(kKeys)))],
                    {.ctrl = pick(6) == 0, .shift = pick(6) == 0, .alt = false});
            if (k % 20 == 0) s.settle();
            if (const LessonWalk* walk = lesson_walk(s.app)) {
                CHECK((walk->beat >= 0 && walk->beat < static_cast<int>(walk->lesson.beats.size())));
                CHECK(walk->reached >= walk->beat);
            }
        }
        s.settle();
        CHECK(s.app.run != nullptr);
    }
}
