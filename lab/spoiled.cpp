// Compares a run with a mistake to the right one.
#include "lab/spoiled.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flashstep {
namespace {

// A mistake changes values and shapes, never what is written when: both traces have the same versions.
bool has(const Trace& trace, int version, int row, int col) {
    return version < static_cast<int>(trace.versions.size()) && row < trace.versions[version].rows &&
           col < trace.versions[version].cols;
}

double right_of(const Trace& right, int version, int row, int col) {
    if (!has(right, version, row, col)) return std::numeric_limits<double>::quiet_NaN();
    return right.value(right.versions[version])(row, col);
}

}  // namespace

bool differs(const Trace& wrong, const Trace& right, int version, int row, int col) {
    if (!has(right, version, row, col)) return true;
    const double x = wrong.value(wrong.versions[version])(row, col), y = right_of(right, version, row, col);
    return !(x == y || (std::isnan(x) && std::isnan(y)));
}

std::optional<Departure> departure_of(const Trace& wrong, const Trace& right) {
    const std::size_t both = std::min(wrong.versions.size(), right.versions.size());
    for (int v = 0; v < static_cast<int>(both); ++v)
        for (int r = 0; r < wrong.versions[v].rows; ++r)
            for (int c = 0; c < wrong.versions[v].cols; ++c)
                if (differs(wrong, right, v, r, c)) return Departure{v, r, c, right_of(right, v, r, c)};
    return std::nullopt;
}

std::optional<double> right_value(const Run& run, int version, int row, int col) {
    if (!run.right || version < 0 || !differs(run.trace, *run.right, version, row, col)) return std::nullopt;
    return right_of(*run.right, version, row, col);
}

Cells spoiled_cells(const Run& run, int version) {
    if (!run.right || version < 0) return {};
    const Version& v = run.trace.versions[version];
    Cells cells(v.rows, v.cols);
    for (int r = 0; r < v.rows; ++r)
        for (int c = 0; c < v.cols; ++c) cells(r, c) = differs(run.trace, *run.right, version, r, c);
    return cells.any() ? cells : Cells();
}

Cells spoiled_cells(const Run& run, int tensor, int step, int head) {
    if (!run.right) return {};
    const Trace& trace = run.trace;
    const Tensor& t = trace.tensors[tensor];
    Cells cells = Cells::Constant(t.rows, t.cols, false);
    for (int block = 0; block < t.blocks(); ++block) {
        const int version = trace.version_at(tensor, step, trace.copy_of(tensor, head), block);
        const Cells spoiled = spoiled_cells(run, version);
        if (spoiled.size() == 0) continue;
        const Trace::Range to = trace.block_range(tensor, block);
        const bool whole = trace.versions[version].block < 0;  // all blocks were written at once
        cells.block(to.row0, to.col0, to.rows, to.cols) =
            spoiled.block(whole ? to.row0 : 0, whole ? to.col0 : 0, to.rows, to.cols);
    }
    return cells.any() ? cells : Cells();
}

}  // namespace flashstep
