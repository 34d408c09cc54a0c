// Where the lesson's text ends: the run in one line, what was left out, and where to go on. And where what is shown is
// not what the text is about: what it is, and the way back.
#include <imgui.h>

#include <algorithm>

#include "core/algorithms.h"
#include "core/faults.h"
#include "lab/format.h"
#include "viz/panels/lesson_text.h"
#include "viz/shell/frame.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kLessonDone{"Lesson {number} is done", "第 {number} 课学完了"};
constexpr Text kRunMoved{"This run: {bytes} of HBM. {plain}: {other}.", "这次运行访存 {bytes}，{plain}要搬 {other}。"};
constexpr Text kRunMovedAlone{"This run: {bytes} of HBM.", "这次运行访存 {bytes}。"};
constexpr Text kRunDiffers{"Largest difference to the kernel: {error}.", "与 kernel 的最大误差：{error}。"};
constexpr Text kRunExact{"The kernel gives the same numbers.", "kernel 的结果完全相同。"};
constexpr Text kQuestionsOpen{"{open} of {all} questions and experiments are still open",
                              "{all} 个提问和实验里还有 {open} 个没做"};
constexpr Text kQuestionsDone{"All {all} questions and experiments done.", "{all} 个提问和实验都做完了。"};
constexpr Text kTryAtBench{"Change its numbers in the workbench", "到工作台里改数据试试"};
constexpr Text kSources{"Sources", "出处"};

constexpr Text kShownIs{"Shown is {shown}. The text is about {text}.", "现在显示的是{shown}，这段文字说的是{text}。"};
constexpr Text kShownNumbers{"Other inputs are shown than those of the text.",
                             "现在显示的输入数据和这段文字说的不一样。"};
constexpr Text kShownHead{"Shown is head {head}. The text is about head 1.",
                          "现在显示的是第 {head} 个 head，这段文字说的是第 1 个。"};
constexpr Text kWithMistake{"{algorithm} with the mistake {fault}", "带有错误 {fault} 的 {algorithm}"};
constexpr Text kNoMistake{"{algorithm} without a mistake", "没有错误的 {algorithm}"};
constexpr Text kBack{"Back to the lesson's run", "回到本课的运行"};

// Text and buttons on a raised ground, the width of the panel.
template <class Contents>
void card(Ui& ui, Contents contents) {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    draw->ChannelsSplit(2);
    draw->ChannelsSetCurrent(1);
    ImGui::SetCursorScreenPos({at.x + ui.px(12), at.y + ui.px(8)});
    ImGui::BeginGroup();
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width - ui.px(24));
    ImGui::PushStyleColor(ImGuiCol_Button, u32(mix(ui.theme().raised, ui.theme().text, 0.09f)));
    contents(width - ui.px(24));
    ImGui::PopStyleColor();
    ImGui::PopTextWrapPos();
    ImGui::EndGroup();
    const float bottom = ImGui::GetItemRectMax().y + ui.px(8);
    draw->ChannelsSetCurrent(0);
    draw->AddRectFilled(at, {at.x + width, bottom}, u32(ui.theme().raised), ui.px(4));
    draw->ChannelsMerge();
    ImGui::SetCursorScreenPos({at.x, bottom + ui.px(12)});
}

bool wide_button(Ui& ui, const std::string& label, float width) {
    const float pad = 2 * ImGui::GetStyle().FramePadding.x;
    return ImGui::Button((fitted(ImGui::GetFont(), label, width - pad) + "##" + label).c_str(), {width, ui.px(32)});
}

// Bytes beside the yardstick's, and the difference to the kernel.
std::string run_line(const Ui& ui, const Run& run) {
    const auto hbm = [](const Traffic& traffic) { return bytes_text(traffic.hbm_read + traffic.hbm_write); };
    const std::string bytes = hbm(run.trace.steps[run.trace.last_step()].total);
    std::string line =
        run.plain ? ui.tr(kRunMoved,
                          {{"bytes", bytes}, {"plain", ui.tr(run.plain->title)}, {"other", hbm(run.standard.traffic)}})
                  : ui.tr(kRunMovedAlone, {{"bytes", bytes}});
    if (!run.comparison || !run.kernel_run) return line;
    const double most = run.comparison->worst_error;
    line += ui.language == Language::English ? " " : "";
    return line + (most == 0 ? ui.tr(kRunExact) : ui.tr(kRunDiffers, {{"error", error_text(most)}}));
}

// The first beat whose question is not answered; -1: none. `all` counts those that ask.
int first_open(const LessonWalk& walk, int& open, int& all) {
    int first = -1;
    open = all = 0;
    for (int b = 0; b < static_cast<int>(walk.lesson.beats.size()); ++b) {
        const Beat& beat = walk.lesson.beats[static_cast<std::size_t>(b)];
        if (!beat.question && !beat.try_it) continue;
        ++all;
        if (walk.progress[static_cast<std::size_t>(b)].done) continue;
        ++open;
        if (first < 0) first = b;
    }
    return first;
}

std::string algorithm_with_mistake(const Ui& ui, const Recipe& recipe, const Recipe& other) {
    const Algorithm* algorithm = find_algorithm(recipe.algorithm);
    const std::string title = algorithm ? ui.tr(algorithm->title) : recipe.algorithm;
    if (!recipe.fault.empty()) return ui.tr(kWithMistake, {{"algorithm", title}, {"fault", recipe.fault}});
    return other.fault.empty() ? title : ui.tr(kNoMistake, {{"algorithm", title}});
}

// What tells the run that is shown from the one that the text is about, the greatest difference first.
std::string difference_text(AppState& app) {
    const Ui& ui = app.ui;
    const Recipe &shown = app.run->recipe, &text = recipe_of_beat(app);
    const auto both = [&](const std::string& a, const std::string& b) {
        return ui.tr(kShownIs, {{"shown", a}, {"text", b}});
    };
    if (shown.algorithm != text.algorithm || shown.fault != text.fault)
        return both(algorithm_with_mistake(ui, shown, text), algorithm_with_mistake(ui, text, shown));
    const std::string a = problem_summary(ui, shown.problem), b = problem_summary(ui, text.problem);
    if (a != b) return both(a, b);
    if (app.player && app.player->head() > 0)
        return ui.tr(kShownHead, {{"head", std::to_string(app.player->head() + 1)}});
    return ui.tr(kShownNumbers);
}

}  // namespace

void draw_banner(AppState& app, LessonWalk& walk) {
    Ui& ui = app.ui;
    card(ui, [&](float) {
        if (!walk.marked().try_it && app.run)  // else it is what was asked for
            ImGui::TextUnformatted(difference_text(app).c_str());
        if (ImGui::Button(ui.tr(kBack))) go_to_beat(app, walk.beat);
    });
}

void draw_end_card(AppState& app, LessonWalk& walk) {
    Ui& ui = app.ui;
    ImGui::Dummy({0, ui.px(8)});
    int open = 0, all = 0;
    const int first = first_open(walk, open, all);
    card(ui, [&](float width) {
        ImGui::PushFont(ui.fonts.bold);
        ImGui::TextUnformatted(ui.tr(kLessonDone, {{"number", std::to_string(walk.lesson.number)}}).c_str());
        ImGui::PopFont();
        if (app.run && shows_beat(app)) small_text(ui, run_line(ui, *app.run));
        if (all > 0 && open == 0) small_text(ui, ui.tr(kQuestionsDone, {{"all", std::to_string(all)}}));
        ImGui::Dummy({0, ui.px(4)});
        if (first >= 0 &&
            wide_button(ui, ui.tr(kQuestionsOpen, {{"open", std::to_string(open)}, {"all", std::to_string(all)}}),
                        width))
            go_to_beat(app, first);
        if (wide_button(ui, ui.tr(kTryAtBench), width)) open_at_bench(app);
    });
    small_text(ui, ui.tr(kSources));
    for (const std::string& source : walk.lesson.sources) small_text(ui, source);
}

}  // namespace flashstep::viz
