// The app in a window that only exists in numbers, for tests that click and type.
#pragma once

#include <imgui.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "viz/shell/frame.h"
#include "viz/shell/headless.h"
#include "viz/shell/start.h"

namespace flashstep::testing {

using namespace flashstep;
using namespace flashstep::viz;

// The app in a window of 1280 x 720 that only exists in numbers.
struct Stage {
    Headless screen;
    AppState app;
    double now = 0;
    std::function<void(Ui&)> draw = [this](Ui&) { run_frame(app, now += 1.0 / 60); };

    explicit Stage(const StartState& start = {}, float w = 1280, float h = 720, float scale = 1) : screen(w, h, scale) {
        take_ui(app, screen.ui);
        app.ui.reduce_motion = true;
        StartState from = start;
        if (from.layout.empty()) from.layout = "workbench";  // with every panel
        open_start(app, from);
        settle();
    }
    ImDrawData* frame() { return screen.frame(draw); }
    void settle() {
        for (int k = 0; k < 20000 && app.session.busy(); ++k) {
            app.update(now);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        frame(), frame(), frame();
    }
    void press(Key key, Modifiers with = {}) { screen.press(key, with, draw); }
    void click(float x, float y) { screen.click(x, y, draw); }
    void type(const char* text) {
        ImGui::GetIO().AddInputCharactersUTF8(text);
        frame();
    }
    int at() const { return app.player->position(); }
    const Problem& problem() const { return app.run->recipe.problem; }
};

}  // namespace flashstep::testing
