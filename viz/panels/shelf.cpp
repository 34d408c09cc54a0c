// The shelf: all lessons by part with what each is for and how far you are, the presets, and your own tensors.
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "viz/shell/frame.h"
#include "viz/shell/input.h"
#include "viz/shell/lesson_walk.h"
#include "viz/text/text.h"
#include "viz/widgets/overlay.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kShelf{"Lessons", "课程书架"};
constexpr Text kWhatThisIs{"FlashAttention, one line at a time: every number can be clicked, every byte is counted.",
                           "逐行看 FlashAttention：每个数都能点开，每个字节都有账。"};
constexpr Text kProblems{"Problems without a lesson", "只看问题，不上课"};
constexpr Text kOwnTensors{"Open your own tensors", "打开自己的张量"};
constexpr Text kOwnTensorsHow{"sizes, blocks, masks, and .npy or .csv files for Q, K, V",
                              "设置尺寸、分块、掩码，或为 Q、K、V 载入 .npy、.csv 文件"};
constexpr Text kAtPart{"part {part} of {parts}", "读到 {part} / {parts}"};
constexpr Text kForget{"Forget my progress", "清除学习进度"};
constexpr Text kForgetSure{"Forget it all? Click again", "确定全部清除？再点一次"};
constexpr Text kShelfKeys{"↑ ↓ and Enter choose, Esc closes", "↑ ↓ 选择，Enter 打开，Esc 关闭"};

constexpr float kRow = 44, kHeading = 32, kLeastColumn = 360;  // design pixels

struct ShelfState {
    int chosen = -1;  // row under the keyboard
    bool asked = false;
};

// What a click on a row opens.
struct Row {
    const Lesson* lesson = nullptr;
    const Preset* preset = nullptr;  // neither: your own tensors
};

struct Column {
    std::vector<int> parts;  // of the course
    int rows = 0;
};

int rows_of_part(int part) { return static_cast<int>(std::ranges::count(lessons(), part, &Lesson::part)); }

// Parts one after another into as many columns, none much longer than the others.
std::vector<Column> columns_of(int count) {
    int all = 0;
    for (int part = 1; part <= static_cast<int>(course_parts().size()); ++part)
        if (rows_of_part(part) > 0) all += rows_of_part(part) + 1;
    std::vector<Column> columns(1);
    for (int part = 1; part <= static_cast<int>(course_parts().size()); ++part) {
        const int rows = rows_of_part(part);
        if (rows == 0) continue;
        const int target = (all + count - 1) / count, with = columns.back().rows + rows + 1;
        const bool better_alone = with - target > target - columns.back().rows;
        if (columns.back().rows > 0 && better_alone && static_cast<int>(columns.size()) < count) columns.emplace_back();
        columns.back().parts.push_back(part);
        columns.back().rows += rows + 1;
    }
    return columns;
}

void open(AppState& app, const Row& row) {
    if (row.lesson)
        open_in_lesson_layout(app, *row.lesson);
    else if (row.preset)
        open_at_bench(app, *row.preset);
    else
        open_at_bench(app);
    app.shelf_open = false;
}

// A title with a quiet line below it; before it `draw_mark` at the middle of a square.
struct RowText {
    std::string_view id, title, note, right = {};
    bool chosen = false, current = false;
};
template <class Mark>
bool shelf_row(Ui& ui, float width, const RowText& row, Mark draw_mark) {
    const auto& [id, title, note, right, chosen, current] = row;
    const Theme& t = ui.theme();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = std::round(ui.px(kRow)), left = ui.px(40);
    const bool clicked = ImGui::InvisibleButton(std::string(id).c_str(), {width, height});
    const bool over = ImGui::IsItemHovered();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 end(at.x + width, at.y + height);
    if (over || chosen) draw->AddRectFilled(at, end, u32(mix(t.raised, t.text, 0.10f)), ui.px(4));
    if (current) draw->AddRectFilled(at, {at.x + ui.px(3), end.y}, u32(t.text), ui.px(2));
    draw_mark(draw, ImVec2(at.x + ui.px(22), at.y + ui.px(15)));
    const float room = width - left - ui.px(8), right_w = text_width(ui.fonts.small, right);
    const float title_room = room - (right.empty() ? 0 : right_w + ui.px(12));
    const std::string shown = fitted(ui.fonts.body, title, title_room), below = fitted(ui.fonts.small, note, room);
    draw_text_on(draw, ui.fonts.body, at.x + left, at.y + ui.px(20), u32(t.text), shown);
    draw_text_on(draw, ui.fonts.small, end.x - ui.px(8) - right_w, at.y + ui.px(20), u32(t.quiet), right);
    draw_text_on(draw, ui.fonts.small, at.x + left, at.y + ui.px(38), u32(t.quiet), below);
    if (over && (shown != title || below != note) && begin_tip(ui)) {
        if (shown != title) ImGui::TextUnformatted(title.data(), title.data() + title.size());
        wrapped_tip_text(ui, note);
        end_tip();
    }
    return clicked;
}

// Plain words of a text that may hold formulas or marks of Markdown.
std::string plain(std::string_view text) {
    std::string out(text);
    std::erase_if(out, [](char c) { return c == '$' || c == '*' || c == '`'; });
    return out;
}

bool lesson_row(AppState& app, const Lesson& lesson, const CourseProgress& progress, float width, bool chosen) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const int parts = static_cast<int>(lesson.beats.size());
    const auto found = progress.find(lesson.id);
    const LessonProgress read = found == progress.end() ? LessonProgress{} : found->second;
    const bool done = found != progress.end() && read.reached + 1 == parts, begun = read.reached > 0 && !done;
    const std::string right =
        begun ? ui.tr(kAtPart, {{"part", std::to_string(read.reached + 1)}, {"parts", std::to_string(parts)}}) : "";
    const std::string number = (lesson.number < 10 ? "0" : "") + std::to_string(lesson.number);
    const std::string aim = plain(lesson.aim.in(ui.language).text);
    return shelf_row(ui, width,
                     {lesson.id, lesson.title.in(ui.language).text, aim, right, chosen, app.lesson == &lesson},
                     [&](ImDrawList* draw, ImVec2 c) {
                         if (done) return draw_icon(draw, Icon::Check, c, ui.px(16), u32(t.text));
                         draw_text(draw, ui.fonts.small, {c.x - text_width(ui.fonts.small, number) / 2, c.y - ui.px(7)},
                                   u32(begun ? t.text : t.quiet), number);
                     });
}

void heading(Ui& ui, std::string_view text) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    draw_text_on(ImGui::GetWindowDrawList(), ui.fonts.bold, at.x + ui.px(8), at.y + ui.px(21), u32(ui.theme().text),
                 text);
    ImGui::Dummy({1, std::round(ui.px(kHeading))});
}

struct Shelf {
    AppState& app;
    ShelfState& state;
    const CourseProgress& progress;
    float width;                 // of a row
    std::vector<Row> rows = {};  // in the order in which they are drawn
    int opened = -1;

    // Before a row is drawn: whether the keyboard is on it.
    bool next(Row row) {
        rows.push_back(row);
        return state.chosen == static_cast<int>(rows.size()) - 1;
    }
    void clicked(bool was) {
        if (was) opened = static_cast<int>(rows.size()) - 1;
    }

    void part(int part) {
        heading(app.ui, course_parts()[static_cast<std::size_t>(part - 1)].in(app.ui.language));
        for (const Lesson& lesson : lessons()) {
            if (lesson.part != part) continue;
            const bool chosen = next({.lesson = &lesson});
            clicked(lesson_row(app, lesson, progress, width, chosen));
        }
    }

    void problems() {
        Ui& ui = app.ui;
        heading(ui, ui.tr(kProblems));
        const auto dot = [&](ImDrawList* draw, ImVec2 c) { draw->AddCircleFilled(c, ui.px(2), u32(ui.theme().quiet)); };
        bool chosen = next({});
        clicked(shelf_row(ui, width, {"own tensors", ui.tr(kOwnTensors), ui.tr(kOwnTensorsHow), {}, chosen}, dot));
        for (const Preset& preset : presets()) {
            chosen = next({.preset = &preset});
            const std::string note = problem_summary(ui, preset.problem);
            const bool current = !app.lesson && app.preset == &preset;
            clicked(shelf_row(ui, width, {preset.id, preset.title.in(ui.language), note, {}, chosen, current}, dot));
        }
    }
};

void take_keys(ShelfState& state) {
    if (key_pressed(Key::Down, {}, Repeat::Yes)) ++state.chosen;
    if (key_pressed(Key::Up, {}, Repeat::Yes)) state.chosen = std::max(0, state.chosen - 1);
}

void draw_bottom(AppState& app, ShelfState& state, float width) {
    Ui& ui = app.ui;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::AlignTextToFramePadding();
    small_text(ui, ui.tr(kShelfKeys));
    const char* label = ui.tr(state.asked ? kForgetSure : kForget);
    const float button = ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
    ImGui::SetCursorScreenPos({at.x + width - button, at.y});
    if (!ImGui::Button(label)) return;
    if (state.asked) set_course_progress(app, {});
    state.asked = !state.asked;
}

}  // namespace

void draw_shelf_of_lessons(AppState& app) {
    Ui& ui = app.ui;
    ShelfState& state = own_state<ShelfState>(app);
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const ImVec2 size(std::min(ui.px(1400), screen.x - ui.px(48)), std::min(ui.px(900), screen.y - ui.px(48)));
    if (!begin_overlay(app, "shelf", app.shelf_open, {(screen.x - size.x) / 2, (screen.y - size.y) / 2}, size)) return;
    if (ImGui::IsWindowAppearing()) state = {};
    overlay_title(app, ui.tr(kShelf), app.shelf_open);
    small_text(ui, ui.tr(kWhatThisIs));
    const CourseProgress progress = course_progress(app);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float height = room.y - std::round(ui.px(44)), gap = std::round(ui.px(16)), bar = ui.px(14);
    const int fit = std::clamp(static_cast<int>((room.x + gap) / (ui.px(kLeastColumn) + gap)), 1, 3);
    const std::vector<Column> columns = columns_of(std::max(1, fit - 1));
    const float all = static_cast<float>(columns.size() + (fit > 1 ? 1 : 0));
    Shelf shelf{app, state, progress, std::floor((room.x - (all - 1) * gap) / all - bar)};
    take_keys(state);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float beside = fit > 1 ? shelf.width + bar + gap : 0;
    ImGui::BeginChild("lessons", {room.x - beside, height}, false);
    const ImVec2 first = ImGui::GetCursorScreenPos();
    for (std::size_t c = 0; c < columns.size(); ++c) {
        ImGui::SetCursorScreenPos({first.x + (shelf.width + bar + gap) * static_cast<float>(c), first.y});
        ImGui::BeginGroup();
        for (const int part : columns[c].parts) shelf.part(part);
        ImGui::EndGroup();
    }
    if (fit == 1) shelf.problems();
    ImGui::EndChild();
    if (fit > 1) {
        ImGui::SetCursorScreenPos({corner.x + room.x - shelf.width - bar, corner.y});
        ImGui::BeginChild("problems", {shelf.width + bar, height}, false);
        shelf.problems();
        ImGui::EndChild();
    }
    ImGui::PopStyleVar();
    ImGui::SetCursorScreenPos({corner.x, corner.y + height + ui.px(12)});
    state.chosen = std::min(state.chosen, static_cast<int>(shelf.rows.size()) - 1);
    const bool entered = key_pressed(Key::Enter) && state.chosen >= 0;
    if (entered) shelf.opened = state.chosen;
    draw_bottom(app, state, room.x);
    if (shelf.opened >= 0) {
        open(app, shelf.rows[static_cast<std::size_t>(shelf.opened)]);
        ImGui::CloseCurrentPopup();
        frame_state(app).overlay.clear();
    }
    end_overlay();
}

}  // namespace flashstep::viz
