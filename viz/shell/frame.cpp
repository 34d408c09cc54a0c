// The whole window: panels in their places, one-pixel separators, the bar with an error, and what is open on top.
#include "viz/shell/frame.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

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
    ImGui::BeginChild(
        id, {box.w, box.h}, false,
        ImGuiWindowFlags_AlwaysUseWindowPadding | ImGuiWindowFlags_NoNav |
            (scroll == Scroll::No ? ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse : 0));
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    draw(app);
    ImGui::EndChild();
}

struct Placed {
    const char* id;
    Draw draw;
};
constexpr Placed kPlaced[kPanels] = {
    {"lesson", draw_lesson_panel},   {"source", draw_source_panel},   {"memory", draw_memory_panel},
    {"explain", draw_explain_panel}, {"traffic", draw_traffic_panel}, {"compare", draw_compare_panel},
};

// What is to be said about the session: an error, or a warning about the inputs. Empty: nothing.
std::string notice_text(const AppState& app) {
    if (!app.session.error().empty())
        return app.session.error() == "cancelled" ? app.ui.tr(Str::cancelled) : app.session.error();
    return {};
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
    draw->AddText(font, font->FontSize, {left, std::round(box.y + ui.px(10))}, u32(t.text), text.data(),
                  text.data() + text.size(), wrap);
    ImGui::SetCursorScreenPos({box.right() - ui.px(44), box.y + ui.px(4)});
    if (icon_button(ui, "dismiss", Icon::Close, ui.tr(Str::dismiss))) app.session.dismiss_error();
}

void draw_separators(AppState& app, const FrameLayout& l, float top) {
    const Theme& t = app.ui.theme();
    const ImU32 color = u32(t.line);
    const float line = std::max(1.0f, std::round(app.ui.scale));
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const auto fill = [&](float x0, float y0, float x1, float y1) { draw->AddRectFilled({x0, y0}, {x1, y1}, color); };
    const float width = l.top.w, bottom = l.transport.y;
    fill(0, l.top.bottom(), width, l.top.bottom() + line);
    fill(0, bottom - line, width, bottom);
    const auto box = [&](Panel p) { return l.panel[static_cast<int>(p)]; };
    if (l.score_map.w > 0) fill(l.score_map.right(), l.score_map.y, l.score_map.right() + line, l.score_map.bottom());
    if (box(Panel::Memory).w < 1 || box(Panel::Lesson).w < 1) return;  // one panel alone
    fill(box(Panel::Lesson).right(), top, box(Panel::Lesson).right() + line, bottom);
    fill(box(Panel::Memory).right(), top, box(Panel::Memory).right() + line, bottom);
    for (Panel p : {Panel::Lesson, Panel::Memory, Panel::Traffic})
        fill(box(p).x, box(p).bottom(), box(p).right(), box(p).bottom() + line);
}

void draw_too_small(AppState& app) {
    const auto number = [](float x) { return std::to_string(static_cast<int>(x)); };
    empty_state(app.ui, app.ui.tr(Str::window_small, {{"width", number(kLeastWidth * app.ui.scale)},
                                                      {"height", number(kLeastHeight * app.ui.scale)}}));
}

}  // namespace

FrameState& frame_state(AppState& app) {
    if (!app.frame) app.frame = std::make_shared<FrameState>();
    return *app.frame;
}

void toggle_focus(AppState& app, Panel panel) {
    std::optional<Panel>& focus = frame_state(app).focus;
    focus = focus == panel ? std::nullopt : std::optional(panel);
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
    const FrameLayout l = frame_layout(size, ui.scale, notice_h, app.lesson != nullptr, state.focus);
    if (l.too_small) {
        draw_too_small(app);
        ImGui::End();
        return;
    }
    const Theme& t = ui.theme();
    const ImVec2 padding(ui.px(12), ui.px(12));
    place(app, "top", l.top, draw_top_bar, {ui.px(12), ui.px(8)}, t.ground, Scroll::No);
    const float line = std::max(1.0f, std::round(ui.scale)), below_top = l.top.bottom() + line;
    if (!notice.empty()) draw_notice(app, {0, below_top, size.x, notice_h}, notice);
    for (int k = 0; k < kPanels; ++k) place(app, kPlaced[k].id, l.panel[k], kPlaced[k].draw, padding, t.panel);
    place(app, "map", l.score_map, draw_score_map, padding, t.panel);
    place(app, "transport", l.transport, draw_transport, {ui.px(12), ui.px(8)}, t.ground, Scroll::No);
    draw_separators(app, l, below_top + notice_h);
    if (!app.inputs_open && !app.help_open && !app.picker_open && !state.overlay.empty()) {
        ImGui::ClosePopupToLevel(0, true);
        state.overlay.clear();
    }
    if (app.inputs_open) draw_inputs_popup(app);
    if (app.help_open) draw_help(app);
    if (app.picker_open) draw_picker(app);
    ImGui::End();
}

void run_frame(AppState& app, double now) {
    app.ui.hot.begin_frame();
    app.update(now);
    handle_keys(app);
    draw_frame(app);
}

}  // namespace flashstep::viz
