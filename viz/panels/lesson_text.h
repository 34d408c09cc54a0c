// What the parts of the lesson panel share: its texts, laid out once, and the questions and the end card among them.
#pragma once

#include <optional>
#include <unordered_map>

#include "viz/shell/app_state.h"
#include "viz/shell/lesson_walk.h"
#include "viz/text/markdown.h"

namespace flashstep::viz {

struct LessonPanel {
    const Lesson* lesson = nullptr;
    Language language = Language::English;
    std::unordered_map<const Prose*, MarkdownView> views;  // of the texts that were shown
    std::optional<CellRef> selected;                       // in the frame before

    // The text scrolls from `scroll_from` to `scroll_to`, beginning at `scroll_began`.
    float scroll_from = 0, scroll_to = 0;
    double scroll_began = -1;  // seconds; < 0: it rests
};

// The text with its numbers.
MarkdownView& view_of(LessonPanel& panel, LessonWalk& walk, const Prose& prose);
void draw_prose(AppState& app, LessonPanel& panel, LessonWalk& walk, const Prose& prose, Emphasis emphasis);

void draw_question(AppState& app, LessonPanel& panel, LessonWalk& walk, const Question& question,
                   BeatProgress& progress);
void draw_try(AppState& app, LessonPanel& panel, LessonWalk& walk, const TryIt& try_it, const BeatProgress& progress);
// After the last beat: the run in one line, what was left out, and where to go on.
void draw_end_card(AppState& app, LessonWalk& walk);
// What is shown is not what the text is about: what it is, and the way back.
void draw_banner(AppState& app, LessonWalk& walk);

}  // namespace flashstep::viz
