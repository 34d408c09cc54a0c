// Places in a walk, written with the paper's lines and loop indices instead of step numbers: "line=9 i=1 j=2".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/trace.h"

namespace flashstep {

// A cell by the name of its tensor, row and column from 0.
struct CellName {
    std::string tensor;
    int row = 0, col = 0;
    bool operator==(const CellName&) const = default;
};

// After a line of the pseudo-code has run in an iteration of the loops; everything counts from 1, 0 is not said.
struct Place {
    enum class Kind { Start, Line, End };  // before the first line, after a line, after the last
    Kind kind = Kind::Start;
    std::string scene = "main";
    int line = 0, i = 0, j = 0, w = 0;
    bool operator==(const Place&) const = default;
};

// Where a link of a text leads.
struct Link {
    std::optional<Place> place;
    std::optional<CellName> cell;  // to be explained there
    std::string lesson, preset;    // instead of a place: what it opens
};

// "start", "end", "line=9 i=1 j=2", "scene=wrong line=9 i=1 j=2", with commas or spaces between. Throws Error.
Place parse_place(std::string_view text);
// A place, with "cell=S_ij[1,2]" if a cell is meant, "lesson=ID" or "preset=ID". Throws Error.
Link parse_link(std::string_view text);
// "S_ij[1,2]", "m_i[2]". Throws Error.
CellName parse_cell(std::string_view text);
std::string place_text(const Place& place);  // as it is written, with spaces

// The step of the first head after which the walk is at the place. Throws Error where there is none or more than one,
// with what there is.
int step_at(const Trace& trace, const Place& place);

// The value of a cell after a step of the first head. Throws Error: no such tensor or cell, not on chip, not yet
// written.
double value_at(const Trace& trace, const CellName& cell, int step);
// The value that it has in the end: of a matrix in HBM, or of a tile that is written in one iteration of i alone.
double last_value(const Trace& trace, const CellName& cell);

}  // namespace flashstep
