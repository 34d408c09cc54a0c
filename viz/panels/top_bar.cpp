// The top bar: what is being looked at, from left to right from the lesson to the kernel, and whether both agree.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "lab/format.h"
#include "viz/panels/verdict.h"
#include "viz/shell/frame.h"
#include "viz/text/text.h"
#include "viz/widgets/list.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kProblem{"Problem", "问题规模"};
constexpr Text kHeadOf{"head {head} of {heads}", "第 {head} 个 head，共 {heads} 个"};
constexpr Text kUndo{"Undo", "撤销"};
constexpr Text kRedo{"Redo", "重做"};
constexpr Text kHeadText{"Head", "Head"};
constexpr Text kLessonNone{"no lesson", "无课程"};
constexpr Text kCausalShort{"causal", "因果"};
constexpr Text kToWorkbench{"to the workbench: every panel at once (W)", "到工作台：所有面板同时显示（W）"};
constexpr Text kToLesson{"to the lesson: its text and what it is about (W)", "回课程：只留文字和它说的部分（W）"};
constexpr Text kMaskShort{"mask", "掩码"};

struct Busy {
    double since = -1;  // app.time when the run began that is not finished
};
constexpr double kQuietBusySeconds = 0.25;  // a run shorter than this shows no progress

std::string_view lesson_title(const AppState& app, const Lesson& lesson) {
    return lesson.title.in(app.ui.language).text;
}

std::string_view lesson_value(const AppState& app) {
    if (app.lesson) return lesson_title(app, *app.lesson);
    return app.preset ? app.preset->title.in(app.ui.language) : app.ui.tr(kLessonNone);
}

void lesson_field(AppState& app, float width) {
    Ui& ui = app.ui;
    const Text& label = app.lesson || !app.preset ? kLesson : kPreset;
    if (field(ui, "lesson", ui.tr(label), lesson_value(app), width)) app.shelf_open = !app.shelf_open;
}

void algorithm_field(AppState& app, float width) {
    Ui& ui = app.ui;
    const Algorithm* current = find_algorithm(app.session.recipe().algorithm);
    if (field(ui, "algorithm", ui.tr(kAlgorithm), current ? ui.tr(current->title) : std::string_view(), width))
        ImGui::OpenPopup("algorithms");
    if (!begin_list(ui, "algorithms", width)) return;
    for (const Algorithm& algorithm : algorithms())
        if (list_row(ui,
                     {ui.tr(algorithm.title), algorithm.source, &algorithm == current, Enabled::Yes, NotePlace::Right}))
            choose_algorithm(app, algorithm);
    ImGui::EndPopup();
}

void head_field(AppState& app, float width) {
    Ui& ui = app.ui;
    const int heads = app.run ? app.run->recipe.problem.total_heads() : 1;
    const std::string value = fmt::format("{} / {}", app.player->head() + 1, heads);
    if (field(ui, "head", ui.tr(kHeadText), value, width)) ImGui::OpenPopup("heads");
    if (!begin_list(ui, "heads", width)) return;
    ImGuiListClipper clipper;
    clipper.Begin(heads);
    while (clipper.Step()) {
        for (int h = clipper.DisplayStart; h < clipper.DisplayEnd; ++h) {
            ImGui::PushID(h);
            const std::string title =
                ui.tr(kHeadOf, {{"head", std::to_string(h + 1)}, {"heads", std::to_string(heads)}});
            if (list_row(ui, {title, {}, h == app.player->head()})) app.player->set_head(h);
            ImGui::PopID();
        }
    }
    ImGui::EndPopup();
}

// A button of 32 pixels whose picture `paint` draws around its middle.
template <class Paint>
bool picture_button(Ui& ui, const char* id, const char* tip, Enabled enabled, Paint paint) {
    const Theme& t = ui.theme();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float size = ui.px(32);
    const bool on = enabled == Enabled::Yes, clicked = ImGui::InvisibleButton(id, {size, size}) && on;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    if (on && ImGui::IsItemHovered())
        draw->AddRectFilled(at, {at.x + size, at.y + size}, u32(mix(t.raised, t.text, 0.06f)), ui.px(4));
    paint(draw, ImVec2(at.x + size / 2, at.y + size / 2), u32(on ? t.text : mix(t.ground, t.quiet, 0.5f)));
    if (ImGui::IsItemHovered() && begin_tip(ui)) {
        ImGui::TextUnformatted(tip);
        end_tip();
    }
    return clicked;
}

// A bent arrow to the left (undo) or to the right (redo).
void bent_arrow(const Ui& ui, ImDrawList* draw, ImVec2 c, unsigned color, float dir) {
    const float u = ui.px(1);
    const auto p = [&](float x, float y) { return ImVec2(c.x + x * dir * u, c.y + y * u); };
    draw->PathLineTo(p(-5, -2));
    draw->PathLineTo(p(1.5f, -2));
    draw->PathBezierCubicCurveTo(p(7, -2), p(7, 5.5f), p(1.5f, 5.5f));
    draw->PathLineTo(p(-2, 5.5f));
    draw->PathStroke(color, 0, 1.6f * u);
    const ImVec2 head[] = {p(-1.5f, -6), p(-5.5f, -2), p(-1.5f, 2)};
    draw->AddPolyline(head, 3, color, 0, 1.6f * u);
}

// A window divided into so many parts: what a click changes to.
void window_picture(const Ui& ui, ImDrawList* draw, ImVec2 c, unsigned color, int parts) {
    const float u = ui.px(1), w = 7 * u, h = 5.5f * u, line = 1.4f * u;
    draw->AddRect({c.x - w, c.y - h}, {c.x + w, c.y + h}, color, u, 0, line);
    draw->AddLine({c.x - 2.5f * u, c.y - h}, {c.x - 2.5f * u, c.y + h}, color, line);
    if (parts < 3) return;
    draw->AddLine({c.x + 2.5f * u, c.y - h}, {c.x + 2.5f * u, c.y + h}, color, line);
    draw->AddLine({c.x - w, c.y}, {c.x + w, c.y}, color, line);
}

float draw_tools(AppState& app, float right, float y) {
    Ui& ui = app.ui;
    const float step = ui.px(32);
    float x = right - 6 * step;
    const float left = x;
    const auto next = [&] {
        ImGui::SetCursorScreenPos({x, y});
        x += step;
    };
    const auto enabled = [](bool on) { return on ? Enabled::Yes : Enabled::No; };
    next();
    if (picture_button(ui, "undo", ui.tr(kUndo), enabled(app.session.can_undo()),
                       [&](ImDrawList* d, ImVec2 c, unsigned color) { bent_arrow(ui, d, c, color, 1); }))
        app.session.undo();
    next();
    if (picture_button(ui, "redo", ui.tr(kRedo), enabled(app.session.can_redo()),
                       [&](ImDrawList* d, ImVec2 c, unsigned color) { bent_arrow(ui, d, c, color, -1); }))
        app.session.redo();
    next();
    const bool lesson = frame_state(app).layout->id == "lesson";
    if (picture_button(
            ui, "layout", ui.tr(lesson ? kToWorkbench : kToLesson), Enabled::Yes,
            [&](ImDrawList* d, ImVec2 c, unsigned color) { window_picture(ui, d, c, color, lesson ? 3 : 2); }))
        toggle_layout(app);
    next();
    const bool english = ui.language == Language::English;
    if (picture_button(ui, "language", ui.tr(kKeyLanguage), Enabled::Yes, [&](ImDrawList* d, ImVec2 c, unsigned color) {
            const char* text = english ? "中" : "EN";  // what a click changes to
            ImFont* font = english ? ui.fonts.body : ui.fonts.small;
            const ImVec2 size = text_size(font, text);
            draw_text(d, font, {c.x - size.x / 2, c.y - size.y / 2}, color, text);
        }))
        toggle_language(app);
    next();
    if (picture_button(ui, "theme", ui.tr(kKeyTheme), Enabled::Yes, [&](ImDrawList* d, ImVec2 c, unsigned color) {
            const float r = ui.px(6.5f);
            d->AddCircle(c, r, color, 32, ui.px(1.6f));
            d->PathArcTo(c, r, -1.5708f, 1.5708f, 24);
            d->PathFillConvex(color);
        }))
        toggle_theme(app);
    next();
    if (icon_button(ui, "help", Icon::Help, ui.tr(kHelp))) app.help_open = !app.help_open;
    return left;
}

}  // namespace

std::string problem_summary(const Ui& ui, const Problem& p) {
    std::string text = p.n == p.nk ? fmt::format("N={}", p.n) : fmt::format("N={} Nk={}", p.n, p.nk);
    text += p.d == p.dv ? fmt::format(" d={}", p.d) : fmt::format(" d={},{}", p.d, p.dv);
    const char* comma = ui.tr(kComma);
    text += fmt::format("{}{} × {}", comma, p.br, p.bc);
    if (p.causal) text += fmt::format("{}{}", comma, ui.tr(kCausalShort));
    if (p.mask != MaskShape::None) text += fmt::format("{}{}", comma, ui.tr(kMaskShort));
    return text;
}

void draw_top_bar(AppState& app) {
    Ui& ui = app.ui;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float right = at.x + ImGui::GetContentRegionAvail().x;
    const float tools = draw_tools(app, right, at.y + ui.px(4));

    double& busy_since = own_state<Busy>(app).since;
    if (!app.session.busy())
        busy_since = -1;
    else if (busy_since < 0)
        busy_since = app.time;
    const bool progress = app.session.busy() && (!app.run || app.time - busy_since > kQuietBusySeconds);
    const Verdicts verdict = verdict_of(app);

    // The fields share what the verdict leaves.
    const bool heads = app.player && app.run->recipe.problem.total_heads() > 1;
    const std::string summary = problem_summary(ui, app.session.recipe().problem);
    const Algorithm* algorithm = find_algorithm(app.session.recipe().algorithm);
    const auto wanted = [&](std::string_view text, float most) {
        return std::clamp(text_width(ui.fonts.body, text) + ui.px(34), ui.px(112), ui.px(most));
    };
    const std::string& kernel = app.session.recipe().kernel;
    const bool mistakes = algorithm && has_faults(*algorithm);
    float want[] = {wanted(lesson_value(app), 380),
                    wanted(algorithm ? ui.tr(algorithm->title) : "", 320),
                    wanted(kernel.empty() ? ui.tr(kKernelNo) : kernel, 300),
                    heads ? ui.px(76) : 0,
                    text_width(ui.fonts.body, summary) + ui.px(34),
                    mistakes ? fault_field_width(app) : 0};
    float sum = 0;
    for (float w : want) sum += w;
    const float gap = ui.px(4), space = tools - at.x - 6 * gap - ui.px(8);
    // What came out is never cut, where it ran may be.
    const float least = text_width(ui.fonts.body, verdict.text) + ui.px(16 + 18);
    const float verdict_w = std::min(verdict_width(ui, verdict), std::max({ui.px(200), least, space - sum}));
    for (float over = sum + verdict_w - space; over > 0; over -= 4) {  // the widest field gives way first
        float& widest = *std::max_element(want, want + 3);
        if (widest <= ui.px(96)) break;
        widest -= 4;
    }

    float x = at.x - ui.px(8);  // the first label stands on the grid
    const auto next = [&](float width) {
        ImGui::SetCursorScreenPos({x, at.y});
        x += width + gap;
    };
    next(want[0]), lesson_field(app, want[0]);
    next(want[1]), algorithm_field(app, want[1]);
    if (mistakes) next(want[5]), fault_field(app, want[5]);
    next(want[2]), kernel_field(app, want[2]);
    if (heads) next(want[3]), head_field(app, want[3]);
    next(want[4]);
    if (field(ui, "problem", ui.tr(kProblem), summary, want[4])) app.inputs_open = !app.inputs_open;

    ImGui::SetCursorScreenPos({tools - ui.px(8) - verdict_w, at.y});
    progress ? draw_progress(app, verdict_w) : draw_verdict(app, verdict, verdict_w);
}

}  // namespace flashstep::viz
