// What the explanation keeps from frame to frame.
#pragma once

#include <optional>

#include "core/explain.h"
#include "viz/shell/app_state.h"

namespace flashstep::viz {

struct Explained {
    int version = -1, row = -1, col = -1;  // what `explanation` is about
    Language language = Language::English;
    Explanation explanation;
    int telling_step = -1;           // the step that `telling` belongs to
    std::optional<CellRef> telling;  // the cell that is explained while none is selected
};

}  // namespace flashstep::viz
