// What panels share, kept in step with the session.
#include "viz/shell/app_state.h"

#include <algorithm>

#include "viz/shell/lesson_walk.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr double kTravelSeconds = 0.25;

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
    follow_lesson(*this);
}

void AppState::open_lesson(const Lesson& which) {
    lesson = &which;
    preset = which.scenes.front().preset;
    go_to_beat(*this, lesson_walk(*this)->beat);
}

void AppState::open_preset(const Preset& which, const Fault* fault) {
    if (lesson && lesson->scenes.front().preset != &which) lesson = nullptr;
    show_preset(which, fault);
}

void AppState::show_preset(const Preset& which, const Fault* fault) {
    selected.reset();
    preset = &which;
    show(recipe_of(which, {.fault = fault ? fault->id : std::string_view()}));
}

void AppState::show(Recipe recipe) {
    recipe.where = session.recipe().where, recipe.recording = session.recipe().recording;
    for (const Recording& other : session.recordings)  // the same device's
        if (other.device == recipe.recording.device && is_recording_of(other, recipe)) recipe.recording = other;
    session.request(std::move(recipe));
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
