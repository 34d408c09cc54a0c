// The app in its window, and its picture in a file.
#include "viz/shell/app.h"

#include <chrono>
#include <thread>
#include <vector>

#include "core/error.h"
#include "viz/panels/tour.h"
#include "viz/shell/frame.h"
#include "viz/shell/input.h"
#include "viz/shell/lesson_walk.h"
#include "viz/shell/platform.h"
#include "viz/shell/settings.h"
#include "viz/shell/start.h"

namespace flashstep::viz {
namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// True while the next frame will look different although nobody does anything.
bool moving(AppState& app) {
    const LessonWalk* walk = lesson_walk(app);
    if (walk && (walk->travel_to >= 0 || walk->scrolling)) return true;
    return (app.player && (app.player->playing() || app.motion() < 1)) || app.session.busy() || app.ui.hot.changed();
}

// One frame in a window. An error of a panel or of an action is shown in the app, which stays alive.
void window_frame(AppState& app, Window& window, Ui& ui, double now) {
    take_ui(app, ui);
    run_frame(app, now);
    ui.mode = app.ui.mode;
    ui.language = app.ui.language;
    window.set_zoom(app.zoom);
}

constexpr int kGestureFrames = 20;  // from one to the next

// What a hand does, a part of it in each frame.
void make_gestures(const std::vector<Gesture>& gestures, int frame) {
    const auto index = static_cast<std::size_t>(frame / kGestureFrames);
    if (index >= gestures.size()) return;
    const Gesture& gesture = gestures[index];
    const int part = frame % kGestureFrames;
    const bool down = part == 4, up = part == 6;
    if (gesture.click && part == 0) feed_mouse(gesture.x, gesture.y);
    if (gesture.click && (down || up)) feed_button(0, down);
    if (gesture.click || !(down || up)) return;
    feed_modifiers(down ? gesture.modifiers : Modifiers{});
    feed_key(gesture.key, down);
}

}  // namespace

bool display_available() { return Window::available(); }

int run_app(const StartState& start) {
    Window window({});
    AppState app;
    app.session.on_finished = [] { Window::wake(); };
    app.zoom = window.zoom();
    SettingsKeeper settings(settings_file());
    if (const auto left = settings.read(app)) {
        open_settings(app, *left);
    } else {
        open_start(app, start);
        start_tour(app);
    }
    window.ui.mode = app.ui.mode;
    window.ui.language = app.ui.language;
    const double began = seconds();
    window.run([&](Ui& ui) {
        window_frame(app, window, ui, seconds() - began);
        settings.keep(app);
        return moving(app) ? Pace::Animate : Pace::Idle;
    });
    return 0;
}

void write_shot(const StartState& start, int width, int height, const std::string& file) {
    Window window({.width = width, .height = height, .visible = Visible::No, .scale = 1});
    AppState app;
    app.ui.reduce_motion = true;  // everything at rest
    open_start(app, start);
    window.ui.mode = app.ui.mode;
    while (app.session.busy()) {
        app.update(0);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    app.update(0);
    if (!app.player) throw Error("there is nothing to show: " + app.session.error().en);
    if (start.step) {
        if (*start.step > app.player->count())
            throw Error("--step is " + std::to_string(*start.step) + ", but the walk has " +
                        std::to_string(app.player->count()) + " steps");
        app.player->seek(*start.step);
    }
    double now = 0;
    const std::vector<Gesture> gestures = parse_gestures(start.press);
    int frame = 0;
    const auto draw = [&](Ui& ui) {
        window_frame(app, window, ui, now += 1.0 / 60);
        make_gestures(gestures, frame++);
    };
    // Scrolling and sizes that depend on the frame before need some frames to come to rest.
    write_png(file, window.capture(width, height, 90 + kGestureFrames * static_cast<int>(gestures.size()), draw));
}

}  // namespace flashstep::viz
