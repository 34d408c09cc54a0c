// The whole window without a window: keys, buttons, timeline, source, inputs, help, picker; in every language and
// theme.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <imgui.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <thread>

#include "tests/program.h"
#include "tests/viz/stage.h"
#include "viz/panels/inputs_draft.h"
#include "viz/panels/inputs_edit.h"
#include "viz/panels/panels.h"
#include "viz/panels/transport.h"
#include "viz/shell/bench.h"
#include "viz/shell/frame.h"
#include "viz/shell/headless.h"
#include "viz/shell/lesson_walk.h"
#include "viz/shell/start.h"
#include "viz/text/cuda_text.h"
#include "viz/text/kernel_source.h"

using namespace flashstep;
using namespace flashstep::viz;
using flashstep::testing::Stage;

namespace {

constexpr Modifiers kCtrl{.ctrl = true, .shift = false, .alt = false};
constexpr Modifiers kShift{.ctrl = false, .shift = true, .alt = false};
constexpr float kButtonY = 634;  // of the transport at 1280 x 720
float button(int k) { return 20 + 32 * static_cast<float>(k); }
constexpr float kFieldX = 490, kFieldN = 129, kFieldBr = 245;  // in the inputs

}  // namespace

TEST_CASE("the arrow keys step by line, tile and row block, both ways") {
    Stage s;
    REQUIRE(s.app.player);
    s.press(Key::Right);
    CHECK(s.at() == 1);
    s.press(Key::Right);
    s.press(Key::Right);
    CHECK(s.at() == 3);
    s.press(Key::Left);
    CHECK(s.at() == 2);
    s.press(Key::Right, kShift);
    CHECK(s.app.player->current().j == 0);
    s.press(Key::Right, kCtrl);
    CHECK(s.app.player->current().i == 1);
    s.press(Key::Left, kCtrl);
    CHECK(s.app.player->current().i == 0);
    s.press(Key::End);
    CHECK(s.app.player->at_end());
    s.press(Key::Home);
    CHECK(s.at() == 0);
    s.press(Key::K);
    CHECK(s.app.player->playing());
    s.press(Key::Right);  // a hand on the cursor stops playing
    CHECK_FALSE(s.app.player->playing());
    s.press(Key::B);
    CHECK(s.app.player->bookmarks().contains(s.app.player->step()));
}

TEST_CASE("each button of the transport does what its key does") {
    Stage s;
    s.click(button(5), kButtonY);
    CHECK(s.at() == 1);
    s.click(button(6), kButtonY);
    CHECK(s.app.player->current().j == 0);
    s.click(button(7), kButtonY);
    CHECK(s.app.player->current().i == 1);
    s.click(button(3), kButtonY);
    const int before = s.at();
    s.click(button(5), kButtonY);
    CHECK(s.at() == before + 1);
    s.click(button(1), kButtonY);
    s.click(button(2), kButtonY);
    s.click(button(8), kButtonY);
    CHECK(s.app.player->at_end());
    s.click(button(0), kButtonY);
    CHECK(s.at() == 0);
    s.click(button(4), kButtonY);
    CHECK(s.app.player->playing());
    s.click(button(4), kButtonY);
    CHECK_FALSE(s.app.player->playing());
}

TEST_CASE("dragging on the timeline scrubs, and letting go ends it") {
    Stage s;
    s.screen.move(500, 682, s.draw);
    feed_button(0, true);
    s.frame(), s.frame();
    CHECK(s.app.scrubbing);
    const int first = s.at();
    CHECK(first > 0);
    feed_mouse(1100, 682);
    s.frame(), s.frame();
    CHECK(s.at() > first);
    CHECK(s.app.motion() == 1);
    feed_button(0, false);
    s.frame();
    CHECK_FALSE(s.app.scrubbing);
}

TEST_CASE("the wheel zooms the timeline around the mouse, and the view follows the cursor") {
    Stage s;
    Timeline& line = own_state<TransportState>(s.app).timeline;
    const double all = line.view_last() - line.view_first();
    s.screen.move(600, 682, s.draw);
    feed_wheel(3);
    s.frame(), s.frame();
    CHECK(line.view_last() - line.view_first() < all);
    s.press(Key::End);
    s.frame();
    CHECK(line.view_last() >= s.app.player->count());
    CHECK(line.view_first() > 0);
    feed_wheel(-40);
    s.frame(), s.frame();
    CHECK(line.view_last() - line.view_first() == all);
}

TEST_CASE("a click on a line of the pseudo-code goes to its next run") {
    Stage s({}, 1280, 1080);
    bool reached = false;
    for (float y = 700; y < 940 && !reached; y += 8) {
        s.press(Key::Home);  // and the table is scrolled to its top again
        s.click(150, y);
        reached = s.app.player->current().line == 8;
    }
    CHECK(reached);
    CHECK(s.app.player->current().i == 0);
    const Player& p = *s.app.player;
    CHECK(p.trace().steps[next_run_of_line(p, 8)].j == 1);
    CHECK(next_run_of_line(p, 16) == -1);  // "end for" makes no step
}

TEST_CASE("links of a lesson move the cursor or choose a cell, and refuse what is not there") {
    Stage s;
    CHECK(follow_link(s.app, "line=7,i=2,j=1"));
    CHECK((s.app.player->current().i == 1 && s.app.player->current().j == 0));
    CHECK(follow_link(s.app, "line=12,i=1"));
    CHECK(s.app.player->current().line == 12);
    CHECK(follow_link(s.app, "line=8,i=1,j=2,cell=S_ij[1,2]"));
    CHECK(s.at() == 11);
    REQUIRE(s.app.selected);
    CHECK((s.app.selected->row == 0 && s.app.selected->col == 1));
    CHECK(s.app.run->trace.tensors[s.app.selected->tensor].name == "S_ij");
    CHECK(follow_link(s.app, "end"));
    CHECK(s.app.player->at_end());
    for (const char* bad :
         {"line=999", "line=8,i=9,j=9", "line=16", "line=x", "scene=rong,start", "lesson=none", "preset=none", "x"}) {
        CAPTURE(bad);
        CHECK_FALSE(follow_link(s.app, bad));
    }
}

TEST_CASE("L, T, 1 to 6, C, F1, Ctrl+P and Esc change what is shown, and back") {
    Stage s;
    s.press(Key::L);
    CHECK(s.app.ui.language == Language::Chinese);
    s.press(Key::L);
    s.press(Key::T);
    CHECK(s.app.ui.mode == ThemeMode::Light);
    const char* const in_order[] = {"lesson", "source", "memory", "explain", "traffic", "compare"};
    for (int k = 0; k < 6; ++k) {
        const Key key = static_cast<Key>(static_cast<int>(Key::Num1) + k);
        s.press(key);
        CHECK(frame_state(s.app).focus == find_panel(in_order[k]));
        s.press(key);
        CHECK_FALSE(frame_state(s.app).focus);
    }
    s.press(Key::C);
    CHECK(frame_state(s.app).focus == find_panel("compare"));
    s.press(Key::Escape);
    CHECK_FALSE(frame_state(s.app).focus);
    s.press(Key::F1);
    CHECK(s.app.help_open);
    s.press(Key::Escape);
    CHECK_FALSE(s.app.help_open);
    s.press(Key::F1);
    CHECK(s.app.help_open);  // opens a second time
    s.click(60, 400);        // a click beside it closes it
    s.frame();
    CHECK_FALSE(s.app.help_open);
    s.press(Key::Plus, kCtrl);
    CHECK(s.app.zoom > 1);
    s.press(Key::Num0, kCtrl);
    CHECK(s.app.zoom == 1);
}

TEST_CASE("the picker finds by any words and opens with Enter") {
    Stage s;
    s.press(Key::P, kCtrl);
    CHECK(s.app.picker_open);
    s.frame();
    s.type("preset causal six");
    s.frame();
    s.press(Key::Enter);
    s.settle();
    CHECK_FALSE(s.app.picker_open);
    CHECK(s.problem().causal);
    CHECK(s.problem().n == 64);
    s.press(Key::P, kCtrl);
    s.frame();
    s.type("nothing is called this");
    s.press(Key::Enter);
    CHECK(s.app.picker_open);
    s.press(Key::Escape);
    s.frame();
    CHECK_FALSE(s.app.picker_open);
}

TEST_CASE("another algorithm brings a kernel that mirrors it, or none") {
    Stage s;
    for (const Algorithm& algorithm : algorithms()) {
        CAPTURE(algorithm.id);
        choose_algorithm(s.app, algorithm);
        s.settle();
        CHECK(s.app.session.error() == "");
        CHECK(s.app.run->recipe.algorithm == algorithm.id);
        const gpu::KernelInfo* kernel = gpu::find_kernel(s.app.run->recipe.kernel);
        CHECK((!kernel || kernel->algorithm == algorithm.id));
    }
}

TEST_CASE("a typed size runs at once, and undo takes it back") {
    Stage s;
    s.app.inputs_open = true;
    s.frame(), s.frame();
    s.click(kFieldX, kFieldN);
    s.type("6");
    s.press(Key::Enter);
    s.settle();
    CHECK(s.problem().n == 6);
    CHECK(s.problem().nk == 6);                       // follows while both are equal
    CHECK(s.app.run->recipe.inputs.Q[0](0, 0) == 1);  // what fits stays
    s.press(Key::Escape);
    s.press(Key::Z, kCtrl);
    s.settle();
    CHECK(s.problem().n == 4);
    s.press(Key::Y, kCtrl);
    s.settle();
    CHECK(s.problem().n == 6);
}

TEST_CASE("a refused value shows why and leaves the run as it is") {
    Stage s;
    const Run* run = s.app.run.get();
    s.app.inputs_open = true;
    s.frame(), s.frame();
    for (const char* text : {"0", "-3", "many", "2.5", "99999999999"}) {
        CAPTURE(text);
        s.click(kFieldX, kFieldBr);
        s.type(text);
        s.press(Key::Enter);
        s.settle();
        CHECK(s.app.run.get() == run);
        CHECK(own_state<InputsDraft>(s.app).error != "");
        CHECK(own_state<InputsDraft>(s.app).text == text);
    }
    s.click(kFieldX, kFieldBr);
    s.type("1");
    s.press(Key::Enter);
    s.settle();
    CHECK(own_state<InputsDraft>(s.app).error == "");
    CHECK(s.problem().br == 1);
}

TEST_CASE("an error of a run is shown above the panels, and what was there stays") {
    Stage s;
    const Run* run = s.app.run.get();
    Problem p = s.problem();
    p.sram_bytes = 40;
    s.app.session.resize(p);
    s.settle();
    CHECK(s.app.session.error().en.find("SRAM overflow") != std::string::npos);
    CHECK(s.app.run.get() == run);
    s.click(1252, 77);  // its close button
    CHECK(s.app.session.error() == "");
}

TEST_CASE("cells of Q, K and V are edited in place") {
    Stage s;
    s.app.inputs_open = true;
    s.frame(), s.frame();
    s.click(600, 191);  // Q[1,1]
    s.type("7");
    s.press(Key::Enter);
    s.settle();
    CHECK(s.app.run->recipe.inputs.Q[0](0, 0) == 7);
    s.click(630, 131);  // K
    s.click(600, 191);
    s.type("nan");
    s.press(Key::Enter);
    s.settle();
    CHECK(std::isnan(s.app.run->recipe.inputs.K[0](0, 0)));
    CHECK(s.app.session.warn_non_finite());
    s.frame();
}

TEST_CASE("a file brings its sizes, and a bad one is refused") {
    Stage s;
    const flashstep::testing::TemporaryFolder folder;
    const std::string path = folder.file("frame.csv");
    std::ofstream(path) << "1,2,3,4\n5,6,7,8\n";
    load_matrix(s.app.session, InputMatrix::Q, path);
    s.settle();
    CHECK((s.problem().n == 2 && s.problem().d == 4 && s.problem().nk == 4));
    CHECK(s.app.run->recipe.inputs.Q[0](1, 3) == 8);
    std::ofstream(path) << "1,2\n3\n";
    CHECK_THROWS_AS(load_matrix(s.app.session, InputMatrix::V, path), Error);
    std::remove(path.c_str());
    CHECK_THROWS_AS(load_matrix(s.app.session, InputMatrix::V, path), Error);
}

TEST_CASE("typed fields change what they name, and what follows them") {
    const Problem p;
    CHECK(with_field(p, Field::D, "4").scale == 0.5);
    CHECK(with_field(p, Field::D, "4").dv == 4);
    CHECK(with_field(p, Field::Scale, "\u22120.5").scale == -0.5);
    CHECK(with_field(p, Field::Heads, "2").kv_heads == 2);
    CHECK(with_field(p, Field::Sram, "1e5").sram_bytes == 100000);
    for (const char* text : {"", "x", "1x", "1e999", "3000000000"})
        CHECK_THROWS_AS(with_field(p, Field::N, text), Error);
    for (int f = 0; f < kFields; ++f) {  // what is shown may be typed
        const Field field = static_cast<Field>(f);
        if (field != Field::Scale) CHECK(with_field(p, field, field_text(p, field)) == p);
    }
}

TEST_CASE("whatever way the cursor took, the frame at a step is the same") {
    StartState start;
    start.lesson.clear();  // a lesson lights what its beat speaks of, and which beat is marked depends on the way
    Stage s(start);
    std::mt19937 random(7);
    const auto picture = [&] {
        const ImDrawData* data = s.frame();
        std::uint64_t hash = 1469598103934665603u;
        for (int l = 0; l < data->CmdListsCount; ++l) {
            for (const ImDrawVert& v : data->CmdLists[l]->VtxBuffer) {
                for (const float x : {v.pos.x, v.pos.y})
                    hash = (hash ^ static_cast<std::uint64_t>(std::lround(x * 16))) * 1099511628211u;
                hash = (hash ^ v.col) * 1099511628211u;
            }
        }
        return hash;
    };
    frame_state(s.app).focus = find_panel("memory");  // the source panel's scroll does depend on the way
    std::vector<std::uint64_t> walk;
    s.frame(), s.frame();
    for (int p = 0; p <= s.app.player->count(); ++p) {
        s.app.seek(s.app.player->step_at(p));
        s.frame();
        walk.push_back(picture());
    }
    for (int k = 0; k < 60; ++k) {
        const int p = static_cast<int>(random() % walk.size());
        s.app.seek(s.app.player->step_at(p));
        s.frame();
        CHECK(picture() == walk[static_cast<std::size_t>(p)]);
    }
}

TEST_CASE("every panel of every preset is drawn in both languages and themes, at several sizes and scales") {
    for (const auto& [w, h, scale] :
         {std::array{1280.0f, 720.0f, 1.0f}, {3840.0f, 2160.0f, 2.0f}, {900.0f, 500.0f, 1.0f}}) {
        Stage s({}, w, h, scale);
        for (const Preset& preset : presets()) {
            CAPTURE(preset.id);
            s.app.open_preset(preset);
            s.settle();
            REQUIRE(s.app.player);
            for (const Language language : {Language::English, Language::Chinese}) {
                s.app.ui.language = language;
                toggle_theme(s.app);
                for (int part = 0; part <= 4; ++part) {
                    s.app.seek(s.app.player->step_at(s.app.player->count() * part / 4));
                    s.app.source_view = part % 2 ? SourceView::Cuda : SourceView::PseudoCode;
                    const ImDrawData* data = s.frame();
                    CHECK(data->TotalVtxCount > (w < kLeastWidth ? 10 : 1000));
                }
            }
        }
    }
}

TEST_CASE("the divided window leaves no gap between panels and nothing over the edge") {
    const Area& workbench = layout_named("workbench").whole;
    for (const auto& [w, h] : {std::pair{960.0f, 600.0f}, {1280.0f, 720.0f}, {1920.0f, 1080.0f}, {3840.0f, 2160.0f}}) {
        const FrameLayout l = frame_layout({w, h}, 1, 0, workbench);
        CHECK_FALSE(l.too_small);
        for (const auto& [id, box] : l.panels.panels) {
            if (id == "map") continue;
            CHECK(box.w >= 180);
            CHECK(box.h >= 90);
            CHECK(box.right() <= w);
            CHECK(box.bottom() <= l.transport.y);
        }
        const auto box = [&](std::string_view id) { return l.panels.box(id); };
        CHECK(box("lesson").right() + 1 == box("memory").x);
        CHECK(box("memory").right() + 1 == box("traffic").x);
        CHECK(box("traffic").right() == w);
        CHECK(box("memory").w >= box("lesson").w);
    }
    CHECK(frame_layout({900, 720}, 1, 0, workbench).too_small);
    CHECK(frame_layout({1280, 720}, 2, 0, workbench).too_small);
}

TEST_CASE("a kernel's source is in the program and its comments name lines of its algorithm") {
    for (const gpu::KernelInfo& kernel : gpu::kernels()) {
        CAPTURE(kernel.id);
        const std::string_view source = kernel_source(kernel.id);
        REQUIRE(!source.empty());
        std::ifstream file(fmt::format("{}/gpu/kernels/{}.cuh", FLASHSTEP_SOURCE_DIR, kernel.id));
        CHECK(source == std::string(std::istreambuf_iterator<char>(file), {}));
        const CudaText text = read_cuda(source);
        int named = 0;
        const Algorithm* algorithm = find_algorithm(kernel.algorithm);
        REQUIRE(algorithm);
        for (const PseudoLine& line : algorithm->lines) named += !lines_for(text, line.number).empty();
        CHECK(named >= 2);
    }
    CHECK(kernel_source("unknown").empty());
}

TEST_CASE("comments name lines of the paper, one, several, a range") {
    CHECK(lines_named("// Line 8: S") == std::vector{8});
    CHECK(lines_named("// Lines 4, 5: load") == std::vector{4, 5});
    CHECK(lines_named("// Lines 12 to 15: O") == std::vector{12, 13, 14, 15});
    CHECK(lines_named("// line 6; tiles") == std::vector{6});
    CHECK(lines_named("// Lines of code").empty());
    CHECK(lines_named("// see line 8").empty());
}

TEST_CASE("every field of the top bar opens its list, wherever it is clicked, with one head and with several") {
    for (int heads : {1, 4}) {
        StartState start;
        start.problem = Problem{};
        start.problem->heads = start.problem->kv_heads = heads;
        start.inputs = make_inputs(*start.problem);
        for (float x = 20; x < 1270; x += 30) {
            Stage s(heads == 1 ? StartState{} : start);
            s.click(x, 18);
            for (int k = 0; k < 3; ++k) s.frame();
            CHECK(s.app.player != nullptr);
        }
    }
}

TEST_CASE("wild clicking and typing leave the app alive") {
    std::mt19937 random(7);
    Stage s;
    for (int k = 0; k < 1500; ++k) {
        const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
        if (pick(4) == 0) {
            constexpr Key kKeys[] = {Key::Left, Key::Right, Key::Home, Key::End, Key::Space, Key::Escape, Key::Enter};
            s.press(kKeys[pick(7)], pick(3) ? Modifiers{} : kCtrl);
        } else {
            s.click(static_cast<float>(pick(1280)), static_cast<float>(pick(720)));
        }
        if (k % 50 == 0) s.settle();
    }
    s.settle();
    CHECK(s.app.run != nullptr);
}
