// Popups that follow a flag of the app.
#include "viz/widgets/overlay.h"

#include <cmath>

#include "viz/shell/frame.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {

bool begin_overlay(AppState& app, const char* id, bool& open, ImVec2 at, ImVec2 size) {
    FrameState& state = frame_state(app);
    if (state.overlay != id) {  // asked for since the last frame
        ImGui::OpenPopup(id);
        state.overlay = id;
    }
    ImGui::SetNextWindowPos({std::round(at.x), std::round(at.y)});
    ImGui::SetNextWindowSize({std::round(size.x), std::round(size.y)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(app.ui.px(20), app.ui.px(16)));
    const bool shown = ImGui::BeginPopup(id, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    ImGui::PopStyleVar();
    if (shown) return true;
    open = false;
    state.overlay.clear();
    return false;
}

void end_overlay() { ImGui::EndPopup(); }

void overlay_title(AppState& app, const char* title, bool& open) {
    Ui& ui = app.ui;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.heading, at, u32(ui.theme().text), title);
    ImGui::SetCursorScreenPos({at.x + width - ui.px(32) + ui.px(8), at.y - ui.px(4)});
    if (icon_button(ui, "close", Icon::Close, ui.tr(kDismiss))) open = false;
    ImGui::SetCursorScreenPos({at.x, at.y + ui.px(36)});
    if (open) return;
    ImGui::CloseCurrentPopup();
    frame_state(app).overlay.clear();
}

}  // namespace flashstep::viz
