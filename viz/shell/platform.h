// The window: GLFW, OpenGL 3.3, scale, the frame loop, and frames drawn into an image.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "viz/shell/image.h"
#include "viz/shell/ui.h"

namespace flashstep::viz {

enum class Visible { No, Yes };

struct WindowOptions {
    std::string title = "flashstep";
    int width = 1280, height = 720;  // screen coordinates
    Visible visible = Visible::Yes;
    float scale = 0;  // 0: the monitor's content scale
};

// What a frame asks for: Idle sleeps until the next event, Animate draws again at once (at vsync).
enum class Pace { Idle, Animate };

class Window {
  public:
    // Throws Error saying why and what to do: no display, no OpenGL 3.3.
    explicit Window(const WindowOptions& options);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    Ui ui;  // mode, language and reduce_motion may be changed between and in frames

    // Draws frames until the window is closed. `draw` fills the area given by ImGui::GetIO().DisplaySize.
    void run(const std::function<Pace(Ui&)>& draw);
    void close();

    // Draws `frames` frames of the given size off screen, 1/60 s apart, and returns the last one. Not within a frame.
    Image capture(int width, int height, int frames, const std::function<void(Ui&)>& draw);

    // 0.5 to 3, on top of the content scale; fonts are baked again before the next frame.
    void set_zoom(float zoom);
    float zoom() const;

    // Ends the sleep of run(); any thread may call it while a window lives.
    static void wake();
    // True if a window can be opened here.
    static bool available();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace flashstep::viz
