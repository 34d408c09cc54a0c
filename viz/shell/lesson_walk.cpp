// Text and trace move together.
#include "viz/shell/lesson_walk.h"

#include <algorithm>

#include "core/error.h"
#include "lessons/evaluate.h"
#include "viz/shell/app_state.h"

namespace flashstep::viz {
namespace {

constexpr double kLineSeconds = 0.45;  // a line on the way to a beat: its data's movement, and a moment to see it
constexpr int kMostLines = 16;         // a longer way is no walk to be watched

struct LessonWalks {
    std::map<std::string, LessonWalk, std::less<>> by_id;
};

const Beat& beat_of(const LessonWalk& walk, int beat) { return walk.lesson.beats[static_cast<std::size_t>(beat)]; }
const Beat& marked_beat(const LessonWalk& walk) { return beat_of(walk, walk.beat); }

// What makes two runs the same experiment to a reader: not where the kernel runs, and not which kernel.
bool same_experiment(Recipe a, const Recipe& b) {
    a.kernel = b.kernel, a.where = b.where, a.target = b.target, a.recording = b.recording;
    return a == b;
}

void name_shown_scene(AppState& app, LessonWalk& walk) {
    if (walk.shown == app.run.get()) return;
    walk.shown = app.run.get();
    walk.shown_scene.clear();
    for (const Scene& scene : walk.lesson.scenes)
        if (walk.shown_scene.empty() && same_experiment(recipe_of(scene), app.run->recipe))
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
    const Beat& beat = marked_beat(walk);
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
    const int to = step_at(app.run->trace, marked_beat(walk).at);
    app.player->set_playing(false);
    app.player->set_head(0);
    const int way = to - app.player->step();
    if (watched && !app.ui.reduce_motion && way > 1 && way <= kMostLines) {
        walk.travel_to = to;
        walk.step = app.player->step();
        return;
    }
    app.seek(to);
    rest_at_beat(app, walk);
}

void travel(AppState& app, LessonWalk& walk) {
    if (app.time - app.step_time < kLineSeconds) return;
    app.seek(app.player->step() + 1);
    walk.step = app.player->step();
    if (walk.step >= walk.travel_to) rest_at_beat(app, walk);
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

void see_goal(AppState& app, LessonWalk& walk) {
    const Beat& beat = marked_beat(walk);
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
    auto& walks = own_state<LessonWalks>(app).by_id;
    return &walks.try_emplace(app.lesson->id, *app.lesson).first->second;
}

void go_to_beat(AppState& app, int beat) {
    LessonWalk* walk = lesson_walk(app);
    if (!walk) return;
    mark(*walk, beat);
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

bool shows_beat(AppState& app) {
    LessonWalk* walk = lesson_walk(app);
    if (!walk || !app.run) return true;
    name_shown_scene(app, *walk);
    return walk->shown_scene == marked_beat(*walk).at.scene;
}

bool in_focus(AppState& app, const Tensor& tensor) {
    const LessonWalk* walk = lesson_walk(app);
    if (!walk || !walk->at_beat || !shows_beat(app)) return true;
    const std::vector<std::string>& focus = marked_beat(*walk).focus;
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
        name_shown_scene(app, *walk);
        if (link.place->scene != walk->shown_scene) return false;
        const int step = step_at(app.run->trace, *link.place);
        app.player->set_playing(false);
        app.player->set_head(0);
        app.seek(step);
        if (link.cell) app.selected = cell_ref(app.run->trace, *link.cell, step);
        return true;
    } catch (const Error&) { return false; }
}

void follow_lesson(AppState& app) {
    LessonWalk* walk = lesson_walk(app);
    if (!walk || !app.player) return;
    if (walk->shown != app.run.get()) {
        name_shown_scene(app, *walk);
        see_goal(app, *walk);
    }
    if (walk->arriving) {
        if (shows_beat(app))
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
    walk->at_beat = step_at(app.run->trace, marked_beat(*walk).at) == walk->step;
    if (walk->at_beat) select_explained(app, *walk);
}

}  // namespace flashstep::viz
