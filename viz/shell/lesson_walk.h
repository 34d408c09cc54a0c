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
    int beat = 0;            // the marked one
    int reached = 0;         // the text is shown up to this one
    bool moved = true;       // the mark has moved since the panel was drawn
    bool replied = false;    // an answer was judged since: its reply is at the end of the beat
    bool scrolling = false;  // the text is on its way to the marked beat
    std::vector<BeatProgress> progress;
    const Beat& marked() const { return lesson.beats[static_cast<std::size_t>(beat)]; }

    // ---- kept by follow_lesson()
    bool arriving = true;      // the marked beat's place is still to be taken
    int step = -1;             // where the beat, or the reader's hand, has put the cursor
    bool at_beat = false;      // the cursor is at the marked beat's place
    int travel_to = -1;        // the cursor runs line by line to this step; -1: it rests
    std::optional<Link> link;  // that was followed into a scene which is not shown yet
    std::shared_ptr<const Run> shown;
    std::string shown_scene;  // what `shown` is; empty: none of the lesson's
};

// What was read and answered of a lesson, as it is kept between runs of the program. Beats count from 0.
struct LessonProgress {
    int beat = 0, reached = 0;
    std::vector<int> done;  // whose question was answered or whose goal was reached
    bool operator==(const LessonProgress&) const = default;
};
using CourseProgress = std::map<std::string, LessonProgress, std::less<>>;  // by id; a lesson without one is unread

CourseProgress course_progress(AppState& app);
// Takes the place of all that was read and answered, in the open lesson too.
void set_course_progress(AppState& app, const CourseProgress& progress);

// The open lesson's; null: none is open. What was read and answered in a lesson is kept when another is opened.
LessonWalk* lesson_walk(AppState& app);

// Marks a beat and goes to its place, to its scene first where another run is shown.
void go_to_beat(AppState& app, int beat);
// The next beat, or to the end of the way to this one. False: there is no lesson, or no further beat.
bool continue_lesson(AppState& app);
// The beat before. False: there is none.
bool back_in_lesson(AppState& app);
// Whether what is shown is what the marked beat is about.
bool shows_beat(AppState& app);
// What the marked beat's scene runs.
const Recipe& recipe_of_beat(AppState& app);

// Whether the marked beat looks at the tensor: while the cursor is where the beat is, those of its focus are, and all
// of a space (HBM, on chip) of which it names none.
bool in_focus(AppState& app, const Tensor& tensor);

// Follows a link of a text (lessons/place.h). False: there is no such place in what it leads to.
bool follow_link(AppState& app, std::string_view target);

// Takes the marked beat's place when its run is there; marks the beat of the step when a hand has moved the cursor;
// sees whether a goal is reached. Once per frame, after the cursor has moved.
void follow_lesson(AppState& app);

}  // namespace flashstep::viz
