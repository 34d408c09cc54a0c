// The lesson: its text beat by beat, the marked one in full ink with its question, and below it the way on.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "lessons/evaluate.h"
#include "viz/panels/lesson_text.h"
#include "viz/shell/frame.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kEmptyLesson{"No lesson is open. Press S for the shelf with all of them.",
                            "还没有打开课程。按 S 打开书架选一课。"};
constexpr Text kContinue{"Continue", "继续"};
constexpr Text kSpaceKey{"Space", "空格"};
constexpr Text kBeatBack{"back (Backspace)", "上一段（Backspace）"};
constexpr Text kNextLesson{"Next lesson: {title}", "下一课：{title}"};
constexpr Text kAllLessons{"All lessons", "全部课程"};
constexpr Text kPartOf{"part {part} of {parts}", "第 {part} 段，共 {parts} 段"};
constexpr Text kAsks{"with a question", "有提问"};
constexpr Text kAnswered{"answered", "已答对"};

constexpr float kIndent = 12, kFooter = 44, kSteps = 16;  // design pixels; the last two are heights
constexpr double kScrollSeconds = 0.2, kGrownSeconds = 0.1;
constexpr float kTopShare = 0.22f;  // of the panel: where a beat stands that is scrolled to

// One short bar for each beat: read, to come, and the marked one; with a question, a thicker one. A click goes there.
void draw_steps(AppState& app, LessonWalk& walk) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const int count = static_cast<int>(walk.lesson.beats.size());
    const float width = ImGui::GetContentRegionAvail().x, gap = std::round(ui.px(2)), height = ui.px(kSteps);
    const float each = (width + gap) / static_cast<float>(count), thin = ui.px(1.5f), thick = ui.px(3);
    for (int b = 0; b < count; ++b) {
        const auto index = static_cast<std::size_t>(b);
        const bool asks = walk.lesson.beats[index].question || walk.lesson.beats[index].try_it;
        const float x = std::round(at.x + each * static_cast<float>(b)),
                    end = std::round(at.x + each * static_cast<float>(b + 1)) - gap;
        ImGui::SetCursorScreenPos({x, at.y});
        ImGui::PushID(b);
        const bool clicked = ImGui::InvisibleButton("beat", {end - x + gap, height});
        ImGui::PopID();
        const bool over = ImGui::IsItemHovered();
        const float y = at.y + height / 2, half = (asks ? thick : thin) + (over ? ui.px(1) : 0);
        const bool open = asks && !walk.progress[index].done;
        const Rgb ink = b == walk.beat ? t.accent : b <= walk.reached ? t.quiet : t.line;
        const ImVec2 low(x, std::round(y - half)), high(end, std::round(y + half));
        if (open && b != walk.beat)
            draw->AddRect({low.x + 0.5f, low.y + 0.5f}, {high.x - 0.5f, high.y - 0.5f}, u32(ink), ui.px(1));
        else
            draw->AddRectFilled(low, high, u32(ink), ui.px(1));
        if (over) {
            ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
            if (begin_tip(ui)) {
                tip_text(ui, ui.tr(kPartOf, {{"part", std::to_string(b + 1)}, {"parts", std::to_string(count)}}));
                if (asks) tip_text(ui, ui.tr(open ? kAsks : kAnswered));
                end_tip();
            }
        }
        if (clicked) go_to_beat(app, b);
    }
    ImGui::SetCursorScreenPos({at.x, at.y + height + ui.px(4)});
}

void draw_heading(AppState& app, LessonWalk& walk) {
    const auto part = static_cast<std::size_t>(walk.lesson.part - 1);
    const std::string left(course_parts()[part].in(app.ui.language));
    section_header(app.ui, left, std::to_string(walk.beat + 1) + " / " + std::to_string(walk.lesson.beats.size()));
    draw_steps(app, walk);
}

// At the end of the lesson: to the next one, or to all of them.
void draw_way_on(AppState& app, const LessonWalk& walk, float width) {
    Ui& ui = app.ui;
    const auto next = std::ranges::find_if(lessons(), [&](const Lesson& l) { return l.number > walk.lesson.number; });
    const bool found = next != lessons().end();
    const std::string whole =
        found ? ui.tr(kNextLesson, {{"title", next->title.in(ui.language).text}}) : ui.tr(kAllLessons);
    const std::string label = fitted(ui.fonts.body, whole, width - 2 * ImGui::GetStyle().FramePadding.x);
    if (!ImGui::Button((label + "###on").c_str(), {0, ui.px(32)})) return;
    if (found)
        app.open_lesson(*next);
    else
        app.shelf_open = true;
}

// The way on and the way back, always at the same place.
void draw_footer(AppState& app, LessonWalk& walk, float y) {
    Ui& ui = app.ui;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, y}, {at.x + width, y + 1}, u32(ui.theme().line));
    ImGui::SetCursorScreenPos({at.x, y + ui.px(kFooter - 32)});
    const bool first = walk.beat == 0, last = walk.beat + 1 == static_cast<int>(walk.lesson.beats.size());
    if (icon_button(ui, "beat back", Icon::PreviousLine, ui.tr(kBeatBack), first ? Enabled::No : Enabled::Yes))
        back_in_lesson(app);
    ImGui::SameLine(0, ui.px(8));
    if (last) return draw_way_on(app, walk, width - ui.px(40));
    if (ImGui::Button(ui.tr(kContinue), {ui.px(120), ui.px(32)})) continue_lesson(app);
    ImGui::SameLine(0, ui.px(8));
    ImGui::AlignTextToFramePadding();
    small_text(ui, ui.tr(kSpaceKey));
}

// The text goes to where the marked beat is seen: its begin always at the same place, a little below the top, as far as
// its end is seen too; after an answer its end. `top` and `bottom` are the beat's, from the begin of the text.
void scroll_to_mark(AppState& app, LessonPanel& panel, LessonWalk& walk, float top, float bottom) {
    if (!walk.moved && !walk.replied) return;
    const Ui& ui = app.ui;
    const float view = ImGui::GetWindowHeight(), now = ImGui::GetScrollY(), pad = ui.px(12);
    const float least = bottom + pad - view, most = top - pad;  // between them the whole beat is seen
    const float to = walk.moved ? std::min(std::max(top - view * kTopShare, least), most) : std::max(now, least);
    walk.moved = walk.replied = false;
    panel.scroll_from = now, panel.scroll_to = std::max(0.0f, std::round(to));
    panel.scroll_began = app.time;
}

// A part of the way that scroll_to_mark() began.
void scroll(AppState& app, LessonPanel& panel, LessonWalk& walk) {
    walk.scrolling = panel.scroll_began >= 0;
    if (!walk.scrolling) return;
    const double part = app.ui.reduce_motion ? 1 : std::min(1.0, (app.time - panel.scroll_began) / kScrollSeconds);
    const float way = panel.scroll_to - panel.scroll_from;
    ImGui::SetScrollY(std::round(panel.scroll_from + way * ease_out(static_cast<float>(part))));
    // How far a text scrolls that has grown is known a frame later. A hand on the wheel ends the way.
    const bool there = part >= 1 && (ImGui::GetScrollY() == panel.scroll_to ||
                                     app.time - panel.scroll_began > kScrollSeconds + kGrownSeconds);
    if (there || ImGui::GetIO().MouseWheel != 0) panel.scroll_began = -1;
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
    if (marked && b + 1 == static_cast<int>(walk.lesson.beats.size())) draw_end_card(app, walk);
    ImGui::EndGroup();
    ImGui::PopID();
    const float bottom = ImGui::GetItemRectMax().y;
    if (marked) {
        ImGui::GetWindowDrawList()->AddRectFilled({at.x - ui.px(kIndent), at.y}, {at.x - ui.px(kIndent - 3), bottom},
                                                  u32(ui.theme().accent), ui.px(2));
        const float origin = ImGui::GetWindowPos().y - ImGui::GetScrollY();
        scroll_to_mark(app, panel, walk, at.y - origin, bottom - origin);
    } else if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(0) && ImGui::GetMouseCursor() != ImGuiMouseCursor_Hand) {
        go_to_beat(app, b);
    }
    ImGui::SetCursorScreenPos({at.x, bottom + ui.px(16)});
}

}  // namespace

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
    if (!shows_beat(app) && !app.session.busy()) draw_banner(app, *walk);
    // In a wide panel lines stay short enough to be read.
    const float width = ImGui::GetContentRegionAvail().x, wide = ui.px(760);
    if (width > wide) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + (width - wide) / 2);
    const float left = ImGui::GetCursorScreenPos().x;
    const float footer = std::round(ui.px(kFooter)), height = ImGui::GetContentRegionAvail().y - footer;
    ImGui::BeginChild("text", {std::min(width, wide), std::max(height, ui.px(40))}, false, ImGuiWindowFlags_NoNav);
    ImGui::Indent(ui.px(kIndent));
    const int last = walk->reached;
    for (int b = 0; b <= last; ++b) draw_beat(app, panel, *walk, b);
    ImGui::Dummy({0, std::round(ImGui::GetWindowHeight() * (1 - 2 * kTopShare))});  // so that the last beat scrolls up
    ImGui::Unindent(ui.px(kIndent));
    scroll(app, panel, *walk);
    ImGui::EndChild();
    ImGui::SetCursorScreenPos({left, ImGui::GetItemRectMax().y});
    draw_footer(app, *walk, std::round(ImGui::GetItemRectMax().y));
    panel.selected = app.selected;
}

}  // namespace flashstep::viz
