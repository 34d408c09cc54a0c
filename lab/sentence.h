// What a step does, in a sentence: what moved, from where, how many bytes, what changed and why. In both languages,
// from the step view and the expressions; the words of computations stand with their operations, in core/ops.
#pragma once

#include <vector>

#include "core/algorithms.h"
#include "core/ops/teller.h"
#include "lab/step_view.h"

namespace flashstep {

// One thing that the step does. Names stand between dollars, as in the pseudo-code.
struct Clause {
    Sentence where;    // "From HBM", "Row 2"; empty: nowhere in particular. Neighbours share it
    Sentence text;     // "$K_j$ <- rows 3-4 of $K$, 24 B"
    int change = -1;   // the first of StepView::changes that it tells of; -1: none (a loop, a barrier)
    int version = -1;  // what was assigned, and its row
    int row = -1;
    bool aside = false;  // a copy that is kept for later: what else there is to say matters more
    std::vector<Figure> figures = {};
};

struct StepSentence {
    std::vector<Clause> clauses;  // in the order of the changes; never empty
    Sentence whole() const;
    Sentence of(const Clause& clause) const;  // alone, with its place
};

// `row`: of the tiles, which to tell of (0-based); -1: where the most happens.
StepSentence sentence_of(const Algorithm& algorithm, const Trace& trace, const StepView& view, int row = -1);

}  // namespace flashstep
