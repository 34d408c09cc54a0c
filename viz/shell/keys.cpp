// The keyboard.
#include <algorithm>
#include <optional>

#include "viz/panels/panels.h"
#include "viz/panels/tour.h"
#include "viz/shell/frame.h"
#include "viz/shell/input.h"
#include "viz/shell/lesson_walk.h"
#include "viz/shell/predict.h"

namespace flashstep::viz {
namespace {

constexpr Modifiers kCtrl{.ctrl = true, .shift = false, .alt = false};
constexpr Modifiers kCtrlShift{.ctrl = true, .shift = true, .alt = false};
constexpr Modifiers kShift{.ctrl = false, .shift = true, .alt = false};
constexpr float kZoomStep = 1.1f;

void set_zoom(AppState& app, float zoom) { app.zoom = std::clamp(zoom, 0.5f, 3.0f); }

// Whatever is open on top, the innermost first.
void escape(AppState& app) {
    FrameState& state = frame_state(app);
    if (app.picker_open || app.help_open || app.inputs_open || app.shelf_open)
        app.picker_open = app.help_open = app.inputs_open = app.shelf_open = false;
    else if (tour_runs(app))
        end_tour(app);
    else if (!app.session.error().empty() || !app.notice.empty())
        dismiss_notice(app);
    else if (predicting(app))
        stop_predicting(app);
    else if (state.focus)
        state.focus = nullptr;
    else
        app.selected.reset();
}

void open_alone(AppState& app, bool& which) {
    const bool open = !which;
    app.picker_open = app.help_open = app.inputs_open = app.shelf_open = false;
    which = open;
}

void move_keys(AppState& app) {
    struct Row {
        Modifiers with;
        Unit unit;
    };
    for (const Row& row : {Row{{}, Unit::Line}, Row{kShift, Unit::Tile}, Row{kCtrl, Unit::Block}}) {
        if (key_pressed(Key::Right, row.with, Repeat::Yes)) app.move(&Player::forward, row.unit);
        if (key_pressed(Key::Left, row.with, Repeat::Yes)) app.move(&Player::backward, row.unit);
    }
    if (!app.player) return;
    Player& player = *app.player;
    // Space goes on: in a lesson by its beats, else by playing.
    if (key_pressed(Key::K) || (key_pressed(Key::Space) && !app.lesson)) player.set_playing(!player.playing());
    if (key_pressed(Key::Space) && app.lesson) continue_lesson(app);
    if (key_pressed(Key::Backspace) && app.lesson) back_in_lesson(app);
    if (key_pressed(Key::Home)) player.set_playing(false), app.seek(player.first());
    if (key_pressed(Key::End)) player.set_playing(false), app.seek(player.last());
    if (key_pressed(Key::B)) player.toggle_bookmark();
    if (key_pressed(Key::P)) predict_key(app);
}

}  // namespace

void handle_keys(AppState& app) {
    if (key_pressed(Key::F1)) open_alone(app, app.help_open);
    if (key_pressed(Key::P, kCtrl)) open_alone(app, app.picker_open);
    if (key_pressed(Key::Escape) && !typing()) escape(app);
    if (key_pressed(Key::Plus, kCtrl)) set_zoom(app, app.zoom * kZoomStep);
    if (key_pressed(Key::Minus, kCtrl)) set_zoom(app, app.zoom / kZoomStep);
    if (key_pressed(Key::Num0, kCtrl)) set_zoom(app, 1);
    if (typing()) return;
    if (key_pressed(Key::Z, kCtrl)) app.session.undo();
    if (key_pressed(Key::Y, kCtrl) || key_pressed(Key::Z, kCtrlShift)) app.session.redo();
    if (key_pressed(Key::L)) toggle_language(app);
    if (key_pressed(Key::T)) toggle_theme(app);
    if (key_pressed(Key::S)) open_alone(app, app.shelf_open);
    if (app.picker_open || app.shelf_open) return;
    if (key_pressed(Key::W)) toggle_layout(app);
    move_keys(app);
    for (const Panel& panel : panels())
        for (const std::optional<Key>& key : {panel.key, panel.letter})
            if (key && key_pressed(*key)) toggle_focus(app, panel);
}

}  // namespace flashstep::viz
