// A pseudo-code table laid out in a column: words and formulas placed, lines broken where they do not fit.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/algorithms.h"
#include "core/faults.h"
#include "viz/shell/ui.h"

namespace flashstep::viz {

// One word or one formula. x and y (of the baseline) in design pixels from the line's top left corner.
struct PseudoPiece {
    std::string text;  // without dollars
    bool formula = false;
    float x = 0, y = 0;
};

struct PseudoRow {
    const PseudoLine* line = nullptr;
    float y = 0, height = 0;  // design pixels from the table's top
    float indent = 0;
    std::vector<PseudoPiece> pieces;
};

struct PseudoLayout {
    const Algorithm* algorithm = nullptr;
    const Fault* fault = nullptr;  // whose line shows what it changes
    Language language = Language::English;
    float width = 0;  // design pixels that it was made for
    float size = 0;   // of the formulas: the largest of 17, 14, 12 with which each formula fits a row
    float height = 0;
    std::vector<PseudoRow> rows;
};

constexpr float kPseudoGutter = 36;  // design pixels left of the text: marker and line number

// Text and formulas of "text with $formula$", in turn; a dollar without a partner is text.
struct TexPart {
    std::string_view text;
    bool formula;
};
std::vector<TexPart> split_tex(std::string_view tex);

// `margin`: design pixels kept free at the right for loop indices.
PseudoLayout layout_pseudo(Ui& ui, const Algorithm& algorithm, const Fault* fault, float width, float margin);

}  // namespace flashstep::viz
