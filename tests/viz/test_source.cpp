// The source panel's CUDA beside nvcc's PTX: what stands there is what ran, and a click maps lines both ways.
#include <doctest/doctest.h>

#include "gpu/ptx/compile.h"
#include "tests/viz/stage.h"
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
    const std::map<int, std::int64_t> lines = counts_by_line(some_counts(), "k");
    CHECK(lines == std::map<int, std::int64_t>{{6, 3}, {11, 43}});
    CHECK(counts_by_line(some_counts(), "other").empty());
    const std::vector<PtxRow> rows = rows_of(some_counts());
    REQUIRE(rows.size() == 6);
    CHECK(rows[0].kind == PtxRow::Kind::Entry);
    CHECK(rows[2].kind == PtxRow::Kind::Label);
    CHECK(rows[2].instruction == 1);
    CHECK(rows[5].kind == PtxRow::Kind::Instruction);
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
    CHECK(counts_by_line(run.instructions, run.kernel).size() > 20);
    s.frame(), s.frame();
}
