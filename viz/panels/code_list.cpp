// Lines of code that scroll.
#include "viz/panels/code_list.h"

#include <algorithm>
#include <cmath>

#include "viz/text/text.h"

namespace flashstep::viz {
namespace {

constexpr float kLine = 17, kBaseline = 13;  // design pixels

}  // namespace

void scroll_to(float top, float bottom) {
    const float height = ImGui::GetWindowHeight(), now = ImGui::GetScrollY(), margin = height * 0.12f;
    if (top - margin >= now && bottom + margin <= now + height) return;
    ImGui::SetScrollY(std::max(0.0f, (top + bottom - height) / 2));
}

int draw_code_list(const Ui& ui, const CodeList& list, int& scrolled_to,
                   const std::function<void(int line, ImVec2 at, float width)>& draw_line) {
    ImGui::BeginChild(list.id, list.size, false, ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_NoNav);
    const float height = ui.px(kLine), width = std::max(list.width, ImGui::GetContentRegionAvail().x);
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const float scroll = ImGui::GetScrollY();
    const int from = std::max(0, static_cast<int>(scroll / height) - 1);
    const int to = std::min(list.lines, static_cast<int>((scroll + ImGui::GetWindowHeight()) / height) + 2);
    for (int k = from; k < to; ++k)
        draw_line(k, {origin.x, std::round(origin.y + static_cast<float>(k) * height)}, width);
    int clicked = -1;
    if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
        const int line = static_cast<int>(std::floor((ImGui::GetMousePos().y - origin.y) / height));
        if (line >= 0 && line < list.lines) clicked = line;
    }
    ImGui::Dummy({list.width, static_cast<float>(list.lines) * height});
    if (scrolled_to != list.first) {
        scrolled_to = list.first;
        if (list.first >= 0) {
            // The start of the part matters most where all of it does not fit.
            const auto first = static_cast<float>(list.first);
            const float most = ImGui::GetWindowHeight() / height * 0.7f;
            const float end = std::min(static_cast<float>(list.last + 1), first + most);
            scroll_to(first * height, end * height);
        }
    }
    ImGui::EndChild();
    return clicked;
}

float code_baseline(const Ui& ui, ImVec2 at) { return at.y + ui.px(kBaseline); }

void mark_code_line(const Ui& ui, ImVec2 at, float width) {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float bottom = at.y + ui.px(kLine);
    draw->AddRectFilled(at, {at.x + width, bottom}, u32(ui.theme().accent, 0.16f));
    draw->AddRectFilled(at, {at.x + ui.px(3), bottom}, u32(ui.theme().accent));
}

void draw_code_number(const Ui& ui, float end, float baseline, const std::string& number, float strength) {
    const Theme& t = ui.theme();
    ImFont* font = ui.fonts.number_small;
    draw_text_on(ImGui::GetWindowDrawList(), font, end - text_width(font, number), baseline,
                 u32(mix(t.panel, t.quiet, strength)), number);
}

}  // namespace flashstep::viz
