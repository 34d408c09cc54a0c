// What can be chosen in the app: mistakes, masks, base-2 exponentials, dO; and what is said about a run before its
// numbers are read.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "lab/format.h"
#include "tests/program.h"
#include "tests/viz/drawn_text.h"
#include "tests/viz/stage.h"
#include "viz/panels/cells.h"
#include "viz/panels/explain.h"
#include "viz/panels/inputs_draft.h"
#include "viz/panels/inputs_edit.h"
#include "viz/panels/memory.h"
#include "viz/panels/panels.h"
#include "viz/panels/score_map.h"

using namespace flashstep;
using namespace flashstep::viz;
using flashstep::testing::Stage;

namespace {

constexpr Modifiers kCtrl{.ctrl = true, .shift = false, .alt = false};

StartState preset(const char* id) {
    StartState start;
    start.lesson.clear();
    start.preset = id;
    return start;
}

// Where a field of the top bar stands, by its label.
float field_x(Stage& s, std::string_view label) {
    const ImDrawData* data = s.frame();
    for (const auto& run : flashstep::testing::DrawnText(*ImGui::GetIO().Fonts).read(*data))
        if (run.text == label && run.at.y < 28) return run.at.x;
    throw Error("the top bar has no field called " + std::string(label));
}

// Clicks down a column of the window, each time from the state that `before` makes, until `reached`.
template <class Before, class Reached>
bool click_down(Stage& s, float x, float from, float to, Before before, Reached reached) {
    for (float y = from; y < to; y += 9) {
        before();
        s.click(x, y);
        s.settle();
        if (reached()) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("the list of mistakes offers those of the algorithm, and each is switched on by a click") {
    Stage s(preset("n4d3"));
    const auto open_list = [&] {
        s.press(Key::Escape);
        s.click(field_x(s, "Mistake"), 28);
        s.frame();
    };
    std::set<std::string> reached;
    const float inside = field_x(s, "Mistake") + 60;
    for (float y = 60; y < 715; y += 9) {
        open_list();
        s.click(inside, y);
        s.settle();
        const Recipe& recipe = s.app.run->recipe;
        if (!recipe.fault.empty()) {
            reached.insert(recipe.fault);
            REQUIRE(s.app.run->fault);
            CHECK(s.app.run->fault->algorithm == recipe.algorithm);
        }
        if (recipe.algorithm != "fa2_forward") choose_algorithm(s.app, *find_algorithm("fa2_forward")), s.settle();
    }
    for (const Fault& fault : faults())
        if (fault.algorithm == "fa2_forward") CHECK_MESSAGE(reached.contains(std::string(fault.id)), fault.id);
    // "no mistake" stands in the same list.
    choose_fault(s.app, find_fault("no-rescale"));
    s.settle();
    CHECK(click_down(s, inside, 60, 715, open_list,
                     [&] { return s.app.run->recipe.algorithm == "fa2_forward" && !s.app.run->fault; }));
}

TEST_CASE("a mistake's first wrong cell and what it spoils are marked, with the right value beside them") {
    Stage s(preset("n4d3"));
    const auto drawn = [&](std::string_view word) {
        const ImDrawData* data = s.frame();
        return std::ranges::any_of(flashstep::testing::DrawnText(*ImGui::GetIO().Fonts).read(*data),
                                   [&](const auto& run) { return run.text == word; });
    };
    CHECK_FALSE(drawn("mistake:"));
    choose_fault(s.app, find_fault("no-rescale"));
    s.settle();
    REQUIRE(s.app.run->departure);
    const Departure& first = *s.app.run->departure;
    const Trace& trace = s.app.run->trace;
    const int tile = trace.versions[first.version].tensor;
    s.app.seek(trace.versions[first.version].step);
    s.app.selected = CellRef{tile, first.row, first.col};
    s.frame();
    const MemoryState& memory = run_state<MemoryState>(s.app);
    REQUIRE(memory.spoiled[static_cast<std::size_t>(tile)].size() > 0);
    CHECK(memory.spoiled[static_cast<std::size_t>(tile)](first.row, first.col));
    CHECK_FALSE(memory.spoiled[static_cast<std::size_t>(tile)](1 - first.row, first.col));
    CHECK(drawn("mistake:"));  // in the explanation
    const CellVersion cell = version_of(s.app, *s.app.selected);
    CHECK(right_value_text(s.app, cell).find(exact_number(first.right)) != std::string::npos);
    CHECK(right_value_text(s.app, cell).find("first") != std::string::npos);
    CHECK(right_value_text(s.app, {first.version, first.row, first.col + 1}).find("first") == std::string::npos);
    CHECK(right_value_text(s.app, {first.version, 1 - first.row, first.col}).empty());  // it is right
    // In the cell's tooltip, too, where nothing is explained of it.
    s.app.selected = CellRef{tile, 1 - first.row, first.col};
    CHECK_FALSE(drawn("mistake:"));
    const MemoryItem& item =
        memory.layout.bench[static_cast<std::size_t>(memory.layout.place[static_cast<std::size_t>(tile)])];
    s.screen.move(memory.origin.x + item.grid.x + item.fit.cell_w * (static_cast<float>(first.col) + 0.5f),
                  memory.origin.y + item.grid.y + item.fit.cell_h * (static_cast<float>(first.row) + 0.5f), s.draw);
    s.frame(), s.frame();
    CHECK(drawn("mistake:"));
    choose_fault(s.app, nullptr);
    s.settle();
    CHECK_FALSE(drawn("mistake:"));
    CHECK(run_state<MemoryState>(s.app).spoiled[static_cast<std::size_t>(tile)].size() == 0);
}

TEST_CASE("each mistake shows in its preset where its table says, against the kernel and without one") {
    for (const Fault& fault : faults()) {
        CAPTURE(fault.id);
        Stage s(preset("n4d3"));
        s.app.open_preset(*find_preset(fault.preset), &fault);
        s.settle();
        CHECK(s.app.session.error() == "");
        REQUIRE(s.app.run->fault == &fault);
        REQUIRE(s.app.run->departure);
        CHECK(s.app.run->first_difference > 0);
        if (s.app.run->comparison) {
            REQUIRE(s.app.run->comparison->first);
            CHECK(s.app.run->comparison->first->step == s.app.run->first_difference);
            CHECK(s.app.run->comparison->first->tensor == fault.tensor);
        }
        choose_kernel(s.app, {});
        s.settle();
        CHECK_FALSE(s.app.run->comparison);
        REQUIRE(s.app.run->departure);
        const Trace& trace = s.app.run->trace;
        const Version& version = trace.versions[s.app.run->departure->version];
        const Step& step = trace.steps[version.step];
        CHECK(version.step == s.app.run->first_difference);
        // A tail that is not masked is loaded before it shows in the scores.
        const int line = fault.word == Word::Load ? 7 : fault.line;
        CHECK(std::tuple(step.line, step.i, step.j) == std::tuple(line, fault.i, fault.j));
        CHECK((fault.word == Word::Load || trace.tensors[version.tensor].name == fault.tensor));
    }
}

TEST_CASE("a mistake that does not show says so, and a right run has none") {
    Stage s(preset("n4d3"));
    CHECK_FALSE(s.app.run->departure);
    CHECK(s.app.run->first_difference == -1);
    choose_fault(s.app, find_fault("no-scale"));  // the scale of this preset is 1
    s.settle();
    REQUIRE(s.app.run->fault);
    CHECK_FALSE(s.app.run->departure);
    CHECK(s.app.run->first_difference == -1);
}

TEST_CASE("a mistake is taken back by undo, brought again by redo, and left behind with its algorithm") {
    Stage s(preset("n4d3"));
    choose_fault(s.app, find_fault("no-rescale"));
    s.settle();
    CHECK(s.app.run->recipe.fault == "no-rescale");
    s.press(Key::Z, kCtrl);
    s.settle();
    CHECK(s.app.run->recipe.fault == "");
    s.press(Key::Y, kCtrl);
    s.settle();
    CHECK(s.app.run->recipe.fault == "no-rescale");
    choose_algorithm(s.app, *find_algorithm("fa1_forward"));
    s.settle();
    CHECK(s.app.run->recipe.fault == "");
    CHECK(s.app.session.error() == "");
    choose_fault(s.app, find_fault("no-d"));
    s.settle();
    CHECK(s.app.run->recipe.algorithm == "fa2_backward");
    CHECK(s.app.run->recipe.fault == "no-d");
}

TEST_CASE("the picker finds a mistake by its words") {
    Stage s(preset("n4d3"));
    s.press(Key::P, kCtrl);
    s.frame();
    s.type("mistake not rescaled");
    s.frame();
    s.press(Key::Enter);
    s.settle();
    CHECK(s.app.run->recipe.fault == "no-rescale");
}

TEST_CASE("beside the comparison a mistake is switched off, its preset opened, and its first number shown") {
    Stage s(preset("n64"));
    choose_fault(s.app, find_fault("no-rescale"));
    s.settle();
    REQUIRE(s.app.run->departure);
    const auto switched_on = [&] {
        if (s.app.session.recipe().fault.empty()) choose_fault(s.app, find_fault("no-rescale"));
        s.settle();
        s.app.seek(0);
        s.frame();
    };
    CHECK(click_down(s, 1040, 400, 598, switched_on, [&] { return !s.app.run->fault; }));
    CHECK(click_down(s, 1150, 400, 598, switched_on,
                     [&] { return s.app.player->step() == s.app.run->first_difference && s.app.selected; }));
    const auto large = [&] {
        switched_on();
        frame_state(s.app).focus = find_panel("compare");
        s.frame(), s.frame();
    };
    CHECK(click_down(s, 260, 60, 590, large, [&] { return s.app.preset == find_preset("n4d3"); }));
    CHECK(s.app.run->recipe.fault == "no-rescale");
    CHECK(s.problem() == find_preset("n4d3")->problem);
}

TEST_CASE("where a run leaves the finite numbers is known, whether there is a kernel or not, and a click goes there") {
    Stage s(preset("extreme"));
    CHECK_FALSE(s.app.run->non_finite);
    choose_fault(s.app, find_fault("no-max"));
    s.settle();
    REQUIRE(s.app.run->non_finite);
    choose_kernel(s.app, {});
    s.settle();
    REQUIRE(s.app.run->non_finite);
    choose_algorithm(s.app, *find_algorithm("naive_softmax"));
    s.settle();
    REQUIRE(s.app.run->non_finite);
    const Version version = s.app.run->trace.versions[s.app.run->non_finite->version];
    CHECK(version.step > 0);
    const auto fresh = [&] {
        s.app.selected.reset();
        s.app.seek(0);
        s.frame();
    };
    CHECK(click_down(s, 1040, 400, 598, fresh, [&] { return s.app.player->step() == version.step && s.app.selected; }));
    CHECK(s.app.selected->tensor == version.tensor);
}

TEST_CASE("an infinity that is typed into an input is where the run leaves the finite numbers") {
    Stage s(preset("n4d3"));
    s.app.session.set_cell(InputMatrix::V, 0, 1, 2, parse_number("\u221E"));
    s.settle();
    REQUIRE(s.app.run->non_finite);
    CHECK(s.app.run->non_finite->cause == NonFinite::Cause::Given);
    CHECK(s.app.run->trace.versions[s.app.run->non_finite->version].step == 0);
}

TEST_CASE("a mask is chosen, typed and kept where it fits") {
    Stage s(preset("n4d3"));
    s.app.inputs_open = true;
    s.frame(), s.frame();
    const auto none = [] {};
    // The column of the mask's choices: none, keys, scores.
    REQUIRE(click_down(s, 290, 300, 480, none, [&] { return s.problem().mask == MaskShape::Keys; }));
    CHECK(s.app.run->recipe.inputs.mask == Matrix::Zero(1, 4));
    CHECK(own_state<InputsDraft>(s.app).matrix == static_cast<int>(InputMatrix::M));
    s.click(600, 191);  // M[1,1]
    s.type("-inf");
    s.press(Key::Enter);
    s.settle();
    CHECK(s.app.run->recipe.inputs.mask(0, 0) == -kInf);
    CHECK(own_state<InputsDraft>(s.app).error == "");
    CHECK_FALSE(s.app.session.warn_non_finite());
    // Keys become rows of scores, sizes keep what fits.
    Problem p = s.problem();
    p.mask = MaskShape::Scores;
    s.app.session.resize(p);
    s.settle();
    CHECK(s.app.run->recipe.inputs.mask.rows() == 4);
    CHECK((s.app.run->recipe.inputs.mask.col(0).array() == -kInf).all());
    p.nk = 6;
    s.app.session.resize(p);
    s.settle();
    CHECK(s.app.run->recipe.inputs.mask.cols() == 6);
    CHECK(s.app.run->recipe.inputs.mask(3, 0) == -kInf);
    CHECK(s.app.run->recipe.inputs.mask(3, 5) == 0);
    p.seed = 9;  // a mask is not random
    s.app.session.resize(p);
    s.settle();
    CHECK(s.app.run->recipe.inputs.mask(3, 0) == -kInf);
    p.mask = MaskShape::None;
    s.app.session.resize(p);
    s.settle();
    CHECK(s.app.session.error() == "");
    CHECK(s.app.run->recipe.inputs.mask.size() == 0);
}

TEST_CASE("masks and dO come from files that fit, and others are refused with both shapes") {
    Stage s(preset("n4d3"));
    const flashstep::testing::TemporaryFolder folder;
    const auto file = [&](const char* name, const char* text) {
        const std::string path = folder.file(name);
        std::ofstream(path) << text;
        return path;
    };
    load_matrix(s.app.session, InputMatrix::M, file("row.csv", "0,0,-inf,0\n"));
    s.settle();
    CHECK(s.problem().mask == MaskShape::Keys);
    CHECK(s.app.run->recipe.inputs.mask(0, 2) == -kInf);
    load_matrix(s.app.session, InputMatrix::M, file("column.csv", "0\n-inf\n0\n0\n"));
    s.settle();
    CHECK(s.app.run->recipe.inputs.mask(0, 1) == -kInf);
    load_matrix(s.app.session, InputMatrix::M, file("all.csv", "0,1,2,3\n0,0,0,0\n0,0,0,0\n0,0,0,5\n"));
    s.settle();
    CHECK(s.problem().mask == MaskShape::Scores);
    CHECK(s.app.run->recipe.inputs.mask(3, 3) == 5);
    CHECK(s.app.session.error() == "");
    CHECK_THROWS_WITH(load_matrix(s.app.session, InputMatrix::M, file("bad.csv", "0,1\n0,0\n")),
                      doctest::Contains("is 2 x 2; a mask of this problem is 1 x 4 (keys) or 4 x 4 (scores)"));
    load_matrix(s.app.session, InputMatrix::dO, file("do.csv", "1,2,3\n4,5,6\n7,8,9\n1,1,1\n"));
    s.settle();
    CHECK(s.app.run->recipe.inputs.dO[0](2, 1) == 8);
    CHECK(s.app.run->recipe.inputs.mask(3, 3) == 5);  // what keeps its shape stays
    s.app.session.set_cell(InputMatrix::dO, 0, 0, 0, 11);
    s.settle();
    CHECK(s.app.run->recipe.inputs.dO[0](0, 0) == 11);
}

TEST_CASE("numbers of cells are typed as they are shown") {
    for (const double value : {0.0, -1.5, 1e-7, kInf, -kInf, 12345678.0})
        CHECK(parse_number(cell_text(value)) == value);
    CHECK(std::isnan(parse_number(cell_text(NAN))));
    CHECK(cell_text(-kInf) == "\u2212\u221E");
    CHECK(parse_number("-inf") == -kInf);
}

TEST_CASE("the score map knows what masks hide") {
    Stage s(preset("hidden_first_tile"));
    const auto hidden = [&] {
        int cells = 0;
        for (const ScoreMap::Hidden& part : run_state<ScoreMap>(s.app).hidden) cells += part.rows * part.cols;
        return cells;
    };
    CHECK(hidden() == 4);  // two keys, two queries
    CHECK(run_state<ScoreMap>(s.app).hidden.size() == 1);
    s.app.open_preset(*find_preset("n64_causal"));
    s.settle();
    CHECK(hidden() == 4 * (16 * 15 / 2));  // in the tiles on the diagonal; those above it are skipped
    s.app.open_preset(*find_preset("n64"));
    s.settle();
    CHECK(hidden() == 0);
}

TEST_CASE("base-2 exponentials are offered where the algorithm has them, and the recipe stays one that runs") {
    Stage s(preset("n4d3"));
    s.app.inputs_open = true;
    s.frame(), s.frame();
    const auto none = [] {};
    REQUIRE(click_down(s, 382, 300, 420, none, [&] { return s.problem().base2; }));
    CHECK(s.app.session.error() == "");
    const gpu::KernelInfo* kernel = gpu::find_kernel(s.app.run->recipe.kernel);
    CHECK((!kernel || kernel->base2));
    CHECK(s.app.run->kernel_message == "");
    // An algorithm without them turns them off.
    choose_algorithm(s.app, *find_algorithm("fa1_forward"));
    s.settle();
    CHECK_FALSE(s.problem().base2);
    CHECK(s.app.session.error() == "");
    CHECK_FALSE(click_down(s, 382, 300, 420, none, [&] { return s.problem().base2; }));
}

TEST_CASE("a kernel that is chosen finds the exponentials and the format that it runs") {
    for (const gpu::KernelInfo& kernel : gpu::kernels()) {
        CAPTURE(kernel.id);
        Stage s(preset("n4d3"));
        if (!kernel.head_dims.empty()) {
            Problem p = s.problem();
            p.d = p.dv = kernel.head_dims.front();
            s.app.session.resize(p);
            s.settle();
        }
        choose_kernel(s.app, kernel.id);
        s.settle();
        CHECK(s.app.session.error() == "");
        CHECK(s.app.run->recipe.kernel == kernel.id);
        CHECK(s.app.run->recipe.algorithm == kernel.algorithm);
        CHECK(s.app.run->kernel_message == "");
        REQUIRE(s.app.run->comparison);
        CHECK(s.app.run->comparison->verdict == Verdict::Equal);
    }
}

TEST_CASE("every step but the inputs is explained while no cell is selected, loads and barriers too") {
    for (const char* id : {"n4d3", "n4d3_backward", "warps_split_k", "warps_split_q"}) {
        Stage s(preset(id));
        for (int p = 1; p <= s.app.player->count(); ++p) {
            CAPTURE(p);
            s.app.selected.reset();
            s.app.seek(s.app.player->step_at(p));
            s.frame();
            const Explained& kept = run_state<Explained>(s.app);
            const Step& step = s.app.player->current();
            if (step.version_begin < step.version_end) {
                REQUIRE(kept.telling);
                CHECK(s.app.run->trace.versions[version_of(s.app, *kept.telling).version].step == s.app.player->step());
            }
            if (p > 4) CHECK(kept.telling);
        }
    }
}
