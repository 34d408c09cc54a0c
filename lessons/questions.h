// Judging answers: what is right comes from the lesson's scenes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/lesson.h"
#include "lessons/scenes.h"

namespace flashstep {

enum class Answer {
    Right,
    Wrong,
    TooRough,    // Value: it would round to the number, but says too few digits of it
    Unreadable,  // Value: no number
};

struct Judgement {
    Answer answer = Answer::Wrong;
    const Prose* reply = nullptr;  // of a wrong answer that is known, or the explanation; null: none
};

// A typed number against the right one. `given`, if asked for, gets what was read. Not for `Unreadable`.
Answer judge_number(double right, std::string_view typed, double* given = nullptr);
// A typed number: right if the answer rounds to it, with two significant digits or as many as the answer has.
Judgement judge_value(const Question& question, std::string_view typed, Scenes& scenes);
// An option of Choice and Breaks.
Judgement judge_option(const Question& question, std::size_t chosen, Scenes& scenes);
// A cell (from 0) of the tensor `tensor`.
Judgement judge_cell(const Question& question, const CellName& cell, Scenes& scenes);
// The options in the order that was chosen.
Judgement judge_order(const Question& question, std::span<const std::size_t> order, Scenes& scenes);

// Which options are right (exactly one in a sound question), which cells are, and the right order.
std::vector<std::size_t> right_options(const Question& question, Scenes& scenes);
std::vector<CellName> right_cells(const Question& question, Scenes& scenes);
std::vector<std::size_t> right_order(const Question& question, Scenes& scenes);

// Changes a cell of a recipe's inputs, "Q[1,1] = 3", or a size by its key in the front matter, "bc = 4". Throws Error.
void make_change(Recipe& recipe, std::string_view change);

}  // namespace flashstep
