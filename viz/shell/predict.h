// Predict: before a line runs, its reader says what it will write. The cursor rests before the next line that computes;
// when the answer was given, or given up, it goes on, and the explanation is about that cell.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/run.h"
#include "lessons/questions.h"
#include "viz/shell/app_state.h"

namespace flashstep::viz {

struct Prediction {
    bool on = false;
    std::shared_ptr<const Run> run;  // what is asked about
    int before = -1, step = -1;      // the cursor rests at `before`; `step` computes. -1: no further line computes
    std::vector<int> versions;       // what the step computes on chip
    int version = -1;                // of them the one that is asked for, with a cell of it
    int row = 0, col = 0;
    std::vector<double> options;  // to pick from, ascending; fewer than two: there is nothing to pick
    std::string typed;
    std::optional<Answer> last;  // to the last answer
    bool was_old = false;        // it was what the cell held before
    bool revealed = false;
};

Prediction& prediction(AppState& app);
bool predicting(AppState& app);
// P: on; with an answer on the screen the next question; off.
void predict_key(AppState& app);
void stop_predicting(AppState& app);
// Asks for another cell of what the step computes.
void ask_for(AppState& app, int version, int row, int col);
void answer_prediction(AppState& app, double picked);
void answer_prediction(AppState& app);  // with what was typed
// Goes on to the step, and to the explanation of the cell.
void reveal_prediction(AppState& app);
// Asks anew where a hand has moved the cursor or changed the run. Once per frame.
void follow_prediction(AppState& app);

}  // namespace flashstep::viz
