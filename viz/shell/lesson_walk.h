// The reader's place in a lesson, kept in step with the cursor: which beat is marked, how far the text is shown, and
// what was answered.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/lessons.h"
#include "lessons/questions.h"
#include "lessons/scenes.h"

namespace flashstep::viz {

struct AppState;

// What was answered in a beat.
struct BeatProgress {
    std::string typed;
    std::vector<std::size_t> order;  // of the options, as they were arranged
    std::optional<Judgement> last;   // of the last answer
    std::size_t chosen = 0;          // the option of it
    int tries = 0;
    bool done = false;  // the right answer was given, or the goal reached
};

struct LessonWalk {
    explicit LessonWalk(const Lesson& which);
    LessonWalk(const LessonWalk&) = delete;

    const Lesson& lesson;
    Scenes scenes;
    int beat = 0;          // the marked one
    int reached = 0;       // the text is shown up to this one
    bool moved = true;     // the mark has moved since the panel was drawn
    bool replied = false;  // an answer was judged since: its reply is at the end of the beat
    std::vector<BeatProgress> progress;

    // ---- kept by follow_lesson()
    bool arriving = true;  // the marked beat's place is still to be taken
    int step = -1;         // where the beat, or the reader's hand, has put the cursor
    bool at_beat = false;  // the cursor is at the marked beat's place
    int travel_to = -1;    // the cursor runs line by line to this step; -1: it rests
    const Run* shown = nullptr;
    std::string shown_scene;  // what `shown` is; empty: none of the lesson's
};

// The open lesson's; null: none is open. What was read and answered in a lesson is kept when another is opened.
LessonWalk* lesson_walk(AppState& app);

// Marks a beat and goes to its place, to its scene first where another run is shown.
void go_to_beat(AppState& app, int beat);
// The next beat, or to the end of the way to this one. False: there is no lesson, or no further beat.
bool continue_lesson(AppState& app);
// Whether what is shown is what the marked beat is about.
bool shows_beat(AppState& app);

// Whether the marked beat looks at the tensor: while the cursor is where the beat is, those of its focus are, and all
// of a space (HBM, on chip) of which it names none.
bool in_focus(AppState& app, const Tensor& tensor);

// Follows a link of a text (lessons/place.h). False: there is no such place in what it leads to.
bool follow_link(AppState& app, std::string_view target);

// Takes the marked beat's place when its run is there; marks the beat of the step when a hand has moved the cursor;
// sees whether a goal is reached. Once per frame, after the cursor has moved.
void follow_lesson(AppState& app);

}  // namespace flashstep::viz
