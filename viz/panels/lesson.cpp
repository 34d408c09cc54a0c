// The lesson's text; its links move the cursor.
#include <imgui.h>

#include "viz/shell/frame.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {

void draw_lesson_panel(AppState& app) {
    Ui& ui = app.ui;
    FrameState& state = frame_state(app);
    if (!app.lesson) {
        empty_state(ui, ui.tr(Str::empty_lesson));
        return;
    }
    if (state.lesson_shown != app.lesson_text) {
        state.lesson_shown = app.lesson_text;
        state.lesson_view.set(app.lesson_text);
        ImGui::SetScrollY(0);
    }
    // In a wide panel lines stay short enough to be read.
    const float width = ImGui::GetContentRegionAvail().x, wide = ui.px(760);
    if (width > wide) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + (width - wide) / 2);
    ImGui::BeginChild("text", {std::min(width, wide), 0}, false, ImGuiWindowFlags_NoNav);
    state.lesson_view.draw(ui, [&](std::string_view target) { follow_link(app, target); });
    ImGui::EndChild();
}

}  // namespace flashstep::viz
