// What a mistake spoils, of every mistake in its preset.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "lab/presets.h"
#include "lab/spoiled.h"

using namespace flashstep;

namespace {

Run run_of(const Fault& fault) {
    return make_run(
        recipe_of(*find_preset(fault.preset), {.algorithm = fault.algorithm, .kernel = "none", .fault = fault.id}));
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

TEST_CASE("a mistake leaves what is written when as it is, and its first wrong cell is the first that is spoiled") {
    for (const Fault& fault : faults()) {
        CAPTURE(std::string(fault.id));
        const Run run = run_of(fault);
        REQUIRE(run.right);
        REQUIRE(run.departure);
        const Trace &wrong = run.trace, &right = *run.right;
        REQUIRE(wrong.versions.size() == right.versions.size());
        int spoiled = 0;
        for (int v = 0; v < static_cast<int>(wrong.versions.size()); ++v) {
            const Version &a = wrong.versions[v], &b = right.versions[v];
            REQUIRE(a.tensor == b.tensor);
            REQUIRE(a.step == b.step);
            const Cells cells = spoiled_cells(run, v);
            CHECK((cells.size() == 0 || (cells.rows() == a.rows && cells.cols() == a.cols && cells.any())));
            spoiled += cells.size() > 0;
            if (v < run.departure->version) CHECK(cells.size() == 0);
            for (int r = 0; r < a.rows; ++r)
                for (int c = 0; c < a.cols; ++c) {
                    const bool marked = cells.size() > 0 && cells(r, c);
                    const bool there = r < b.rows && c < b.cols;
                    CHECK(marked == !(there && same(wrong.value(a)(r, c), right.value(b)(r, c))));
                    const std::optional<double> value = right_value(run, v, r, c);
                    CHECK(value.has_value() == marked);
                    if (value && there) CHECK(same(*value, right.value(b)(r, c)));
                    if (value && !there) CHECK(std::isnan(*value));
                }
        }
        CHECK(spoiled_cells(run, run.departure->version)(run.departure->row, run.departure->col));
        // What follows from a wrong number is wrong, too.
        if (fault.id == "no-rescale") CHECK(spoiled > 1);
    }
}

TEST_CASE("a matrix in HBM has the spoiled cells of its blocks, at the step that stored them and not before") {
    const Run run = run_of(*find_fault("no-rescale"));
    const Trace& trace = run.trace;
    const int o = trace.find("O", Space::Hbm);
    CHECK(spoiled_cells(run, o, 0, 0).size() == 0);
    const Cells end = spoiled_cells(run, o, static_cast<int>(trace.steps.size()) - 1, 0);
    const auto wrong = trace.matrix_at(o, static_cast<int>(trace.steps.size()) - 1, 0).values;
    const auto right = run.right->matrix_at(o, static_cast<int>(trace.steps.size()) - 1, 0).values;
    REQUIRE(end.size() == wrong.size());
    for (int r = 0; r < end.rows(); ++r)
        for (int c = 0; c < end.cols(); ++c) CHECK(end(r, c) == (wrong(r, c) != right(r, c)));
    CHECK(spoiled_cells(run, trace.find("Q", Space::Hbm), static_cast<int>(trace.steps.size()) - 1, 0).size() == 0);
}

TEST_CASE("without a mistake nothing is spoiled") {
    const Run run = make_run(recipe_of(*find_preset("n4d3"), {.kernel = "none"}));
    CHECK_FALSE(run.right);
    for (int v = 0; v < static_cast<int>(run.trace.versions.size()); ++v) {
        CHECK(spoiled_cells(run, v).size() == 0);
        CHECK_FALSE(right_value(run, v, 0, 0));
    }
}
