// Why a cell holds its value: the formula with symbols, then with numbers.
#pragma once

#include <string>
#include <vector>

#include "core/text.h"
#include "core/trace.h"

namespace flashstep {

struct Explanation {
    std::string cell;     // mini-TeX of the cell: "S_{ij}[1,2]", indices from 1 within the tile
    std::string symbols;  // mini-TeX right-hand side with symbols
    std::string numbers;  // mini-TeX right-hand side with numbers; empty for a value that was given or moved
    double value = 0;
    int step = 0, line = 0;     // of the write
    std::vector<int> operands;  // versions that the expression reads, each once, in order of appearance
};

// Of the cell (0-based) of a written version. Numbers have `digits` significant digits; sums of more than `most_terms`
// terms are cut after the first ones, with the number of all terms. Throws Error for a cell outside the version.
Explanation explain(const Trace& trace, int version, int row, int col, Language language = Language::English,
                    int digits = 4, int most_terms = 8);

// The versions that an expression reads.
std::vector<int> operands_of(const Trace& trace, int expr);

}  // namespace flashstep
