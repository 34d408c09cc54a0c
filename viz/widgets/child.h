// Child windows, where Dear ImGui's versions differ.
#pragma once

#include <imgui.h>

namespace flashstep::viz {

// Dear ImGui 1.90 made the padding a flag of children. To be ended with ImGui::EndChild().
inline void begin_padded_child(const char* id, ImVec2 size, ImGuiWindowFlags flags = 0) {
#if IMGUI_VERSION_NUM >= 19000
    ImGui::BeginChild(id, size, ImGuiChildFlags_AlwaysUseWindowPadding, flags);
#else
    ImGui::BeginChild(id, size, false, flags | ImGuiWindowFlags_AlwaysUseWindowPadding);
#endif
}

// Before the end of a window that scrolls: its contents reach down to the cursor, although nothing stands there.
inline void reach_cursor() { ImGui::Dummy({0, 0}); }

}  // namespace flashstep::viz
