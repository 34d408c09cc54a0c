// Numbers out of the scenes: the value of an expression, and a text with its references replaced.
#pragma once

#include <string>
#include <vector>

#include "lessons/lesson.h"
#include "lessons/scenes.h"

namespace flashstep {

// Where a condition about cells is asked: row and col of the cell, from 0.
struct CellIndex {
    int row = 0, col = 0;
};

// Throws Error: no such scene, tensor, cell, place or count, with what there is.
double evaluate(const Expression& expression, Scenes& scenes, CellIndex index = {});
// The same of a condition: any number but 0 and NaN is true.
bool holds(const Expression& condition, Scenes& scenes, CellIndex index = {});

enum class Within { Text, Formula };
// As the style says, or as the cells show it: 3 significant digits, counts in full; signs as text or as TeX.
std::string number_text(double value, const NumberStyle& style, Within within);

// The text with its references replaced by numbers. Throws Error naming the file, the line and the reference.
std::string resolve(const Prose& prose, Language language, Scenes& scenes);

// The references of a text, with their lines. Throws Error naming file, line and reference.
std::vector<Expression> references_of(const Prose& prose, Language language, const Lesson& lesson);
// The targets of its links, "line=9,i=1,j=2", with their lines; not yet read.
struct LinkTarget {
    std::string text;
    int line;
};
std::vector<LinkTarget> links_of(const Prose& prose, Language language);

}  // namespace flashstep
