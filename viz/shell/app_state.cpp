// What panels share, kept in step with the session.
#include "viz/shell/app_state.h"

#include <algorithm>

#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr double kTravelSeconds = 0.25;

// The resolved text of a lesson: its numbers come from its own preset, whatever is being shown.
std::string lesson_text_of(const Lesson& lesson, Language language) {
    const Preset* preset = find_preset(lesson.preset);
    if (!preset) throw Error("the lesson names no preset");
    const Algorithm* algorithm = find_algorithm(preset->algorithm);
    const Trace trace = record(*algorithm, preset->problem, preset->inputs(preset->problem));
    return resolve_text(lesson.text[static_cast<int>(language)], trace);
}

}  // namespace

float AppState::motion() const {
    if (!player || scrubbing || ui.reduce_motion || !player->moved_by_one_line()) return 1;
    return ease_out(static_cast<float>(std::clamp((time - step_time) / kTravelSeconds, 0.0, 1.0)));
}

void AppState::update(double now) {
    const double elapsed = now - time;
    time = now;
    if (session.poll()) {
        const int place = player ? player->position() : 0;
        const bool playing = player && player->playing();
        const double speed = player ? player->speed() : 0;
        const bool same_walk = run && run->recipe.algorithm == session.run()->recipe.algorithm &&
                               run->trace.steps.size() == session.run()->trace.steps.size();
        const int head = player ? player->head() : 0;
        run = session.shared_run();
        player = std::make_unique<Player>(run->trace, std::min(head, run->recipe.problem.total_heads() - 1));
        if (speed > 0) player->set_speed(speed);
        player->seek(player->step_at(same_walk ? place : std::min(place, player->count())));
        player->set_playing(playing && !player->at_end());
        if (!same_walk) selected.reset();
        hovered.reset();
        step_time = now - kTravelSeconds;
    }
    if (!player) return;
    const int before = player->step();
    player->tick(elapsed);
    if (player->step() != before) step_time = now;
}

void AppState::open_lesson(const Lesson& which) {
    lesson = &which;
    lesson_text = lesson_text_of(which, ui.language);
    if (const Preset* own = find_preset(which.preset)) open_preset(*own);
}

void AppState::open_preset(const Preset& which, const Fault* fault) {
    if (lesson && lesson->preset != which.id) {
        lesson = nullptr;
        lesson_text.clear();
    }
    selected.reset();
    preset = &which;
    Recipe recipe{.algorithm = std::string(which.algorithm),
                  .kernel = std::string(which.kernel),
                  .fault = fault ? std::string(fault->id) : std::string(),
                  .problem = which.problem,
                  .inputs = which.inputs(which.problem),
                  .where = session.recipe().where,
                  .recording = session.recipe().recording};
    for (const Recording& other : session.recordings)  // the same device's
        if (other.device == recipe.recording.device && is_recording_of(other, recipe)) recipe.recording = other;
    session.request(std::move(recipe));
}

void AppState::set_language(Language language) {
    ui.language = language;
    if (lesson) lesson_text = lesson_text_of(*lesson, language);
}

void AppState::seek(int step) {
    if (!player) return;
    const int before = player->step();
    player->seek(step);
    if (player->step() != before) step_time = time;
}

void AppState::move(void (Player::*how)(Unit), Unit unit) {
    if (!player) return;
    const int before = player->step();
    (player.get()->*how)(unit);
    player->set_playing(false);
    if (player->step() != before) step_time = time;
}

}  // namespace flashstep::viz
