// What a mistake spoils: the elements of a run that differ from the right algorithm's, and what stands there in it.
#pragma once

#include <optional>

#include "lab/run.h"

namespace flashstep {

// By equal bits: what a mistake does not touch is computed by the same operations. An element of a version of the wrong
// trace against the same of the right one.
bool differs(const Trace& wrong, const Trace& right, int version, int row, int col);
// The first of them all.
std::optional<Departure> departure_of(const Trace& wrong, const Trace& right);

// What the right run has in place of an element of Trace::versions, where it differs: NaN where it has no such element.
// nullopt: it is right, or the run has no mistake.
std::optional<double> right_value(const Run& run, int version, int row, int col);

// Which cells are wrong; of no rows and columns where none is.
using Cells = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
Cells spoiled_cells(const Run& run, int version);
// Of a matrix in HBM as it is at a step.
Cells spoiled_cells(const Run& run, int tensor, int step, int head);

}  // namespace flashstep
