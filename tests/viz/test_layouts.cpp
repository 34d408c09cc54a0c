// Panels and layouts are tables: what their rows say is what is drawn, in every window that is large enough.
#include <doctest/doctest.h>
#include <imgui.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/viz/stage.h"
#include "viz/panels/help.h"
#include "viz/panels/memory.h"
#include "viz/panels/panels.h"
#include "viz/panels/score_map.h"
#include "viz/panels/step_sentence.h"

using namespace flashstep;
using namespace flashstep::viz;
using flashstep::testing::Stage;

namespace {

const Area& workbench() { return layout_named("workbench").whole; }

// What is wrong with an area, or empty.
std::string fault_of(const Area& area, std::vector<std::string_view>& seen) {
    if (area.joins == Joins::Here) return area.panel.empty() && area.parts.empty() ? "" : "what joins is not fixed";
    if (area.parts.empty()) {
        const std::string id(area.panel);
        if (!find_panel(area.panel)) return "no panel is called \"" + id + "\"";
        if (std::ranges::find(seen, area.panel) != seen.end()) return id + " stands in two places";
        seen.push_back(area.panel);
        return {};
    }
    const auto rests = std::ranges::count_if(area.parts, [](const Area& inner) { return !inner.length; });
    if (rests != 1) return std::to_string(rests) + " parts of a split take what the others leave";
    for (const Area& inner : area.parts)
        if (const std::string fault = fault_of(inner, seen); !fault.empty()) return fault;
    return {};
}
std::string fault_of(const Area& area) {
    std::vector<std::string_view> seen;
    return fault_of(area, seen);
}

bool same(const Box& a, const Box& b) { return a.x == b.x && a.y == b.y && a.w == b.w && a.h == b.h; }

// Another arrangement than any of the table: the memory above everything else.
Layout planted() {
    const Area memory{.panel = "memory"}, map{.panel = "map", .length = Length{.share = 0.3f, .least = 200}},
        explain{.panel = "explain"}, lesson{.panel = "lesson", .length = Length{.share = 0.2f}, .folded = 61};
    return {"planted",
            {.direction = Direction::Down,
             .parts = {memory,
                       {.length = Length{.share = 0.4f, .least = 200, .most = 300},
                        .direction = Direction::Across,
                        .parts = {lesson, map, explain}}}}};
}

}  // namespace

TEST_CASE("the layouts that can be asked for are those that there are") {
    CHECK(std::ranges::equal(layouts(), kLayoutIds, {}, &Layout::id));
    for (const std::string_view id : kLayoutIds) CHECK(layout_named(id).id == id);
    CHECK_THROWS_WITH(layout_named("workbank"), doctest::Contains("there are: lesson, workbench"));
}

TEST_CASE("every layout names panels that there are, each once, and one part of a split takes what is left") {
    for (const Layout& layout : layouts()) {
        CAPTURE(layout.id);
        CHECK(fault_of(layout.whole) == "");
    }
    for (const Panel& panel : panels()) {
        CAPTURE(panel.id);
        CHECK(fault_of(alone(panel.id)) == "");
        CHECK(arrange(alone(panel.id), {0, 0, 1000, 500}, 1).box(panel.id).w >= 499);
    }
    // Such faults are found.
    Area wrong = planted().whole;
    CHECK(fault_of(wrong) == "");
    wrong.parts[0].panel = "explain";
    CHECK(fault_of(wrong) == "explain stands in two places");
    wrong.parts[0].panel = "memry";
    CHECK(fault_of(wrong) == "no panel is called \"memry\"");
    wrong.parts[0].length = Length{.share = 0.5f};
    CHECK(fault_of(wrong) == "0 parts of a split take what the others leave");
}

TEST_CASE("the workbench stands as it should, with a lesson and without one, at every size and scale") {
    struct Known {
        ImVec2 window;
        Box lesson, source, memory, map, explain, traffic, compare;
    };
    const Known known[] = {{{1280, 720},
                            {0, 57, 320, 335},
                            {0, 393, 320, 206},
                            {321, 57, 674, 373},
                            {321, 431, 216, 168},
                            {538, 431, 457, 168},
                            {996, 57, 284, 313},
                            {996, 371, 284, 228}},
                           {{1920, 1080},
                            {0, 57, 480, 558},
                            {0, 616, 480, 343},
                            {481, 57, 1035, 621},
                            {481, 679, 320, 280},
                            {802, 679, 714, 280},
                            {1517, 57, 403, 522},
                            {1517, 580, 403, 379}}};
    for (const Known& k : known) {
        CAPTURE(k.window.x);
        const Arrangement a = frame_layout(k.window, 1, 0, workbench()).panels;
        const std::pair<const char*, Box> boxes[] = {
            {"lesson", k.lesson},   {"source", k.source},   {"memory", k.memory},  {"map", k.map},
            {"explain", k.explain}, {"traffic", k.traffic}, {"compare", k.compare}};
        for (const auto& known_box : boxes) {
            const Box found = a.box(known_box.first);
            INFO(known_box.first << " " << found.x << " " << found.y << " " << found.w << " " << found.h);
            CHECK(same(found, known_box.second));
        }
    }
    for (const float scale : {1.0f, 1.25f, 1.5f, 2.0f}) {
        const FrameLayout l = frame_layout({1600 * scale, 900 * scale}, scale, 0, workbench(), {.folded = {"lesson"}});
        const Box lesson = l.panels.box("lesson"), source = l.panels.box("source");
        CHECK(lesson.h + separator(scale) == std::round(96 * scale));
        CHECK(source.y == lesson.bottom() + separator(scale));
        CHECK(source.bottom() + separator(scale) == l.transport.y);
    }
}

TEST_CASE("panels that are called in stand beside the layout's own, which keep their order, and go again") {
    const Box box{0, 57, 1280, 542};
    const Area& lesson = layout_named("lesson").whole;
    const Arrangement before = arrange(lesson, box, 1);
    CHECK(before.panels.size() == 3);
    const Arrangement with = arrange(lesson, box, 1, {.joined = {"traffic", "compare", "traffic", "memory"}});
    CHECK(with.panels.size() == 5);                         // one that stands in the layout already joins nothing
    CHECK(same(with.box("lesson"), before.box("lesson")));  // the text is not set anew
    CHECK(with.box("traffic").x > with.box("memory").right());
    CHECK(with.box("compare").y > with.box("traffic").bottom());
    CHECK(with.box("memory").w > 600);
    CHECK(before.box("memory").w > 880);
    CHECK(arrange(workbench(), box, 1, {.joined = {"traffic", "compare"}}).panels.size() == 7);
}

TEST_CASE("panels and separators fill the window without a gap, in every layout") {
    const Layout own = planted();
    std::vector<const Layout*> all = {&own};
    for (const Layout& layout : layouts()) all.push_back(&layout);
    for (const Layout* layout : all) {
        for (const auto& [w, h, scale] :
             {std::array{960.0f, 600.0f, 1.0f}, {1280, 720, 1}, {1531, 887, 1.5f}, {1920, 1080, 1}, {3840, 2160, 2}}) {
            CAPTURE(layout->id);
            const float width = w;  // clang 14 captures no binding
            CAPTURE(width);
            const Arrangement a = arrange(layout->whole, {3, 57, w, h}, scale, {.joined = {"map", "traffic"}});
            double area = 0;
            std::vector<Box> boxes = a.separators;
            for (const auto& [id, box] : a.panels) boxes.push_back(box);
            for (std::size_t k = 0; k < boxes.size(); ++k) {
                const Box& box = boxes[k];
                CHECK((box.w > 0 && box.h > 0));
                CHECK((box.x >= 3 && box.y >= 57 && box.right() <= w + 3 && box.bottom() <= h + 57));
                area += double{box.w} * double{box.h};
                for (std::size_t other = 0; other < k; ++other)
                    CHECK_FALSE((box.x < boxes[other].right() && boxes[other].x < box.right() &&
                                 box.y < boxes[other].bottom() && boxes[other].y < box.bottom()));
            }
            CHECK(area == double{w} * double{h});
        }
    }
}

TEST_CASE("another layout is one more row: what it names is drawn and clicked there, what it does not is not") {
    const Layout own = planted();
    for (const auto& [w, h] : {std::pair{960.0f, 600.0f}, {1280.0f, 720.0f}, {1920.0f, 1080.0f}}) {
        const float width = w;  // clang 14 captures no binding
        CAPTURE(width);
        Stage s({}, w, h);
        frame_state(s.app).layout = &own;
        s.frame(), s.frame();
        const Arrangement a = frame_layout({w, h}, 1, 0, own.whole).panels;
        const MemoryState& memory = run_state<MemoryState>(s.app);
        CHECK(memory.origin.x == a.box("memory").x + 12);
        CHECK(memory.space.x == a.box("memory").w - 24);
        const float sentence = step_sentence_height(s.app, {memory.space.x, a.box("memory").h - 24});
        CHECK(memory.space.y + sentence == a.box("memory").h - 24);
        const ScoreMap& map = run_state<ScoreMap>(s.app);
        CHECK((map.origin.x > a.box("map").x && map.origin.x < a.box("map").right()));
        CHECK((map.origin.y > a.box("map").y && map.origin.y < a.box("map").bottom()));
        s.click(map.origin.x + map.cell * 1.5f, map.origin.y + map.cell * 1.5f);
        CHECK((s.app.player->current().i == 1 && s.app.player->current().j == 1));
        // One panel alone, also one that the layout does not have, and back to it.
        s.press(Key::Num5);
        CHECK(frame_state(s.app).focus == find_panel("traffic"));
        s.press(Key::Num3);
        s.frame();
        CHECK(memory.space.x == w - 24);
        s.press(Key::Escape);
        s.frame();
        CHECK(memory.space.x == a.box("memory").w - 24);
    }
    // Without a lesson its panel is folded.
    CHECK(frame_layout({1280, 720}, 1, 0, own.whole, {.folded = {"lesson"}}).panels.box("lesson").w == 60);
    // A layout without the map does not draw it.
    Stage s;
    Layout small = planted();
    std::erase_if(small.whole.parts[1].parts, [](const Area& area) { return area.panel == "map"; });
    frame_state(s.app).layout = &small;
    s.app.open_preset(*find_preset("n64"));
    s.settle();
    CHECK(run_state<ScoreMap>(s.app).cell == 0);
    CHECK(run_state<MemoryState>(s.app).space.x > 0);
}

TEST_CASE("each panel's keys show it alone and do nothing else, and the help page has them") {
    Stage s;
    std::vector<Key> keys;
    for (const Panel& panel : panels()) {
        CAPTURE(panel.id);
        for (const std::optional<Key>& key : {panel.key, panel.letter}) {
            if (!key) continue;
            CHECK(std::ranges::find(keys, *key) == keys.end());
            keys.push_back(*key);
            const Language language = s.app.ui.language;
            const ThemeMode mode = s.app.ui.mode;
            s.press(*key);
            CHECK(frame_state(s.app).focus == &panel);
            CHECK(s.app.ui.language == language);
            CHECK(s.app.ui.mode == mode);
            CHECK(s.app.player->bookmarks().empty());
            s.press(*key);
            CHECK(frame_state(s.app).focus == nullptr);
        }
    }
    const std::vector<KeyRow> rows = key_rows(s.app.ui);
    const auto listed = [&](std::string_view text) { return std::ranges::count(rows, text, &KeyRow::keys); };
    int numbers = 0;
    for (const Key key : keys) {
        if (is_number(key))
            ++numbers;
        else
            CHECK(listed(key_text(key)) == 1);
    }
    CHECK(numbers >= 6);
    CHECK(listed("1 … " + std::to_string(numbers)) == 1);
}

TEST_CASE("every panel is drawn alone, in both languages and at several sizes") {
    for (const auto& [w, h, scale] : {std::array{960.0f, 600.0f, 1.0f}, {1280, 720, 1}, {2560, 1440, 1.5f}}) {
        Stage s({}, w, h, scale);
        for (const Panel& panel : panels()) {
            CAPTURE(panel.id);
            for (const Language language : {Language::English, Language::Chinese}) {
                s.app.ui.language = language;
                frame_state(s.app).focus = nullptr;
                s.frame();
                toggle_focus(s.app, panel);
                CHECK(frame_state(s.app).focus == &panel);
                for (int part = 0; part <= 4; ++part) {
                    s.app.seek(s.app.player->step_at(s.app.player->count() * part / 4));
                    CHECK(s.frame()->TotalVtxCount > 1000);
                }
            }
        }
    }
}

TEST_CASE("panels have titles in both languages and ids of their own") {
    std::vector<std::string_view> ids;
    for (const Panel& panel : panels()) {
        CHECK(std::ranges::find(ids, panel.id) == ids.end());
        ids.push_back(panel.id);
        CHECK_FALSE(panel.title.en.empty());
        CHECK_FALSE(panel.title.zh.empty());
        CHECK(panel.letter.has_value() == !panel.letter_help.en.empty());
        CHECK(panel.letter.has_value() == !panel.letter_help.zh.empty());
        CHECK(find_panel(panel.id) == &panel);
    }
    CHECK(find_panel("no such panel") == nullptr);
}

TEST_CASE("a state of its own is one per type, and a run's is made anew for another run") {
    struct Count {
        int value = 0;
    };
    struct Other {
        int value = 7;
    };
    Stage s;
    own_state<Count>(s.app).value = 3;
    run_state<Count>(s.app).value = 4;
    CHECK(own_state<Count>(s.app).value == 3);
    CHECK(run_state<Count>(s.app).value == 4);
    CHECK(own_state<Other>(s.app).value == 7);
    s.app.open_preset(*find_preset("n64"));
    s.settle();
    CHECK(own_state<Count>(s.app).value == 3);
    CHECK(run_state<Count>(s.app).value == 0);
}
