// The tour: four hints, one at a time, each beside what it is about.
#include "viz/panels/tour.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "viz/shell/input.h"
#include "viz/shell/lesson_walk.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kTourSpace{"Press Space. The text goes on, and the pictures move with it.",
                          "按空格键，文字往下走，画面跟着动。"};
constexpr Text kTourArrows{"← and → go one line of the algorithm back and forth. The text follows.",
                           "按 ← → 逐行后退、前进，文字会跟上。"};
constexpr Text kTourCell{"Click any number. Below stands how it was made.",
                         "点任意一个数，下面会写出它是怎么算出来的。"};
constexpr Text kTourShelf{"S opens the shelf with all lessons, W the workbench with every panel, F1 lists the keys.",
                          "S 打开书架，里面是全部课程；W 打开工作台，所有面板都在；F1 列出快捷键。"};
constexpr Text kTourOf{"hint {hint} of {hints}", "提示 {hint} / {hints}"};
constexpr Text kTourNext{"Next", "下一条"};
constexpr Text kTourEnd{"Got it", "知道了"};
constexpr Text kTourSkip{"Skip", "跳过"};

struct Tour {
    int hint = -1;  // the one that is due; -1: none
    int beat = -1;  // the marked one when the hint came up
    std::optional<CellRef> selected;
};

enum class Tip { Left, Down, Up };  // where the hint points to

struct Hint {
    Text text;
    Tip tip;
    ImVec2 (*point)(const FrameLayout&, float scale);  // the screen's place that it points to
    bool (*done)(AppState&, const Tour&);
};

bool space_was_pressed(AppState& app, const Tour& tour) {
    const LessonWalk* walk = lesson_walk(app);
    return walk && walk->beat > tour.beat;
}
bool an_arrow_was_pressed(AppState&, const Tour&) {
    for (const Key key : {Key::Left, Key::Right})
        for (const bool shift : {false, true})
            for (const bool ctrl : {false, true})
                if (key_pressed(key, {.ctrl = ctrl, .shift = shift, .alt = false})) return true;
    return false;
}
bool a_cell_was_clicked(AppState& app, const Tour& tour) {
    return ImGui::IsMouseReleased(0) && app.selected && app.selected != tour.selected;
}
bool a_page_was_opened(AppState& app, const Tour&) {
    return app.shelf_open || app.help_open || frame_state(app).layout->id != "lesson";
}

// clang-format off
constexpr std::array kHints = {
    Hint{kTourSpace, Tip::Left, [](const FrameLayout& l, float scale) {
             const Box text = l.panels.box("lesson");
             return ImVec2(text.right(), text.bottom() - 28 * scale);
         }, space_was_pressed},
    Hint{kTourArrows, Tip::Down, [](const FrameLayout& l, float scale) {
             return ImVec2(l.transport.x + 164 * scale, l.transport.y);
         }, an_arrow_was_pressed},
    Hint{kTourCell, Tip::Down, [](const FrameLayout& l, float scale) {
             const Box explain = l.panels.box("explain");
             return ImVec2(explain.right() - 160 * scale, explain.y);
         }, a_cell_was_clicked},
    Hint{kTourShelf, Tip::Up, [](const FrameLayout& l, float scale) {
             return ImVec2(l.top.right() - 160 * scale, l.top.bottom());
         }, a_page_was_opened},
};
// clang-format on

float text_height(Ui& ui, const char* text, float wrap) {
    const ImFont* font = ui.fonts.body;
    return font->CalcTextSizeA(font->FontSize, 1e9f, wrap, text).y;
}

void draw_hint(AppState& app, int index, const FrameLayout& layout) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const Hint& hint = kHints[static_cast<std::size_t>(index)];
    const float width = ui.px(304), pad = ui.px(12), arrow = ui.px(8), edge = ui.px(8);
    const char* text = ui.tr(hint.text);
    const float height = std::round(text_height(ui, text, width - 2 * pad) + 2 * pad + ui.px(8 + 28));
    const ImVec2 point = hint.point(layout, ui.scale), screen = ImGui::GetIO().DisplaySize;
    ImVec2 at = hint.tip == Tip::Left
                    ? ImVec2(point.x + arrow, point.y - height / 2)
                    : ImVec2(point.x - width / 2, hint.tip == Tip::Down ? point.y - arrow - height : point.y + arrow);
    at = {std::round(std::clamp(at.x, edge, std::max(edge, screen.x - width - edge))),
          std::round(std::clamp(at.y, edge, std::max(edge, screen.y - height - edge)))};
    ImGui::SetCursorScreenPos(at);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(pad, pad));
    ImGui::PushStyleColor(ImGuiCol_ChildBg, u32(t.text));
    ImGui::PushStyleColor(ImGuiCol_Text, u32(t.panel));
    ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, ui.px(4));
    ImGui::BeginChild("hint", {width, height}, false,
                      ImGuiWindowFlags_AlwaysUseWindowPadding | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollbar);
    ImGui::PushTextWrapPos(width - pad);
    ImGui::TextUnformatted(text);
    ImGui::PopTextWrapPos();
    const bool last = index + 1 == static_cast<int>(kHints.size());
    ImGui::PushStyleColor(ImGuiCol_Button, u32(mix(t.text, t.panel, 0.18f)));
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, u32(mix(t.text, t.panel, 0.3f)));
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, u32(mix(t.text, t.panel, 0.4f)));
    ImGui::SetCursorScreenPos({at.x + pad, at.y + height - pad - ui.px(28)});
    if (ImGui::Button(ui.tr(last ? kTourEnd : kTourNext), {0, ui.px(28)})) show_hint(app, index + 1);
    if (!last) {
        ImGui::SameLine(0, ui.px(8));
        if (ImGui::Button(ui.tr(kTourSkip), {0, ui.px(28)})) end_tour(app);
    }
    const std::string of =
        ui.tr(kTourOf, {{"hint", std::to_string(index + 1)}, {"hints", std::to_string(kHints.size())}});
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw_text(draw, ui.fonts.small,
              {at.x + width - pad - text_width(ui.fonts.small, of), at.y + height - pad - ui.px(22)},
              u32(mix(t.text, t.panel, 0.6f)), of);
    ImGui::PopStyleColor(3);
    ImGui::EndChild();
    ImGui::PopStyleVar(2);
    ImGui::PopStyleColor(2);
    ImDrawList* above = ImGui::GetForegroundDrawList();
    const unsigned ground = u32(t.text);
    if (hint.tip == Tip::Left)
        above->AddTriangleFilled({point.x, point.y}, {at.x + 1, point.y - arrow}, {at.x + 1, point.y + arrow}, ground);
    else if (hint.tip == Tip::Down)
        above->AddTriangleFilled({point.x, point.y}, {point.x + arrow, at.y + height - 1},
                                 {point.x - arrow, at.y + height - 1}, ground);
    else
        above->AddTriangleFilled({point.x, point.y}, {point.x - arrow, at.y + 1}, {point.x + arrow, at.y + 1}, ground);
}

}  // namespace

void show_hint(AppState& app, int hint) {
    Tour& tour = own_state<Tour>(app);
    tour.hint = hint < static_cast<int>(kHints.size()) ? hint : -1;
    const LessonWalk* walk = lesson_walk(app);
    tour.beat = walk ? walk->beat : -1;
    tour.selected = app.selected;
}
void start_tour(AppState& app) { show_hint(app, 0); }
void end_tour(AppState& app) { own_state<Tour>(app).hint = -1; }
bool tour_runs(AppState& app) { return tour_hint(app) >= 0; }
int tour_hint(AppState& app) { return own_state<Tour>(app).hint; }

void draw_tour(AppState& app, const FrameLayout& layout) {
    Tour& tour = own_state<Tour>(app);
    if (tour.hint < 0) return;
    if (kHints[static_cast<std::size_t>(tour.hint)].done(app, tour)) show_hint(app, tour.hint + 1);
    const bool covered = app.shelf_open || app.help_open || app.picker_open || app.inputs_open;
    if (tour.hint >= 0 && !covered) draw_hint(app, tour.hint, layout);
}

}  // namespace flashstep::viz
