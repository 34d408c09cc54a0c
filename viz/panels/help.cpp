// The help page: keys, and the conventions that the numbers follow.
#include <imgui.h>

#include <algorithm>

#include "viz/widgets/overlay.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

struct KeyRow {
    const char* keys;  // null: the timeline, with the mouse
    Str what;
};
constexpr KeyRow kRows[] = {
    {"← →", Str::key_line},       {"Shift ← →", Str::key_tile}, {"Ctrl ← →", Str::key_block},
    {"Space", Str::key_play},     {"Home End", Str::key_ends},  {"B", Str::key_bookmark},
    {"1 … 6", Str::key_panels},   {"C", Str::key_compare},      {"Esc", Str::key_escape},
    {"Ctrl P", Str::key_picker},  {"Ctrl Z, Y", Str::key_undo}, {"Ctrl +, -, 0", Str::key_zoom},
    {"L", Str::key_language},     {"T", Str::key_theme},        {"F1", Str::key_help},
    {nullptr, Str::key_timeline},
};
constexpr Str kConventions[] = {Str::convention_attention, Str::convention_causal, Str::convention_mask,
                                Str::convention_count,     Str::convention_bytes,  Str::convention_flops,
                                Str::convention_logsum,    Str::convention_equal};

void heading(Ui& ui, const char* text) {
    ImGui::PushFont(ui.fonts.bold);
    ImGui::TextUnformatted(text);
    ImGui::PopFont();
}

}  // namespace

void draw_help(AppState& app) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const ImVec2 size(std::min(ui.px(1040), screen.x - ui.px(48)), std::min(ui.px(560), screen.y - ui.px(48)));
    if (!begin_overlay(app, "help", app.help_open, {(screen.x - size.x) / 2, (screen.y - size.y) / 2}, size)) return;
    overlay_title(app, ui.tr(Str::help), app.help_open);
    const float half = (ImGui::GetContentRegionAvail().x - ui.px(32)) / 2;

    ImGui::BeginChild("keys", {half, 0}, false);
    heading(ui, ui.tr(Str::keys));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(8), ui.px(4)));
    for (const KeyRow& row : kRows) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const char* keys = row.keys ? row.keys : ui.tr(Str::timeline);
        const float label = ui.px(120), wrap = half - label;
        const char* what = ui.tr(row.what);
        const float height = ImGui::CalcTextSize(what, nullptr, false, wrap).y;
        ImDrawList* draw = ImGui::GetWindowDrawList();
        draw_text(draw, ui.fonts.body, at, u32(t.text), keys);
        draw->AddText(ui.fonts.body, ui.fonts.body->FontSize, {at.x + label, at.y}, u32(t.quiet), what, nullptr, wrap);
        ImGui::Dummy({half, height});
    }
    ImGui::PopStyleVar();
    ImGui::EndChild();
    ImGui::SameLine(0, ui.px(32));
    ImGui::BeginChild("conventions", {half, 0}, false);
    heading(ui, ui.tr(Str::conventions));
    ImGui::PushStyleColor(ImGuiCol_Text, u32(t.quiet));
    ImGui::PushTextWrapPos(0);
    for (const Str key : kConventions) ImGui::TextUnformatted(ui.tr(key));
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
    ImGui::EndChild();
    end_overlay();
}

}  // namespace flashstep::viz
