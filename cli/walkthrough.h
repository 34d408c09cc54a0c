// A trace as text: every step with its paper line, loop indices, tiles with their values, and the HBM bytes so far.
#pragma once

#include <string>

#include "core/algorithms.h"
#include "core/compare.h"

namespace flashstep::cli {

// A kernel's run of the same problem, shown beside the mirror's values.
struct KernelSide {
    const KernelRun* run;
    const Comparison* comparison;
    std::string label;  // "fa2_forward_1_tile on this CPU (host executor)"
};

// One line: sizes, blocks, scale, mask, format.
std::string problem_line(const Problem& problem);

// Where a kernel ran, in words that cannot be taken for another place.
std::string where_label(const KernelRun& run);

// `kernel` may be null. Softmax algorithms show one row, the first: the others do the same.
std::string walkthrough(const Algorithm& algorithm, const Trace& trace, const KernelSide* kernel);

// Pseudo-code with its formulas as plain text: "S_ij = tau Q_i K_j^T" from text with formulas between dollars.
std::string plain_line(std::string_view tex);

// Rows of text that stand side by side: the values of a matrix with aligned columns. Large ones are cut, with "...".
std::vector<std::string> matrix_rows(const Matrix& values);

}  // namespace flashstep::cli
