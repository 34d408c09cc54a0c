// GLFW and OpenGL behind the window: creation with errors that say what to do, sleeping loop, off-screen frames.
#include "viz/shell/platform.h"

#include <imgui.h>
#define GLFW_INCLUDE_GLCOREARB
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <set>
#include <thread>

#include "core/error.h"

namespace flashstep::viz {
namespace {

// GLFW is initialised while any window lives.
class Library {
  public:
    Library() {
        // A virtual display restarts when its last client leaves (as the probe of available() does) and refuses for a
        // moment.
        const char* display = std::getenv("DISPLAY");
        bool ready = glfwInit() == GLFW_TRUE;
        for (int k = 0; k < 5 && !ready && display && *display; ++k) {
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
            ready = glfwInit() == GLFW_TRUE;
        }
        if (!ready) {
            const char* why = nullptr;
            glfwGetError(&why);
            throw Error(std::string("cannot open a window: ") + (why ? why : "no window system"),
                        "Start it on a desktop, or under a virtual display: xvfb-run -a flashstep ...");
        }
    }
    ~Library() { glfwTerminate(); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
};

// The GL functions that are used here; Dear ImGui's back end has its own.
struct Gl {
    PFNGLVIEWPORTPROC Viewport;
    PFNGLCLEARCOLORPROC ClearColor;
    PFNGLCLEARPROC Clear;
    PFNGLREADPIXELSPROC ReadPixels;
    PFNGLPIXELSTOREIPROC PixelStorei;
    PFNGLGENFRAMEBUFFERSPROC GenFramebuffers;
    PFNGLDELETEFRAMEBUFFERSPROC DeleteFramebuffers;
    PFNGLBINDFRAMEBUFFERPROC BindFramebuffer;
    PFNGLGENRENDERBUFFERSPROC GenRenderbuffers;
    PFNGLDELETERENDERBUFFERSPROC DeleteRenderbuffers;
    PFNGLBINDRENDERBUFFERPROC BindRenderbuffer;
    PFNGLRENDERBUFFERSTORAGEPROC RenderbufferStorage;
    PFNGLFRAMEBUFFERRENDERBUFFERPROC FramebufferRenderbuffer;
    PFNGLCHECKFRAMEBUFFERSTATUSPROC CheckFramebufferStatus;

    void load() {
        get(Viewport, "glViewport");
        get(ClearColor, "glClearColor");
        get(Clear, "glClear");
        get(ReadPixels, "glReadPixels");
        get(PixelStorei, "glPixelStorei");
        get(GenFramebuffers, "glGenFramebuffers");
        get(DeleteFramebuffers, "glDeleteFramebuffers");
        get(BindFramebuffer, "glBindFramebuffer");
        get(GenRenderbuffers, "glGenRenderbuffers");
        get(DeleteRenderbuffers, "glDeleteRenderbuffers");
        get(BindRenderbuffer, "glBindRenderbuffer");
        get(RenderbufferStorage, "glRenderbufferStorage");
        get(FramebufferRenderbuffer, "glFramebufferRenderbuffer");
        get(CheckFramebufferStatus, "glCheckFramebufferStatus");
    }

  private:
    template <typename F>
    static void get(F& function, const char* name) {
        function = reinterpret_cast<F>(glfwGetProcAddress(name));
        if (!function)
            throw Error(std::string("cannot open a window: OpenGL lacks ") + name, "Update the graphics driver.");
    }
};

// A frame after which nothing moves is followed by two more, in which Dear ImGui settles.
constexpr int kSettleFrames = 3;
constexpr double kSleep = 0.5, kSleepTyping = 0.1;  // seconds; the text cursor blinks

#if IMGUI_VERSION_NUM < 18700
// Dear ImGui 1.86 only knows which keys are down when a frame starts: a key that is pressed and released between two
// frames would be lost where frames are slow. Events wait here, and a key changes at most once in a frame.
class KeyQueue {
  public:
    void attach(GLFWwindow* window) {
        glfwSetWindowUserPointer(window, this);
        glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
            static_cast<KeyQueue*>(glfwGetWindowUserPointer(w))->events_.push_back({key, scancode, action, mods});
        });
    }
    // Before a frame.
    void deliver(GLFWwindow* window) {
        std::set<int> changed;
        bool pressed = false;
        while (!events_.empty()) {
            const Event e = events_.front();
            // A release waits for the frame after a press: Ctrl must still be down when its key is seen.
            if ((pressed && e.action == GLFW_RELEASE) || !changed.insert(e.key).second) break;
            pressed = pressed || e.action == GLFW_PRESS;
            events_.pop_front();
            ImGui_ImplGlfw_KeyCallback(window, e.key, e.scancode, e.action, e.mods);
        }
    }
    // After a frame: some have to wait for the next one.
    bool waiting() const { return !events_.empty(); }

  private:
    struct Event {
        int key, scancode, action, mods;
    };
    std::deque<Event> events_;
};
#else
class KeyQueue {  // newer ones keep such a queue themselves
  public:
    void attach(GLFWwindow*) {}
    void deliver(GLFWwindow*) {}
    bool waiting() const { return !ImGui::GetCurrentContext()->InputEventsQueue.empty(); }
};
#endif

}  // namespace

struct Window::Impl {
    Library library;
    GLFWwindow* window = nullptr;
    ImGuiContext* context = nullptr;
    Gl gl{};
    WindowOptions options;
    float zoom = 1;
    float built_scale = 0;      // of the fonts in the atlas
    bool have_texture = false;  // of the fonts on the GPU
    ThemeMode styled = ThemeMode::Dark;
    KeyQueue keys;

    float wanted_scale() const {
        if (options.scale > 0) return options.scale * zoom;
        float x = 1, y = 1;
        glfwGetWindowContentScale(window, &x, &y);
        // Where a screen coordinate is several pixels, the back end scales already.
        int width = 0, height = 0, fb_width = 0, fb_height = 0;
        glfwGetWindowSize(window, &width, &height);
        glfwGetFramebufferSize(window, &fb_width, &fb_height);
        const float ratio = width > 0 && fb_width > 0 ? static_cast<float>(fb_width) / static_cast<float>(width) : 1;
        return std::clamp(x / ratio, 0.5f, 4.0f) * zoom;
    }

    // Fonts and style follow scale and theme; called between frames.
    void refresh(Ui& ui) {
        const float scale = wanted_scale();
        if (scale != built_scale) {
#if IMGUI_VERSION_NUM < 19200
            if (have_texture) ImGui_ImplOpenGL3_DestroyFontsTexture();
#endif
            ui.fonts = build_fonts(*ImGui::GetIO().Fonts, scale);
            ui.formulas.clear();
#if IMGUI_VERSION_NUM < 19200
            ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
            have_texture = true;
            ImGui::GetIO().FontDefault = ui.fonts.body;
        }
        if (scale != built_scale || ui.mode != styled) apply_style(ui.theme(), scale);
        styled = ui.mode;
        built_scale = ui.scale = scale;
    }

    void clear(const Ui& ui, int width, int height) const {
        const Rgb c = ui.theme().ground;
        gl.Viewport(0, 0, width, height);
        gl.ClearColor(c.r, c.g, c.b, 1);
        gl.Clear(GL_COLOR_BUFFER_BIT);
    }
};

Window::Window(const WindowOptions& options) : impl_(std::make_unique<Impl>()) {
    Impl& w = *impl_;
    w.options = options;
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_VISIBLE, options.visible == Visible::Yes ? GLFW_TRUE : GLFW_FALSE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    w.window = glfwCreateWindow(options.width, options.height, options.title.c_str(), nullptr, nullptr);
    if (!w.window) {
        const char* why = nullptr;
        glfwGetError(&why);
        throw Error(std::string("cannot open a window: ") + (why ? why : "no OpenGL 3.3 context"),
                    "flashstep needs OpenGL 3.3. Install the graphics driver; software rendering works too "
                    "(apt-get install libgl1-mesa-dri, LIBGL_ALWAYS_SOFTWARE=1).");
    }
    glfwMakeContextCurrent(w.window);
    try {
        w.gl.load();
        glfwSwapInterval(options.visible == Visible::Yes ? 1 : 0);
        w.context = ImGui::CreateContext();
        ImGui::SetCurrentContext(w.context);
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;  // the app keeps its own settings
        io.LogFilename = nullptr;
        ImGui_ImplGlfw_InitForOpenGL(w.window, true);
        w.keys.attach(w.window);
        if (!ImGui_ImplOpenGL3_Init("#version 330 core")) {
            throw Error("cannot open a window: OpenGL 3.3 did not start", "Update the graphics driver.");
        }
    } catch (...) {
        if (w.context) ImGui::DestroyContext(w.context);
        glfwDestroyWindow(w.window);
        throw;
    }
}

Window::~Window() {
    Impl& w = *impl_;
    ImGui::SetCurrentContext(w.context);
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext(w.context);
    glfwDestroyWindow(w.window);
}

void Window::run(const std::function<Pace(Ui&)>& draw) {
    Impl& w = *impl_;
    int due = kSettleFrames;
    while (!glfwWindowShouldClose(w.window)) {
        if (glfwGetWindowAttrib(w.window, GLFW_ICONIFIED)) {
            glfwWaitEvents();
            due = kSettleFrames;
            continue;
        }
        if (due > 0) {
            glfwPollEvents();
        } else {
            const double sleep = ImGui::GetIO().WantTextInput ? kSleepTyping : kSleep, since = glfwGetTime();
            glfwWaitEventsTimeout(sleep);
            due = glfwGetTime() - since < sleep * 0.98 ? kSettleFrames : 1;
        }
        w.refresh(ui);
        w.keys.deliver(w.window);
        ui.hot.begin_frame();
        ImGui_ImplOpenGL3_NewFrame();
        ImGui_ImplGlfw_NewFrame();
        ImGui::NewFrame();
        const Pace pace = draw(ui);
        ImGui::Render();
        int width = 0, height = 0;
        glfwGetFramebufferSize(w.window, &width, &height);
        w.clear(ui, width, height);
        ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
        glfwSwapBuffers(w.window);
        const bool goes_on = pace == Pace::Animate || w.keys.waiting() || ui.hot.changed() || ImGui::IsAnyMouseDown();
        due = goes_on ? std::max(due, 2) : due - 1;
    }
}

void Window::close() { glfwSetWindowShouldClose(impl_->window, GLFW_TRUE); }

Image Window::capture(int width, int height, int frames, const std::function<void(Ui&)>& draw) {
    Impl& w = *impl_;
    const Gl& gl = w.gl;
    GLuint buffer = 0, color = 0;
    gl.GenFramebuffers(1, &buffer);
    gl.GenRenderbuffers(1, &color);
    gl.BindRenderbuffer(GL_RENDERBUFFER, color);
    gl.RenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    gl.BindFramebuffer(GL_FRAMEBUFFER, buffer);
    gl.FramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color);
    const auto release = [&] {
        gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
        gl.DeleteFramebuffers(1, &buffer);
        gl.DeleteRenderbuffers(1, &color);
    };
    if (gl.CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
        release();
        throw Error("cannot draw an image of " + std::to_string(width) + " x " + std::to_string(height) + " pixels",
                    "Choose a smaller size.");
    }
    Image image{width, height, {}};
    try {
        for (int k = 0; k < std::max(frames, 1); ++k) {
            glfwPollEvents();
            w.refresh(ui);
            ui.hot.begin_frame();
            ImGui_ImplOpenGL3_NewFrame();
            ImGui_ImplGlfw_NewFrame();
            ImGuiIO& io = ImGui::GetIO();
            io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
            io.DisplayFramebufferScale = {1, 1};
            io.DeltaTime = 1.0f / 60;
            ImGui::NewFrame();
            draw(ui);
            ImGui::Render();
            gl.BindFramebuffer(GL_FRAMEBUFFER, buffer);
            w.clear(ui, width, height);
            ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
        }
        std::vector<std::uint8_t> rows(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
        gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
        gl.ReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, rows.data());
        image.rgb.resize(rows.size());
        const std::size_t line = static_cast<std::size_t>(width) * 3;
        for (int y = 0; y < height; ++y) {  // GL counts rows from the bottom
            std::copy_n(&rows[static_cast<std::size_t>(height - 1 - y) * line], line,
                        &image.rgb[static_cast<std::size_t>(y) * line]);
        }
    } catch (...) {
        release();
        throw;
    }
    release();
    return image;
}

void Window::set_zoom(float zoom) { impl_->zoom = std::clamp(zoom, 0.5f, 3.0f); }
float Window::zoom() const { return impl_->zoom; }
void Window::wake() { glfwPostEmptyEvent(); }

bool Window::available() {
    try {
        WindowOptions hidden;
        hidden.visible = Visible::No;
        hidden.width = hidden.height = 16;
        Window probe(hidden);
        return true;
    } catch (const Error&) { return false; }
}

}  // namespace flashstep::viz
