// The course: an explicit ordered table of lessons, each a Markdown text per language over one preset.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/trace.h"

namespace flashstep {

// The texts are Markdown with mini-TeX between dollars, links into the walk, [...](step:9), (tile:1,2) for i, j from 1,
// (line:9), (cell:S_ij[1,2]@9) for a cell at a step, and references that stand for numbers of the lesson's own trace:
//   {{S_ij[1,2]@i=1,j=2}}  a cell (from 1) of a tile as last written in that iteration; {{m_i[2]@i=1}} outside the inner loop
//   {{O[1,2]}}             a cell of a matrix in HBM at the end
//   {{exp(m_old[2] - m_i[2])@i=1,j=2}}
//   {{bytes:K}} {{bytes:all.read}} {{bytes:standard}} {{steps}}
struct Lesson {
    std::string_view id;
    std::string_view title[2];  // English, Chinese
    std::string_view preset;
    std::string_view text[2];
};

std::span<const Lesson> lessons();
const Lesson* find_lesson(std::string_view id);  // nullptr: unknown

// The text with its references replaced by numbers of `trace`. Throws Error naming the reference: unknown tensor, no such
// tile or cell, malformed.
std::string resolve_text(std::string_view text, const Trace& trace);

}  // namespace flashstep
