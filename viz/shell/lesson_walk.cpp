// Text and trace move together.
#include "viz/shell/lesson_walk.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/error.h"
#include "lessons/evaluate.h"
#include "viz/shell/app_state.h"
#include "viz/shell/predict.h"

namespace flashstep::viz {
namespace {

constexpr double kLineSeconds = 0.45;  // a line on the way to a beat: its data's movement, and a moment to see it
constexpr double kBackSeconds = 0.12;  // a line on the way back
constexpr int kMostLines = 16;         // a longer way is no walk to be watched

struct LessonWalks {
    std::map<std::string, LessonWalk, std::less<>> by_id;
    CourseProgress kept;  // of the lessons that were not opened yet
};

LessonProgress progress_of(const LessonWalk& walk) {
    LessonProgress progress{walk.beat, walk.reached, {}};
    for (std::size_t b = 0; b < walk.progress.size(); ++b)
        if (walk.progress[b].done) progress.done.push_back(static_cast<int>(b));
    return progress;
}

// What is there of it: the lesson may have had more beats when it was read.
void take_progress(LessonWalk& walk, const LessonProgress& from) {
    const int last = static_cast<int>(walk.lesson.beats.size()) - 1;
    walk.beat = std::clamp(from.beat, 0, last);
    walk.reached = std::clamp(from.reached, walk.beat, last);
    for (const int b : from.done)
        if (b >= 0 && b <= last) walk.progress[static_cast<std::size_t>(b)].done = true;
}

const Beat& beat_of(const LessonWalk& walk, int beat) { return walk.lesson.beats[static_cast<std::size_t>(beat)]; }

// What makes two runs the same experiment to a reader: not where the kernel runs; which kernel, where scenes differ by
// it.
enum class Kernel { Counts, Any };
bool same_experiment(Recipe a, const Recipe& b, Kernel kernel) {
    a.where = b.where, a.target = b.target, a.recording = b.recording;
    if (kernel == Kernel::Any) a.kernel = b.kernel;
    return a == b;
}

void name_shown_scene(AppState& app, LessonWalk& walk) {
    if (walk.shown == app.run) return;
    walk.shown = app.run;
    walk.shown_scene.clear();
    for (const Kernel kernel : {Kernel::Counts, Kernel::Any})
        for (const Scene& scene : walk.lesson.scenes)
            if (walk.shown_scene.empty() && same_experiment(recipe_of(scene), app.run->recipe, kernel))
                walk.shown_scene = scene.name;
}

void show(AppState& app, const Scene& scene) {
    app.preset = scene.preset;
    app.show(recipe_of(scene));
}

std::optional<CellRef> cell_ref(const Trace& trace, const CellName& cell, int step) {
    int tensor = trace.find(cell.tensor, Space::Sram);
    if (tensor < 0 || trace.tile_at(tensor, step) < 0) tensor = trace.find(cell.tensor, Space::Hbm);
    if (tensor < 0 || cell.row >= trace.tensors[tensor].rows || cell.col >= trace.tensors[tensor].cols)
        return std::nullopt;
    return CellRef{tensor, cell.row, cell.col};
}

void select_explained(AppState& app, const LessonWalk& walk) {
    if (predicting(app)) return;  // the explained cell is the one that was asked for
    const Beat& beat = walk.marked();
    app.selected = beat.explain ? cell_ref(app.run->trace, *beat.explain, walk.step) : std::nullopt;
}

void rest_at_beat(AppState& app, LessonWalk& walk) {
    walk.travel_to = -1;
    walk.at_beat = true;
    walk.step = app.player->step();
    select_explained(app, walk);
}

// Starts on the way to the marked beat, or is there at once.
void arrive(AppState& app, LessonWalk& walk, bool watched) {
    walk.arriving = false;
    const int to = step_at(app.run->trace, walk.marked().at);
    app.player->set_playing(false);
    app.player->set_head(0);
    const int way = std::abs(to - app.player->step());
    if (watched && !app.ui.reduce_motion && way > 1 && way <= kMostLines) {
        walk.travel_to = to;
        walk.step = app.player->step();
        return;
    }
    app.seek(to);
    rest_at_beat(app, walk);
}

void travel(AppState& app, LessonWalk& walk) {
    const bool on = walk.travel_to > walk.step;
    if (app.time - app.step_time < (on ? kLineSeconds : kBackSeconds)) return;
    app.seek(walk.step + (on ? 1 : -1));
    walk.step = app.player->step();
    if (walk.step == walk.travel_to) rest_at_beat(app, walk);
}

void mark(LessonWalk& walk, int beat) {
    walk.moved |= walk.beat != beat;
    walk.beat = beat;
    walk.reached = std::max(walk.reached, beat);
}

// The last beat whose place is at or before the step; of several at one place the one that is nearest to the mark.
int beat_of_step(const LessonWalk& walk, const Trace& trace, int step) {
    int best = walk.beat, best_step = -1;
    for (int b = 0; b < static_cast<int>(walk.lesson.beats.size()); ++b) {
        const Place& at = beat_of(walk, b).at;
        if (at.scene != walk.shown_scene) continue;
        const int s = step_at(trace, at);
        const bool nearer = std::abs(b - walk.beat) < std::abs(best - walk.beat);
        if (s <= step && (s > best_step || (s == best_step && nearer))) best = b, best_step = s;
    }
    return best;
}

bool shows_scene(AppState& app, LessonWalk& walk, std::string_view scene) {
    name_shown_scene(app, walk);
    return walk.shown_scene == scene;
}

// The cursor to the link's place, which is in the scene that is shown.
void take_link(AppState& app, const Link& link) {
    const int step = step_at(app.run->trace, *link.place);
    app.player->set_playing(false);
    app.player->set_head(0);
    app.seek(step);
    if (link.cell) app.selected = cell_ref(app.run->trace, *link.cell, step);
}

void see_goal(AppState& app, LessonWalk& walk) {
    const Beat& beat = walk.marked();
    BeatProgress& progress = walk.progress[static_cast<std::size_t>(walk.beat)];
    if (!beat.try_it || progress.done || app.run->algorithm->id != walk.scenes.scene("main").recipe.algorithm) return;
    walk.scenes.stand_in("main", app.run);
    try {
        progress.done = holds(beat.try_it->goal, walk.scenes);
    } catch (const Error&) {}  // its places are not in what is shown: not reached
    walk.scenes.stand_in("main", nullptr);
}

}  // namespace

LessonWalk::LessonWalk(const Lesson& which) : lesson(which), scenes(which), progress(which.beats.size()) {
    for (std::size_t b = 0; b < which.beats.size(); ++b) {
        if (!which.beats[b].question) continue;
        for (std::size_t k = 0; k < which.beats[b].question->options.size(); ++k) progress[b].order.push_back(k);
    }
}

LessonWalk* lesson_walk(AppState& app) {
    if (!app.lesson) return nullptr;
    LessonWalks& walks = own_state<LessonWalks>(app);
    const auto [found, fresh] = walks.by_id.try_emplace(app.lesson->id, *app.lesson);
    if (fresh)
        if (const auto kept = walks.kept.find(app.lesson->id); kept != walks.kept.end())
            take_progress(found->second, kept->second);
    return &found->second;
}

CourseProgress course_progress(AppState& app) {
    const LessonWalks& walks = own_state<LessonWalks>(app);
    CourseProgress all = walks.kept;
    for (const auto& [id, walk] : walks.by_id) all[id] = progress_of(walk);
    return all;
}

void set_course_progress(AppState& app, const CourseProgress& progress) {
    LessonWalks& walks = own_state<LessonWalks>(app);
    walks.by_id.clear();
    walks.kept = progress;
    if (app.lesson) go_to_beat(app, lesson_walk(app)->beat);
}

void go_to_beat(AppState& app, int beat) {
    LessonWalk* walk = lesson_walk(app);
    if (!walk) return;
    mark(*walk, beat);
    walk->link.reset();
    walk->moved = true;
    walk->arriving = true;
    walk->at_beat = false;
    const std::string& scene = beat_of(*walk, beat).at.scene;
    if (app.run) name_shown_scene(app, *walk);
    if (app.run && walk->shown_scene == scene && !app.session.busy())
        arrive(app, *walk, true);
    else
        show(app, walk->scenes.scene(scene));
}

bool continue_lesson(AppState& app) {
    LessonWalk* walk = lesson_walk(app);
    if (!walk) return false;
    if (walk->travel_to >= 0 && app.player) {
        app.seek(walk->travel_to);
        rest_at_beat(app, *walk);
        return true;
    }
    if (walk->beat + 1 >= static_cast<int>(walk->lesson.beats.size())) return false;
    go_to_beat(app, walk->beat + 1);
    return true;
}

bool back_in_lesson(AppState& app) {
    const LessonWalk* walk = lesson_walk(app);
    if (!walk || walk->beat == 0) return false;
    go_to_beat(app, walk->beat - 1);
    return true;
}

bool shows_beat(AppState& app) {
    LessonWalk* walk = lesson_walk(app);
    if (!walk || !app.run) return true;
    return shows_scene(app, *walk, walk->marked().at.scene) && (!app.player || app.player->head() == 0);
}

const Recipe& recipe_of_beat(AppState& app) {
    LessonWalk& walk = *lesson_walk(app);
    return walk.scenes.scene(walk.marked().at.scene).recipe;
}

bool in_focus(AppState& app, const Tensor& tensor) {
    const LessonWalk* walk = lesson_walk(app);
    if (!walk || !walk->at_beat || !shows_beat(app)) return true;
    const std::vector<std::string>& focus = walk->marked().focus;
    const auto of_space = [&](const std::string& name) { return app.run->trace.find(name, tensor.space) >= 0; };
    return std::ranges::none_of(focus, of_space) || std::ranges::find(focus, tensor.name) != focus.end();
}

bool follow_link(AppState& app, std::string_view target) {
    LessonWalk* walk = lesson_walk(app);
    if (!walk || !app.player) return false;
    try {
        const Link link = parse_link(target);
        if (!link.lesson.empty()) {
            const Lesson* lesson = find_lesson(link.lesson);
            if (lesson) app.open_lesson(*lesson);
            return lesson;
        }
        if (!link.preset.empty()) {
            const Preset* preset = find_preset(link.preset);
            if (preset) app.show_preset(*preset);
            return preset;
        }
        if (shows_scene(app, *walk, link.place->scene)) {
            take_link(app, link);
        } else {
            show(app, walk->scenes.scene(link.place->scene));
            walk->link = link;
        }
        return true;
    } catch (const Error&) { return false; }
}

void follow_lesson(AppState& app) {
    LessonWalk* walk = lesson_walk(app);
    if (!walk || !app.player) return;
    if (walk->shown != app.run) {
        name_shown_scene(app, *walk);
        see_goal(app, *walk);
    }
    if (walk->link && !app.session.busy()) {
        const Link link = *std::exchange(walk->link, std::nullopt);
        try {
            if (walk->shown_scene == link.place->scene) take_link(app, link);
        } catch (const Error&) {}  // a place that is not in the scene; the course's tests find it
    }
    if (walk->arriving) {
        if (shows_scene(app, *walk, walk->marked().at.scene))
            arrive(app, *walk, false);
        else if (!app.session.busy())
            walk->arriving = false;  // it could not be made; the session says why
        return;
    }
    if (walk->travel_to >= 0 && app.player->step() == walk->step) return travel(app, *walk);
    if (app.player->step() == walk->step) return;
    walk->step = app.player->step();
    walk->travel_to = -1;
    walk->at_beat = false;
    if (walk->shown_scene.empty()) return;
    mark(*walk, beat_of_step(*walk, app.run->trace, walk->step));
    walk->at_beat = step_at(app.run->trace, walk->marked().at) == walk->step;
    if (walk->at_beat) select_explained(app, *walk);
}

}  // namespace flashstep::viz
