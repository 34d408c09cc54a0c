// The whole window: panels in their places, one-pixel separators, the bar with an error, and what is open on top.
#include "viz/shell/frame.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "viz/panels/panels.h"
#include "viz/panels/tour.h"
#include "viz/shell/lesson_walk.h"
#include "viz/shell/predict.h"
#include "viz/text/text.h"
#include "viz/widgets/child.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kCancelled{"Cancelled. The last result is still shown.", "已取消，仍显示上一次的结果。"};
constexpr Text kWindowSmall{"The window is too small. Make it at least {width} × {height}.",
                            "窗口太小，请放大到至少 {width} × {height}。"};

using Draw = void (*)(AppState&);
enum class Scroll { No, Yes };

// A child window without border that holds one panel.
void place(AppState& app, const char* id, const Box& box, Draw draw, ImVec2 padding, Rgb ground,
           Scroll scroll = Scroll::Yes) {
    if (box.w < 1 || box.h < 1) return;
    ImGui::SetCursorScreenPos({box.x, box.y});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
    ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, 0);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, u32(ground));
    begin_padded_child(
        id, {box.w, box.h},
        ImGuiWindowFlags_NoNav |
            (scroll == Scroll::No ? ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse : 0));
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    draw(app);
    ImGui::EndChild();
}

// Panels that have nothing to show, and those that the lesson's marked beat calls in.
Occasion occasion_of(AppState& app) {
    Occasion occasion;
    for (const Panel& panel : panels())
        if (panel.filled && !panel.filled(app)) occasion.folded.push_back(panel.id);
    if (predicting(app))
        occasion.joined.push_back("predict");  // what else would stand there waits
    else if (const LessonWalk* walk = lesson_walk(app))
        for (const std::string& id : walk->marked().panels) occasion.joined.push_back(id);
    return occasion;
}

const Panel& panel_named(std::string_view id) {
    const Panel* panel = find_panel(id);
    if (!panel) throw Error("a layout names the panel " + std::string(id) + ", which there is not");
    return *panel;
}

// What is to be said about the session: an error, or a warning about the inputs. Empty: nothing.
std::string notice_text(const AppState& app) {
    if (app.session.error().empty()) return app.ui.tr(app.notice);
    return app.session.error().en == "cancelled" ? app.ui.tr(kCancelled) : app.ui.tr(app.session.error());
}

float notice_height(AppState& app, float width, std::string_view text) {
    if (text.empty()) return 0;
    const float wrap = width - app.ui.px(2 * 12 + 24 + 40);
    const ImVec2 size = ImGui::CalcTextSize(text.data(), text.data() + text.size(), false, wrap);
    return std::round(std::max(size.y + app.ui.px(16), app.ui.px(40)));
}

void draw_notice(AppState& app, const Box& box, const std::string& text) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, u32(t.raised));
    draw->AddRectFilled({box.x, box.y}, {box.x + ui.px(3), box.bottom()}, u32(t.alarm));
    draw_icon(draw, Icon::Warning, {box.x + ui.px(24), box.y + ui.px(20)}, ui.px(16), u32(t.alarm));
    const float left = box.x + ui.px(44), wrap = box.w - ui.px(44 + 52);
    ImFont* font = ui.fonts.body;
    draw->AddText(font, font_height(font), {left, std::round(box.y + ui.px(10))}, u32(t.text), text.data(),
                  text.data() + text.size(), wrap);
    ImGui::SetCursorScreenPos({box.right() - ui.px(44), box.y + ui.px(4)});
    if (icon_button(ui, "dismiss", Icon::Close, ui.tr(kDismiss))) dismiss_notice(app);
}

void draw_separators(AppState& app, const FrameLayout& l) {
    const ImU32 color = u32(app.ui.theme().line);
    const float line = separator(app.ui.scale);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const auto fill = [&](const Box& box) { draw->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, color); };
    fill({0, l.top.bottom(), l.top.w, line});
    fill({0, l.transport.y - line, l.top.w, line});
    for (const Box& box : l.panels.separators) fill(box);
}

void draw_too_small(AppState& app) {
    const auto number = [](float x) { return std::to_string(static_cast<int>(x)); };
    empty_state(app.ui, app.ui.tr(kWindowSmall, {{"width", number(kLeastWidth * app.ui.scale)},
                                                 {"height", number(kLeastHeight * app.ui.scale)}}));
}

}  // namespace

void dismiss_notice(AppState& app) {
    if (app.session.error().empty())
        app.notice = {};
    else
        app.session.dismiss_error();
}

FrameState& frame_state(AppState& app) { return own_state<FrameState>(app); }

void toggle_focus(AppState& app, const Panel& panel) {
    const Panel*& focus = frame_state(app).focus;
    focus = focus == &panel ? nullptr : &panel;
}

void draw_frame(AppState& app) {
    FrameState& state = frame_state(app);
    Ui& ui = app.ui;
    if (!state.style_set || state.style_mode != ui.mode || state.style_scale != ui.scale) {
        apply_style(ui.theme(), ui.scale);
        state.style_set = true, state.style_mode = ui.mode, state.style_scale = ui.scale;
    }
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
    ImGui::Begin("##flashstep", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleVar(2);

    const std::string notice = notice_text(app);
    const float notice_h = notice_height(app, size.x, notice);
    const Area arrangement = state.focus ? alone(state.focus->id) : state.layout->whole;
    const FrameLayout l = frame_layout(size, ui.scale, notice_h, arrangement, occasion_of(app));
    if (l.too_small) {
        draw_too_small(app);
        ImGui::End();
        return;
    }
    const Theme& t = ui.theme();
    const ImVec2 padding(ui.px(12), ui.px(12));
    place(app, "top", l.top, draw_top_bar, {ui.px(12), ui.px(8)}, t.ground, Scroll::No);
    if (!notice.empty()) draw_notice(app, {0, l.top.bottom() + separator(ui.scale), size.x, notice_h}, notice);
    for (const auto& [id, box] : l.panels.panels) place(app, id.data(), box, panel_named(id).draw, padding, t.panel);
    place(app, "transport", l.transport, draw_transport, {ui.px(12), ui.px(8)}, t.ground, Scroll::No);
    draw_separators(app, l);
    if (!app.inputs_open && !app.help_open && !app.picker_open && !app.shelf_open && !state.overlay.empty()) {
        ImGui::ClosePopupToLevel(0, true);
        state.overlay.clear();
    }
    if (app.inputs_open) draw_inputs_popup(app);
    if (app.help_open) draw_help(app);
    if (app.picker_open) draw_picker(app);
    if (app.shelf_open) draw_shelf_of_lessons(app);
    draw_tour(app, l);
    ImGui::End();
}

void run_frame(AppState& app, double now) {
    app.ui.hot.begin_frame();
    app.update(now);
    handle_keys(app);
    follow_prediction(app);
    draw_frame(app);
}

}  // namespace flashstep::viz
