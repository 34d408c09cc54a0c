// The lesson: its text beat by beat, the marked one in full ink, with its question, and the way on.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/error.h"
#include "lessons/evaluate.h"
#include "viz/shell/frame.h"
#include "viz/shell/lesson_walk.h"
#include "viz/text/markdown.h"
#include "viz/text/text.h"
#include "viz/widgets/child.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kEmptyLesson{"No lesson is open. Choose one with Ctrl+P.", "还没有打开课程。按 Ctrl+P 选择。"};
constexpr Text kContinue{"Continue", "继续"};
constexpr Text kSpaceKey{"Space", "空格"};
constexpr Text kNextLesson{"Next lesson: {title}", "下一课：{title}"};
constexpr Text kElsewhere{"The text is about another run than the one that is shown.",
                          "当前显示的运行不是这段文字所说的。"};
constexpr Text kBack{"Back to the lesson's run", "回到本课的运行"};
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
constexpr Text kSources{"Sources", "出处"};

struct LessonPanel {
    const Lesson* lesson = nullptr;
    Language language = Language::English;
    std::unordered_map<const Prose*, MarkdownView> views;  // of the texts that were shown
    std::optional<CellRef> selected;                       // in the frame before
};

// The text with its numbers, laid out once.
MarkdownView& view_of(LessonPanel& panel, LessonWalk& walk, const Prose& prose) {
    const auto [found, fresh] = panel.views.try_emplace(&prose);
    if (!fresh) return found->second;
    try {
        found->second.set(resolve(prose, panel.language, walk.scenes));
    } catch (const Error& error) { found->second.set(error.what()); }
    return found->second;
}

void draw_prose(AppState& app, LessonPanel& panel, LessonWalk& walk, const Prose& prose, Emphasis emphasis) {
    view_of(panel, walk, prose)
        .draw(
            app.ui, [&](std::string_view target) { follow_link(app, target); }, emphasis);
}

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

// What is shown is not what the text is about: how to come back.
void draw_banner(AppState& app, LessonWalk& walk) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    draw->ChannelsSplit(2);
    draw->ChannelsSetCurrent(1);
    ImGui::SetCursorScreenPos({at.x + ui.px(12), at.y + ui.px(8)});
    ImGui::BeginGroup();
    if (!walk.lesson.beats[static_cast<std::size_t>(walk.beat)].try_it) {  // else it is what was asked for
        ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width - ui.px(24));
        ImGui::TextUnformatted(ui.tr(kElsewhere));
        ImGui::PopTextWrapPos();
    }
    if (ImGui::Button(ui.tr(kBack))) go_to_beat(app, walk.beat);
    ImGui::EndGroup();
    const float bottom = ImGui::GetItemRectMax().y + ui.px(8);
    draw->ChannelsSetCurrent(0);
    draw->AddRectFilled(at, {at.x + width, bottom}, u32(t.raised), ui.px(4));
    draw->ChannelsMerge();
    ImGui::SetCursorScreenPos({at.x, bottom + ui.px(12)});
}

void draw_heading(AppState& app, const LessonWalk& walk) {
    const auto part = static_cast<std::size_t>(walk.lesson.part - 1);
    const std::string left = std::string(course_parts()[part].in(app.ui.language));
    const std::string right = std::to_string(walk.beat + 1) + " / " + std::to_string(walk.lesson.beats.size());
    section_header(app.ui, left, right);
}

void draw_continue(AppState& app, LessonWalk& walk) {
    Ui& ui = app.ui;
    if (walk.beat + 1 < static_cast<int>(walk.lesson.beats.size())) {
        if (ImGui::Button(ui.tr(kContinue), {ui.px(120), ui.px(32)})) continue_lesson(app);
        ImGui::SameLine(0, ui.px(8));
        ImGui::AlignTextToFramePadding();
        small_text(ui, ui.tr(kSpaceKey));
        return;
    }
    const Lesson* next = nullptr;
    for (const Lesson& lesson : lessons())
        if (lesson.number > walk.lesson.number && !next) next = &lesson;
    if (next && ImGui::Button(ui.tr(kNextLesson, {{"title", next->title.in(ui.language).text}}).c_str()))
        app.open_lesson(*next);
    small_text(ui, ui.tr(kSources));
    for (const std::string& source : walk.lesson.sources) small_text(ui, source);
}

// Scrolls so that the marked beat is seen, its begin at least, or after an answer its end.
void scroll_to(LessonWalk& walk, const Ui& ui, float top, float bottom) {
    if (!walk.moved && !walk.replied) return;
    const float view = ImGui::GetWindowHeight(), pad = ui.px(12), now = ImGui::GetScrollY();
    const float least = bottom + pad - view, most = top - pad;
    ImGui::SetScrollY(walk.replied && !walk.moved ? std::max(now, least) : std::min(std::max(now, least), most));
    walk.moved = walk.replied = false;
}

void draw_beat(AppState& app, LessonPanel& panel, LessonWalk& walk, int b) {
    Ui& ui = app.ui;
    const Beat& beat = walk.lesson.beats[static_cast<std::size_t>(b)];
    BeatProgress& progress = walk.progress[static_cast<std::size_t>(b)];
    const bool marked = b == walk.beat;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(b);
    ImGui::BeginGroup();
    draw_prose(app, panel, walk, beat.text, marked ? Emphasis::Full : Emphasis::Quiet);
    if (marked && beat.question) draw_question(app, panel, walk, *beat.question, progress);
    if (marked && beat.try_it) draw_try(app, panel, walk, *beat.try_it, progress);
    if (marked) draw_continue(app, walk);
    ImGui::EndGroup();
    ImGui::PopID();
    const float bottom = ImGui::GetItemRectMax().y;
    if (marked) {
        ImGui::GetWindowDrawList()->AddRectFilled({at.x - ui.px(12), at.y}, {at.x - ui.px(9), bottom},
                                                  u32(ui.theme().accent), ui.px(2));
        const float origin = ImGui::GetWindowPos().y - ImGui::GetScrollY();
        scroll_to(walk, ui, at.y - origin, bottom - origin);
    } else if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(0) && ImGui::GetMouseCursor() != ImGuiMouseCursor_Hand) {
        go_to_beat(app, b);
    }
    ImGui::SetCursorScreenPos({at.x, bottom + ui.px(16)});
}

}  // namespace

void draw_lesson_panel(AppState& app) {
    Ui& ui = app.ui;
    LessonPanel& panel = own_state<LessonPanel>(app);
    LessonWalk* walk = lesson_walk(app);
    if (!walk) {
        empty_state(ui, ui.tr(kEmptyLesson));
        return;
    }
    if (panel.lesson != app.lesson || panel.language != ui.language) {
        panel.lesson = app.lesson, panel.language = ui.language;
        panel.views.clear();
        walk->moved = true;
    }
    draw_heading(app, *walk);
    ImGui::Dummy({0, ui.px(4)});
    if (!shows_beat(app) && !app.session.busy()) draw_banner(app, *walk);
    // In a wide panel lines stay short enough to be read.
    const float width = ImGui::GetContentRegionAvail().x, wide = ui.px(760);
    if (width > wide) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + (width - wide) / 2);
    ImGui::BeginChild("text", {std::min(width, wide), 0}, false, ImGuiWindowFlags_NoNav);
    ImGui::Indent(ui.px(12));
    const int last = walk->reached;
    for (int b = 0; b <= last; ++b) draw_beat(app, panel, *walk, b);
    ImGui::Unindent(ui.px(12));
    reach_cursor();
    ImGui::EndChild();
    panel.selected = app.selected;
}

}  // namespace flashstep::viz
