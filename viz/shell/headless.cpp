// Frames without a back end: size, time and events are set by hand.
#include "viz/shell/headless.h"

#include <imgui.h>

namespace flashstep::viz {

Headless::Headless(float width, float height, float scale) : context_(nullptr), previous_(ImGui::GetCurrentContext()) {
    context_ = ImGui::CreateContext();
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    ui.scale = scale;
    ui.fonts = build_fonts(*io.Fonts, scale);
    io.FontDefault = ui.fonts.body;
    unsigned char* pixels = nullptr;
    int w = 0, h = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &w, &h);
    io.Fonts->SetTexID((ImTextureID)(intptr_t)1);  // a pointer or an integer, by version
    map_keys();
    apply_style(ui.theme(), scale);
    resize(width, height);
    feed_mouse(-1e6f, -1e6f);
}

Headless::~Headless() {
    ImGui::DestroyContext(context_);
    ImGui::SetCurrentContext(previous_);
}

void Headless::resize(float width, float height) { ImGui::GetIO().DisplaySize = {width, height}; }

ImDrawData* Headless::frame(const std::function<void(Ui&)>& draw) {
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.DeltaTime = 1.0f / 60;
    ui.hot.begin_frame();
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(io.DisplaySize);
    ImGui::Begin("##screen", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    draw(ui);
    ImGui::End();
    ImGui::Render();
    return ImGui::GetDrawData();
}

void Headless::move(float x, float y, const std::function<void(Ui&)>& draw) {
    feed_mouse(x, y);
    frame(draw);  // the item under the mouse is known
    frame(draw);  // and hot everywhere
}

void Headless::click(float x, float y, const std::function<void(Ui&)>& draw) {
    move(x, y, draw);
    feed_button(0, true);
    frame(draw);
    feed_button(0, false);
    frame(draw);
}

void Headless::press(Key key, Modifiers modifiers, const std::function<void(Ui&)>& draw) {
    feed_modifiers(modifiers);
    feed_key(key, true);
    frame(draw);
    feed_key(key, false);
    feed_modifiers({});
    frame(draw);
}

}  // namespace flashstep::viz
