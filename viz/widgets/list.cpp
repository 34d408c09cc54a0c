// Fields and lists of the top bar.
#include "viz/widgets/list.h"

#include <imgui.h>

#include <algorithm>
#include <string>

#include "viz/text/text.h"

namespace flashstep::viz {

bool field(Ui& ui, const char* id, std::string_view label, std::string_view value, float width, FieldLook look) {
    const Theme& t = ui.theme();
    const bool alarm = look == FieldLook::Alarm;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ui.px(40), pad = ui.px(8);
    const bool clicked = ImGui::InvisibleButton(id, {width, height});
    const bool over = ImGui::IsItemHovered();
    if (over) draw->AddRectFilled(at, {at.x + width, at.y + height}, u32(t.raised), ui.px(4));
    if (alarm) {
        draw->AddRect({at.x + ui.px(1), at.y}, {at.x + width - ui.px(1), at.y + height}, u32(t.alarm), ui.px(4), 0,
                      std::max(1.0f, ui.px(1.5f)));
        draw_icon(draw, Icon::Warning, {at.x + pad + ui.px(6), at.y + ui.px(10)}, ui.px(13), u32(t.alarm));
    }
    const float room = width - 2 * pad - ui.px(14), before = alarm ? ui.px(16) : 0;
    const std::string above = fitted(ui.fonts.small, label, width - 2 * pad - before);
    draw_text_on(draw, ui.fonts.small, at.x + pad + before, at.y + ui.px(14), u32(t.quiet), above);
    const std::string shown = fitted(ui.fonts.body, value, room);
    draw_text_on(draw, ui.fonts.body, at.x + pad, at.y + ui.px(33), u32(alarm ? t.alarm : t.text), shown);
    // A chevron after the value.
    const float x = at.x + pad + text_width(ui.fonts.body, shown) + ui.px(10), y = at.y + ui.px(28), r = ui.px(3.5f);
    const ImVec2 points[] = {{x - r, y - r / 2}, {x, y + r / 2}, {x + r, y - r / 2}};
    draw->AddPolyline(points, 3, u32(t.quiet), 0, ui.px(1.5f));
    if (over && (shown != value || above != label) && begin_tip(ui)) {
        if (above != label) tip_text(ui, label);
        ImGui::TextUnformatted(value.data(), value.data() + value.size());
        end_tip();
    }
    return clicked;
}

bool begin_list(Ui& ui, const char* id, float width) {
    const ImVec2 below(ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(4));
    ImGui::SetNextWindowPos(below);
    ImGui::SetNextWindowSizeConstraints({std::max(width, ui.px(280)), 0},
                                        {ui.px(560), ImGui::GetIO().DisplaySize.y - below.y - ui.px(12)});
    return ImGui::BeginPopup(id);
}

namespace {

void row_tip(Ui& ui, const ListRow& row) {
    if (!begin_tip(ui)) return;
    ImGui::PushTextWrapPos(ui.px(520));
    ImGui::TextUnformatted(row.title.data(), row.title.data() + row.title.size());
    ImGui::PopTextWrapPos();
    for (const std::string_view text : {row.right, row.note}) wrapped_tip_text(ui, text);
    end_tip();
}

}  // namespace

bool list_row(Ui& ui, const ListRow& row) {
    const Theme& t = ui.theme();
    ImFont *body = ui.fonts.body, *small = ui.fonts.small;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    constexpr float kTexSize = 14;
    const bool typeset = !row.tex.empty(), below = row.place == NotePlace::Below && !row.note.empty() && !typeset;
    const std::string_view beside = row.place == NotePlace::Right ? row.note : row.right;
    const float height = below ? ui.px(44) : typeset ? ui.px(48) : ui.px(28);
    const float title_w = text_width(body, row.title), beside_w = text_width(small, beside);
    const float first = title_w + (beside.empty() ? 0 : ui.px(28) + beside_w);
    const float second = below     ? text_width(small, row.note)
                         : typeset ? ui.formulas.get(ui, row.tex, kTexSize).width * ui.scale
                                   : 0;
    const float needed = std::max(first, second) + ui.px(36);
    const float shown_w = ImGui::GetContentRegionAvail().x;  // less than `width` beside a scroll bar
    const float width = std::max(shown_w, std::min(needed, ui.px(536)));
    ImGui::PushID(row.title.data(), row.title.data() + row.title.size());
    const bool on = row.enabled == Enabled::Yes, clicked = ImGui::InvisibleButton("row", {width, height}) && on;
    ImGui::PopID();
    const bool over = ImGui::IsItemHovered();
    if (row.chosen && ImGui::IsWindowAppearing()) ImGui::SetScrollHereY(0.5f);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    if (on && over) draw->AddRectFilled(at, {at.x + width, at.y + height}, u32(mix(t.raised, t.text, 0.10f)), ui.px(4));
    if (row.chosen) draw_icon(draw, Icon::Check, {at.x + ui.px(12), at.y + ui.px(14)}, ui.px(13), u32(t.text));
    const float x = at.x + ui.px(28), room = std::min(width, shown_w) - ui.px(36);
    const std::string title = fitted(body, row.title, room);
    draw_text_on(draw, body, x, at.y + ui.px(19), u32(on ? t.text : t.quiet), title);
    bool cut = title != row.title;
    if (below) {
        const std::string note = fitted(small, row.note, room);
        draw_text_on(draw, small, x, at.y + ui.px(37), u32(t.quiet), note);
        cut = cut || note != row.note;
    }
    if (typeset) {
        draw_formula(ui, draw, x, at.y + ui.px(39), ui.formulas.get(ui, row.tex, kTexSize));
        cut = true;  // the note is not there
    }
    if (const float rest = shown_w - title_w - ui.px(56); !beside.empty() && rest > ui.px(40)) {
        const std::string shown = fitted(small, beside, rest);
        draw_text_on(draw, small, at.x + shown_w - ui.px(8) - text_width(small, shown), at.y + ui.px(19), u32(t.quiet),
                     shown);
        cut = cut || shown != beside;
    } else if (!beside.empty()) {
        cut = true;
    }
    if (over && cut) row_tip(ui, row);
    if (clicked) ImGui::CloseCurrentPopup();
    return clicked;
}

void list_heading(Ui& ui, const char* text) {
    small_text(ui, text);
    ImGui::Dummy({0, ui.px(2)});
}

}  // namespace flashstep::viz
