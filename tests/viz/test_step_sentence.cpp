// The step's sentence in the window: there at every step of everything that runs, in both layouts and languages, all of
// it, and without moving what stands above it.
#include <doctest/doctest.h>
#include <imgui.h>

#include <string>
#include <string_view>

#include "lab/presets.h"
#include "lab/sentence.h"
#include "tests/viz/drawn_text.h"
#include "tests/viz/stage.h"
#include "viz/panels/memory.h"
#include "viz/panels/step_sentence.h"
#include "viz/text/pseudo_layout.h"

using namespace flashstep;
using namespace flashstep::viz;
using flashstep::testing::DrawnText;
using flashstep::testing::Stage;

namespace {

StartState in_layout(const char* layout) {
    StartState start;
    start.lesson = "";
    start.layout = layout;
    return start;
}

// What stands between the formulas, without spaces.
std::string words_of(std::string_view text) {
    std::string words;
    for (const TexPart& part : split_tex(text))
        if (!part.formula)
            for (const char c : part.text)
                if (c != ' ') words += c;
    return words;
}

// The first character that is missing where `found` should hold all of `wanted` in its order, and what follows; empty:
// none is.
std::string missing(std::string_view wanted, std::string_view found) {
    std::size_t k = 0;
    for (const char c : found)
        if (k < wanted.size() && c == wanted[k]) ++k;
    return std::string(wanted.substr(k));
}

// What is drawn where the sentence stands.
std::string drawn_sentence(Stage& s, const DrawnText& reader) {
    const StepSentencePanel& panel = run_state<StepSentencePanel>(s.app);
    std::string text;
    for (const auto& run : reader.read(*s.frame()))
        if (run.at.x >= panel.at.x - 1 && run.at.x < panel.at.x + panel.room.x && run.at.y > panel.at.y - 1 &&
            run.at.y < panel.at.y + panel.height + 1)
            text += run.text;
    return text;
}

// What is wrong with the sentence at the step that is shown; empty: nothing.
std::string wrong_with(Stage& s, const DrawnText& reader) {
    const Run& run = *s.app.run;
    const StepView view = view_of(run.trace, s.app.player->step());
    const std::string wanted = s.app.ui.tr(sentence_of(*run.algorithm, run.trace, view).whole());
    if (const std::string gone = missing(words_of(wanted), drawn_sentence(s, reader)); !gone.empty())
        return "not drawn: " + gone;
    StepSentencePanel& panel = run_state<StepSentencePanel>(s.app);
    if (panel.text.measure(s.app.ui, panel.room.x) > panel.height) return "higher than its place";
    if (!panel.text.document().errors.empty()) return panel.text.document().errors.front();
    const MemoryState& memory = run_state<MemoryState>(s.app);
    if (memory.layout.size.y > memory.space.y) return "below what is seen";
    return {};
}

}  // namespace

TEST_CASE("every step of every algorithm and mistake says what it does, all of it, at 1280 x 720 in both languages") {
    for (const char* layout : {"lesson", "workbench"}) {
        Stage s(in_layout(layout));
        const DrawnText reader(*ImGui::GetIO().Fonts);
        const auto walk = [&] {
            for (const Language language : {Language::English, Language::Chinese}) {
                s.app.ui.language = language;
                s.frame();
                const float height = run_state<StepSentencePanel>(s.app).height;
                for (int step = 0; step <= s.app.player->last(); ++step) {
                    s.app.seek(step);
                    s.frame();
                    CAPTURE(step);
                    CAPTURE(layout);
                    CHECK(wrong_with(s, reader) == "");
                    CHECK(run_state<StepSentencePanel>(s.app).height == height);  // nothing moves
                }
            }
        };
        for (const Algorithm& algorithm : algorithms()) {
            CAPTURE(std::string(algorithm.id));
            choose_algorithm(s.app, algorithm);
            s.settle();
            REQUIRE(s.app.run->algorithm == &algorithm);
            walk();
        }
        for (const Fault& fault : faults()) {
            CAPTURE(std::string(fault.id));
            s.app.open_preset(*find_preset(fault.preset), &fault);
            s.settle();
            REQUIRE(s.app.run->fault == &fault);
            walk();
        }
    }
}

TEST_CASE("a sentence that is cut, or that another step's stands for, is found") {
    Stage s(in_layout("lesson"));
    const DrawnText reader(*ImGui::GetIO().Fonts);
    s.app.seek(7);
    s.frame();
    REQUIRE(wrong_with(s, reader) == "");
    StepSentencePanel& panel = run_state<StepSentencePanel>(s.app);
    panel.text.set("Row 2: something else.", panel.size);
    CHECK(wrong_with(s, reader).find("not drawn") == 0);
    panel.step = -1;
    s.frame();
    REQUIRE(wrong_with(s, reader) == "");
    panel.height -= 8;
    CHECK(wrong_with(s, reader) != "");
}

TEST_CASE("the sentence tells of the selected cell's row where the step wrote it") {
    Stage s(in_layout("lesson"));
    const Trace& trace = s.app.run->trace;
    int step = 1;
    while (trace.steps[step].line != 9) ++step;
    s.app.seek(step);
    s.frame();
    const int l = trace.find("l_i", Space::Sram), q = trace.find("Q_i", Space::Sram);
    for (const int row : {0, 1}) {
        s.app.selected = CellRef{l, row, 0};
        s.frame();
        CHECK(run_state<StepSentencePanel>(s.app).row == row);
    }
    s.app.selected = CellRef{q, 1, 0};  // it was loaded before
    s.frame();
    CHECK(run_state<StepSentencePanel>(s.app).row == -1);
}

TEST_CASE("a large window has the sentence in the type of the text, a small one in smaller type") {
    Stage large(in_layout("lesson"), 1920, 1080);
    CHECK(run_state<StepSentencePanel>(large.app).size == TextSize::Body);
    Stage small(in_layout("workbench"));
    CHECK(run_state<StepSentencePanel>(small.app).size == TextSize::Small);
}
