// Buttons, headers, badges and texts; icons are vector shapes, so that no icon font is needed.
#include <algorithm>
#include <cmath>

#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
void draw_icon(ImDrawList* draw, Icon icon, ImVec2 c, float size, unsigned color) {
    const float u = size / 16;  // shapes live in a square of 16 units
    c = {std::round(c.x), std::round(c.y)};
    const auto p = [&](float x, float y) { return ImVec2(c.x + x * u, c.y + y * u); };
    // A triangle with its tip to the right (dir 1) or left (-1), its middle at x.
    const auto arrow = [&](float x, float dir, float half = 4.5f) {
        draw->AddTriangleFilled(p(x + 3.5f * dir, 0), p(x - 3.5f * dir, -half), p(x - 3.5f * dir, half), color);
    };
    const auto bar = [&](float x, float half = 5) {
        draw->AddRectFilled(p(x - 0.9f, -half), p(x + 0.9f, half), color);
    };
    const auto stroke = [&](std::initializer_list<ImVec2> points, float w = 1.6f) {
        draw->AddPolyline(points.begin(), static_cast<int>(points.size()), color, 0, w * u);
    };
    // One line: a chevron. One tile: a triangle and a square. One row block: a triangle and a row of bars. Ends: a bar.
    const auto line = [&](float d) { stroke({p(-2 * d, -4.5f), p(2.5f * d, 0), p(-2 * d, 4.5f)}, 2); };
    const auto tile = [&](float d) {
        arrow(-3 * d, d);
        draw->AddRect(p(std::min(2 * d, 7 * d), -2.8f), p(std::max(2 * d, 7 * d), 2.8f), color, 0, 0, 1.5f * u);
    };
    const auto row = [&](float d) {
        arrow(-3.5f * d, d);
        for (const float y : {-3.6f, 0.0f, 3.6f}) {
            draw->AddRectFilled(p(std::min(1.5f * d, 7 * d), y - 0.9f), p(std::max(1.5f * d, 7 * d), y + 0.9f), color);
        }
    };
    switch (icon) {
        case Icon::First:
            bar(-5), arrow(1.5f, -1, 5);
            break;
        case Icon::Last:
            bar(5), arrow(-1.5f, 1, 5);
            break;
        case Icon::PreviousLine:
            line(-1);
            break;
        case Icon::NextLine:
            line(1);
            break;
        case Icon::PreviousTile:
            tile(-1);
            break;
        case Icon::NextTile:
            tile(1);
            break;
        case Icon::PreviousRow:
            row(-1);
            break;
        case Icon::NextRow:
            row(1);
            break;
        case Icon::Play:
            draw->AddTriangleFilled(p(6, 0), p(-4, -6), p(-4, 6), color);
            break;
        case Icon::Pause:
            draw->AddRectFilled(p(-4.5f, -5.5f), p(-1.5f, 5.5f), color);
            draw->AddRectFilled(p(1.5f, -5.5f), p(4.5f, 5.5f), color);
            break;
        case Icon::Bookmark:
            stroke({p(-3.5f, -6), p(3.5f, -6), p(3.5f, 5.5f), p(0, 2.5f), p(-3.5f, 5.5f), p(-3.5f, -6.5f)});
            break;
        case Icon::BookmarkFilled:
            draw->AddQuadFilled(p(-4, -6), p(0, -6), p(0, 2.5f), p(-4, 6), color);
            draw->AddQuadFilled(p(0, -6), p(4, -6), p(4, 6), p(0, 2.5f), color);
            break;
        case Icon::Close:
        case Icon::Cross:
            stroke({p(-4, -4), p(4, 4)}, 2), stroke({p(-4, 4), p(4, -4)}, 2);
            break;
        case Icon::Check:
            stroke({p(-5, 0.5f), p(-1.5f, 4), p(5, -4)}, 2);
            break;
        case Icon::Help:
            draw->PathArcTo(p(0, -2.2f), 3 * u, -3.14f, 1.2f, 12);
            draw->PathLineTo(p(0, 2.2f));
            draw->PathStroke(color, 0, 1.7f * u);
            draw->AddCircleFilled(p(0, 5), 1.2f * u, color);
            break;
        case Icon::Warning:
            stroke({p(0, -6), p(6, 5), p(-6, 5), p(0, -6)});
            draw->AddRectFilled(p(-0.8f, -2), p(0.8f, 1.8f), color);
            draw->AddCircleFilled(p(0, 3.4f), 0.9f * u, color);
            break;
    }
}

bool icon_button(Ui& ui, const char* id, Icon icon, const char* tip, Enabled enabled) {
    const Theme& t = ui.theme();
    const float size = std::round(ui.px(32));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool on = enabled == Enabled::Yes;
    const bool clicked = ImGui::InvisibleButton(id, {size, size}) && on;
    const bool over = ImGui::IsItemHovered(), down = ImGui::IsItemActive();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    if (on && over)
        draw->AddRectFilled(at, {at.x + size, at.y + size}, u32(mix(t.raised, t.text, down ? 0.16f : 0.06f)), ui.px(4));
    draw_icon(draw, icon, {at.x + size / 2, at.y + size / 2}, ui.px(16),
              u32(on ? t.text : mix(t.panel, t.quiet, 0.55f)));
    if (over && tip && *tip && begin_tip(ui)) {
        ImGui::TextUnformatted(tip);
        end_tip();
    }
    return clicked;
}

bool segmented(Ui& ui, const char* id, std::span<const char* const> labels, int& current) {
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    ImFont* font = ImGui::GetFont();
    const float height = std::round(ui.px(28)), pad = ui.px(12);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    float total = 0;
    for (const char* label : labels) total += std::round(text_size(font, label).x + 2 * pad);
    draw->AddRectFilled(at, {at.x + total, at.y + height}, u32(t.raised), ui.px(4));
    bool changed = false;
    float x = at.x;
    ImGui::PushID(id);
    ImGui::BeginGroup();
    for (std::size_t k = 0; k < labels.size(); ++k) {
        const ImVec2 size = text_size(font, labels[k]);
        const float w = std::round(size.x + 2 * pad);
        ImGui::SetCursorScreenPos({x, at.y});
        ImGui::PushID(static_cast<int>(k));
        if (ImGui::InvisibleButton("part", {w, height}) && current != static_cast<int>(k)) {
            current = static_cast<int>(k);
            changed = true;
        }
        ImGui::PopID();
        const bool on = current == static_cast<int>(k), over = ImGui::IsItemHovered();
        if (on || over) {
            const float in = ui.px(2);
            draw->AddRectFilled({x + in, at.y + in}, {x + w - in, at.y + height - in},
                                u32(on ? mix(t.raised, t.text, 0.18f) : mix(t.raised, t.text, 0.06f)), ui.px(3));
        }
        draw_text(draw, font, {x + pad, at.y + (height - size.y) / 2}, u32(on ? t.text : t.quiet), labels[k]);
        x += w;
    }
    ImGui::EndGroup();
    ImGui::PopID();
    return changed;
}

void section_header(Ui& ui, std::string_view title, std::string_view right) {
    const Theme& t = ui.theme();
    ImFont* font = ui.fonts.bold ? ui.fonts.bold : ImGui::GetFont();
    ImFont* small = ui.fonts.small ? ui.fonts.small : ImGui::GetFont();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = std::round(ui.px(28));
    const float base = at.y + std::round(ui.px(18));  // common baseline of both texts
    draw_text(draw, font, {at.x, base - font_ascent(font)}, u32(t.text), title);
    if (!right.empty()) {
        const float w = text_size(small, right).x;
        draw_text(draw, small, {at.x + width - w, base - font_ascent(small)}, u32(t.quiet), right);
    }
    ImGui::Dummy({width, height - ImGui::GetStyle().ItemSpacing.y});
}

void badge(Ui& ui, BadgeKind kind, std::string_view text) {
    const Theme& t = ui.theme();
    ImFont* font = ui.fonts.small ? ui.fonts.small : ImGui::GetFont();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos(), size = text_size(font, text);
    const float icon = kind == BadgeKind::Neutral ? 0 : ui.px(16), height = std::round(ui.px(24));
    const float width = std::round(size.x + icon + ui.px(16));
    const Rgb ink = kind == BadgeKind::Differs ? t.alarm : t.text;
    draw->AddRectFilled(at, {at.x + width, at.y + height}, u32(t.raised), ui.px(4));
    if (kind == BadgeKind::Differs) draw->AddRect(at, {at.x + width, at.y + height}, u32(t.alarm), ui.px(4));
    if (icon > 0) {
        draw_icon(draw, kind == BadgeKind::Ok ? Icon::Check : Icon::Cross, {at.x + ui.px(14), at.y + height / 2},
                  ui.px(13), u32(ink));
    }
    draw_text(draw, font, {at.x + ui.px(8) + icon, at.y + (height - size.y) / 2}, u32(ink), text);
    ImGui::Dummy({width, height});
}

void empty_state(Ui& ui, std::string_view text) {
    if (text.empty()) return;
    const Theme& t = ui.theme();
    const ImVec2 space = ImGui::GetContentRegionAvail();
    const float wrap = std::max(ui.px(80), std::min(space.x - ui.px(24), ui.px(320)));
    const ImVec2 size = ImGui::CalcTextSize(text.data(), text.data() + text.size(), false, wrap);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImFont* font = ImGui::GetFont();
    const ImVec2 pen(std::round(at.x + std::max(0.0f, (space.x - size.x) / 2)),
                     std::round(at.y + std::max(ui.px(12), (space.y - size.y) * 0.4f)));
    ImGui::GetWindowDrawList()->AddText(font, font_height(font), pen, u32(t.quiet), text.data(),
                                        text.data() + text.size(), wrap);
    ImGui::Dummy({space.x, std::max(size.y + ui.px(24), 1.0f)});
}

void value_row(Ui& ui, std::string_view label, std::string_view number) {
    const Theme& t = ui.theme();
    ImFont* small = ui.fonts.small ? ui.fonts.small : ImGui::GetFont();
    ImFont* digits = ui.fonts.number ? ui.fonts.number : ImGui::GetFont();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = std::round(ui.px(20)),
                base = at.y + std::round(ui.px(15));
    draw_text(draw, small, {at.x, base - font_ascent(small)}, u32(t.quiet), label);
    draw_text(draw, digits, {at.x + width - text_size(digits, number).x, base - font_ascent(digits)}, u32(t.text),
              number);
    ImGui::Dummy({width, height});
}

void small_text(Ui& ui, std::string_view text) {
    if (text.empty()) return;
    if (ui.fonts.small) ImGui::PushFont(ui.fonts.small);
    ImGui::PushStyleColor(ImGuiCol_Text, u32(ui.theme().quiet));
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
    if (ui.fonts.small) ImGui::PopFont();
}

void tip_text(Ui& ui, std::string_view text) {
    if (text.empty()) return;
    if (ui.fonts.small) ImGui::PushFont(ui.fonts.small);
    ImGui::PushStyleColor(ImGuiCol_Text, u32(ui.theme().quiet));
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    ImGui::PopStyleColor();
    if (ui.fonts.small) ImGui::PopFont();
}

void wrapped_tip_text(Ui& ui, std::string_view text) {
    if (text.empty()) return;
    if (ui.fonts.small) ImGui::PushFont(ui.fonts.small);
    ImGui::PushStyleColor(ImGuiCol_Text, u32(ui.theme().quiet));
    ImGui::PushTextWrapPos(ui.px(520));
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
    if (ui.fonts.small) ImGui::PopFont();
}

bool begin_tip(Ui& ui) {
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ui.px(12), ui.px(8)));
    ImGui::BeginTooltip();
    return true;
}

void end_tip() {
    ImGui::EndTooltip();
    ImGui::PopStyleVar();
}

}  // namespace flashstep::viz
