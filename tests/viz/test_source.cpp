// The source panel's CUDA beside nvcc's PTX: what stands there is what ran, and a click maps lines both ways.
#include <doctest/doctest.h>

#include "gpu/ptx/compile.h"
#include "lab/presets.h"
#include "tests/viz/stage.h"
#include "viz/panels/panels.h"
#include "viz/panels/source.h"
#include "viz/panels/where.h"

using namespace flashstep::testing;

namespace {

// Two instructions of line 12, one of line 7, and one whose line nothing says.
InstructionCounts some_counts() {
    InstructionCounts counts;
    counts.code = {
        {.entry = "kernel", .text = "mov.u32 %r1, 0;", .what = "integer", .file = "k.cuh", .line = 12, .warps = 3},
        {.label = "$L_1", .text = "add.s32 %r1, %r1, 1;", .what = "integer", .file = "k.cuh", .line = 12, .warps = 40},
        {.text = "ret;", .what = "control", .file = "k.cuh", .line = 7, .warps = 3},
        {.text = "nop;", .what = "control", .warps = 100}};
    return counts;
}

}  // namespace

TEST_CASE("a line of the source ran as often as its instructions, and labels and entries have rows of their own") {
    CHECK(line_counts(some_counts(), "k") == LineCounts{{6, {1, 3}}, {11, {2, 43}}});
    CHECK(line_counts(some_counts(), "other").empty());
    const std::vector<PtxRow> rows = rows_of(some_counts());
    REQUIRE(rows.size() == 6);
    CHECK(rows[0].kind == PtxRow::Kind::Entry);
    CHECK(rows[2].kind == PtxRow::Kind::Label);
    CHECK(rows[2].instruction == 1);
    CHECK(rows[5].kind == PtxRow::Kind::Instruction);
}

TEST_CASE("a click on a line of CUDA chooses it, one on an instruction its line, and another click lets go") {
    Stage s;
    s.app.source_view = SourceView::Ptx;
    frame_state(s.app).focus = find_panel("source");
    // The run that is shown, as if its kernel's code had been these: 40 instructions of line 2 of its source.
    Run run = make_run(recipe_of(*find_preset("n4d3")));
    for (int k = 0; k < 40; ++k)
        run.kernel_run->instructions.code.push_back(
            {.text = "nop;", .what = "control", .file = run.kernel_run->kernel + ".cuh", .line = 2, .warps = 1});
    s.app.run = std::make_shared<const Run>(std::move(run));
    s.app.player = std::make_unique<Player>(s.app.run->trace, 0);
    s.frame(), s.frame(), s.frame();
    const auto chosen = [&] { return run_state<PtxPane>(s.app).chosen; };
    CHECK(chosen() == -1);
    s.click(900, 400);  // in the right half: an instruction
    CHECK(chosen() == 1);
    s.click(900, 420);  // another of the same line
    CHECK(chosen() == -1);
    s.click(300, 400);  // in the left half: a line of the source
    const int line = chosen();
    CHECK(line > 1);
    s.click(300, 400);
    CHECK(chosen() == (line == 1 ? 1 : -1));
}

TEST_CASE("without a run of PTX the panel offers one, and with one it shows the kernel's own lines counted") {
    Stage s;
    s.app.source_view = SourceView::Ptx;
    s.frame(), s.frame();
    CHECK(s.app.run->kernel_run->instructions.code.empty());
    if (!gpu::ptx::why_not_compile().empty()) {
        MESSAGE("skipped: no nvcc here");
        return;
    }
    for (const RunPlace& place : run_places(s.app))
        if (place.where == Where::Ptx) choose_place(s.app, place);
    for (int k = 0; k < 60 && s.app.session.busy(); ++k) s.settle();
    REQUIRE(s.app.run->kernel_run);
    const KernelRun& run = *s.app.run->kernel_run;
    CHECK(run.where == Where::Ptx);
    CHECK(where_it_ran(s.app.ui, run).find("PTX") != std::string::npos);
    REQUIRE(!run.instructions.code.empty());
    CHECK(run.instructions.code.front().entry.find("NoProbe") != std::string::npos);
    CHECK(line_counts(s.app).size() > 20);
    s.frame(), s.frame();
}
