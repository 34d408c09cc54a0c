// The course: an explicit ordered table of lessons, each a Markdown text per language over one preset.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/trace.h"

namespace flashstep {

// The texts are Markdown with mini-TeX between dollars, links to steps ([...](step:9), (tile:1,2) for i, j from 1, (line:9),
// and (cell:S_ij[1,2]@9)) and references to the lesson's trace: {{S_ij[1,2]@i=1,j=2}} stands for the value of that cell
// (counted from 1) of the tile at the last step of that tile, to three significant digits.
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
