// A Dear ImGui context without window or GL: panels draw and are clicked in tests.
#pragma once

#include <functional>

#include "viz/shell/input.h"
#include "viz/shell/ui.h"

struct ImDrawData;
struct ImGuiContext;

namespace flashstep::viz {

class Headless {
  public:
    // Builds the fonts. One Headless at a time in a thread.
    explicit Headless(float width = 1280, float height = 720, float scale = 1);
    ~Headless();
    Headless(const Headless&) = delete;
    Headless& operator=(const Headless&) = delete;

    Ui ui;

    // One frame of 1/60 s: `draw` is called inside one full-screen window. Returns the frame's draw data.
    ImDrawData* frame(const std::function<void(Ui&)>& draw);
    // Frames that move the mouse there, press, and let go.
    void move(float x, float y, const std::function<void(Ui&)>& draw);
    void click(float x, float y, const std::function<void(Ui&)>& draw);
    void press(Key key, Modifiers modifiers, const std::function<void(Ui&)>& draw);
    void resize(float width, float height);

  private:
    ImGuiContext* context_;
    ImGuiContext* previous_;
};

}  // namespace flashstep::viz
