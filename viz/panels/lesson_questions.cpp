// A question of the lesson with its answer, and what is to be tried.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <utility>

#include "viz/panels/lesson_text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kCheckAnswer{"Check", "检查"};
constexpr Text kYourAnswer{"a number", "填一个数"};
constexpr Text kShowAnswer{"Show why", "看答案"};
constexpr Text kRight{"Right.", "对。"};
constexpr Text kNotRight{"Not that.", "不对。"};
constexpr Text kTooRough{"Close. Give two digits that count.", "接近了，请给出两位有效数字。"};
constexpr Text kNoNumber{"Type a number, such as 0.5 or -inf.", "请填一个数，例如 0.5 或 -inf。"};
constexpr Text kClickCell{"Click the cell in the memory view.", "在存储层次面板里点那个格子。"};
constexpr Text kNotYet{"Not yet: it is seen as soon as it is so.", "还没有达到；一达到这里就会显示。"};
constexpr Text kEarlier{"earlier", "上移"};

// What was said to the last answer, and why.
void draw_judgement(AppState& app, LessonPanel& panel, LessonWalk& walk, BeatProgress& progress) {
    if (!progress.last) return;
    Ui& ui = app.ui;
    const Judgement& last = *progress.last;
    const Text& said = last.answer == Answer::Right      ? kRight
                       : last.answer == Answer::TooRough ? kTooRough
                       : last.answer == Answer::Wrong    ? kNotRight
                                                         : kNoNumber;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Icon icon = last.answer == Answer::Right ? Icon::Check : Icon::Cross;
    draw_icon(ImGui::GetWindowDrawList(), icon, {at.x + ui.px(8), at.y + ImGui::GetTextLineHeight() / 2}, ui.px(14),
              u32(ui.theme().text));
    ImGui::SetCursorScreenPos({at.x + ui.px(24), at.y});
    ImGui::PushFont(ui.fonts.bold);
    ImGui::TextUnformatted(ui.tr(said));
    ImGui::PopFont();
    if (last.reply) draw_prose(app, panel, walk, *last.reply, Emphasis::Full);
}

void answered(LessonWalk& walk, BeatProgress& progress, const Judgement& judgement) {
    walk.replied = true;
    progress.last = judgement;
    progress.done |= judgement.answer == Answer::Right;
    progress.tries += judgement.answer == Answer::Wrong;
}

void ask_value(AppState& app, LessonWalk& walk, const Question& question, BeatProgress& progress) {
    Ui& ui = app.ui;
    ImGui::SetNextItemWidth(ui.px(120));
    const bool entered =
        ImGui::InputTextWithHint("##answer", ui.tr(kYourAnswer), &progress.typed, ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::SameLine(0, ui.px(8));
    if (ImGui::Button(ui.tr(kCheckAnswer)) || entered)
        answered(walk, progress, judge_value(question, progress.typed, walk.scenes));
}

// A button of the width of the panel with a text that may hold formulas.
bool option_button(AppState& app, LessonPanel& panel, LessonWalk& walk, const Prose& text, bool chosen, int id) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, inside = width - ui.px(24);
    MarkdownView& view = view_of(panel, walk, text);
    const float height = view.measure(ui, inside) + ui.px(12);
    ImGui::PushID(id);
    const bool clicked = ImGui::InvisibleButton("option", {width, height});
    const bool hovered = ImGui::IsItemHovered();
    ImGui::PopID();
    if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 end(at.x + width, at.y + height), below = ImGui::GetCursorScreenPos();
    draw->AddRectFilled(at, end, u32(hovered ? mix(t.raised, t.text, 0.08f) : t.raised), ui.px(4));
    draw->AddRect(at, end, u32(chosen ? t.text : t.line), ui.px(4));
    ImGui::SetCursorScreenPos({at.x + ui.px(12), at.y + ui.px(6)});
    view.draw(ui, {}, Emphasis::Full, inside);
    ImGui::SetCursorScreenPos({below.x, below.y - ui.px(4)});  // closer than other items
    return clicked;
}

void ask_option(AppState& app, LessonPanel& panel, LessonWalk& walk, const Question& question, BeatProgress& progress) {
    for (std::size_t k = 0; k < question.options.size(); ++k) {
        const bool chosen = progress.last && progress.chosen == k;
        if (!option_button(app, panel, walk, question.options[k].text, chosen, static_cast<int>(k))) continue;
        progress.chosen = k;
        answered(walk, progress, judge_option(question, k, walk.scenes));
    }
}

// A click on an item moves it up; the first stays where it is.
void ask_order(AppState& app, LessonPanel& panel, LessonWalk& walk, const Question& question, BeatProgress& progress) {
    for (std::size_t k = 0; k < progress.order.size(); ++k) {
        const Option& item = question.options[progress.order[k]];
        if (option_button(app, panel, walk, item.text, false, static_cast<int>(k)) && k > 0)
            std::swap(progress.order[k], progress.order[k - 1]);
        if (ImGui::IsItemHovered() && k > 0 && begin_tip(app.ui)) {
            tip_text(app.ui, app.ui.tr(kEarlier));
            end_tip();
        }
    }
    if (ImGui::Button(app.ui.tr(kCheckAnswer)))
        answered(walk, progress, judge_order(question, progress.order, walk.scenes));
}

// A cell that was clicked since the last frame is an answer, in the scene that the question is about.
void ask_cell(AppState& app, LessonPanel& panel, LessonWalk& walk, const Question& question, BeatProgress& progress) {
    small_text(app.ui, app.ui.tr(kClickCell));
    if (!app.selected || app.selected == panel.selected || walk.shown_scene != question.scene) return;
    const Tensor& tensor = app.run->trace.tensors[app.selected->tensor];
    answered(walk, progress, judge_cell(question, {tensor.name, app.selected->row, app.selected->col}, walk.scenes));
}

}  // namespace

void draw_question(AppState& app, LessonPanel& panel, LessonWalk& walk, const Question& question,
                   BeatProgress& progress) {
    if (!progress.done) {
        switch (question.kind) {
            case QuestionKind::Value:
                ask_value(app, walk, question, progress);
                break;
            case QuestionKind::Cell:
                ask_cell(app, panel, walk, question, progress);
                break;
            case QuestionKind::Order:
                ask_order(app, panel, walk, question, progress);
                break;
            case QuestionKind::Choice:
            case QuestionKind::Breaks:
                ask_option(app, panel, walk, question, progress);
                break;
        }
    }
    draw_judgement(app, panel, walk, progress);
    if (progress.done || progress.tries < 2) return;
    if (ImGui::Button(app.ui.tr(kShowAnswer))) answered(walk, progress, {Answer::Right, &question.right});
}

void draw_try(AppState& app, LessonPanel& panel, LessonWalk& walk, const TryIt& try_it, const BeatProgress& progress) {
    if (!progress.done) return small_text(app.ui, app.ui.tr(kNotYet));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    draw_icon(ImGui::GetWindowDrawList(), Icon::Check, {at.x + app.ui.px(8), at.y + ImGui::GetTextLineHeight() / 2},
              app.ui.px(14), u32(app.ui.theme().text));
    ImGui::Dummy({0, ImGui::GetTextLineHeight()});
    draw_prose(app, panel, walk, try_it.done, Emphasis::Full);
}

}  // namespace flashstep::viz
