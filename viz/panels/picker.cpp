// The picker: type a few letters to find a lesson, preset, algorithm, kernel, known mistake, or where kernels run.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "viz/panels/where.h"
#include "viz/shell/frame.h"
#include "viz/shell/input.h"
#include "viz/text/text.h"
#include "viz/widgets/overlay.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kEmptySearch{"Nothing matches \"{text}\".", "没有与“{text}”匹配的内容。"};
constexpr Text kPickerHint{"Algorithm, lesson, preset, kernel, or where it runs",
                           "算法、课程、预设、kernel 或运行位置"};
constexpr Text kFault{"Mistake", "典型错误"};

struct PickerState {
    std::string filter;
    int chosen = 0;
    bool opening = true;
};

struct Entry {
    Text group;
    std::string title, note;
    const Lesson* lesson = nullptr;
    const Preset* preset = nullptr;
    const Algorithm* algorithm = nullptr;
    const gpu::KernelInfo* kernel = nullptr;
    const Fault* fault = nullptr;
    std::optional<RunPlace> place = {};
};

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

// Every word of the filter occurs somewhere in the entry.
bool matches(const Ui& ui, const Entry& entry, std::string_view filter) {
    const std::string text = lower(std::string(ui.tr(entry.group)) + " " + entry.title + " " + entry.note);
    std::string words = lower(filter);
    std::size_t at = 0;
    while ((at = words.find_first_not_of(' ', at)) != std::string::npos) {
        const std::size_t end = std::min(words.find(' ', at), words.size());
        if (text.find(words.substr(at, end - at)) == std::string::npos) return false;
        at = end;
    }
    return true;
}

std::vector<Entry> entries(AppState& app, std::string_view filter) {
    const Ui& ui = app.ui;
    std::vector<Entry> all;
    for (const Lesson& lesson : lessons())
        all.push_back({kLesson, lesson.title.in(ui.language).text, lesson.id, &lesson});
    for (const Preset& preset : presets())
        all.push_back({kPreset, std::string(preset.title.in(ui.language)), std::string(preset.id), nullptr, &preset});
    for (const Algorithm& algorithm : algorithms())
        all.push_back(
            {kAlgorithm, ui.tr(algorithm.title), std::string(algorithm.source), nullptr, nullptr, &algorithm});
    for (const gpu::KernelInfo& kernel : gpu::kernels())
        all.push_back({kKernel, std::string(kernel.id), std::string(kernel.title.in(ui.language)), nullptr, nullptr,
                       nullptr, &kernel});
    for (const Fault& fault : faults())
        all.push_back({kFault, ui.tr(fault.title), std::string(fault.id), nullptr, nullptr, nullptr, nullptr, &fault});
    for (RunPlace& place : run_places(app))
        all.push_back({.group = kRunsOn, .title = place.title, .note = place.note, .place = std::move(place)});
    std::erase_if(all, [&](const Entry& entry) { return !matches(ui, entry, filter); });
    return all;
}

void open(AppState& app, const Entry& entry) {
    if (entry.lesson) app.open_lesson(*entry.lesson);
    if (entry.preset) app.open_preset(*entry.preset);
    if (entry.algorithm) choose_algorithm(app, *entry.algorithm);
    if (entry.kernel) choose_kernel(app, entry.kernel->id);
    if (entry.fault) choose_fault(app, entry.fault);
    if (entry.place) choose_place(app, *entry.place);
}

bool draw_entry(AppState& app, const Entry& entry, bool chosen) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = ui.px(32), group = ui.px(96);
    const bool clicked = ImGui::InvisibleButton("entry", {width, height});
    ImDrawList* draw = ImGui::GetWindowDrawList();
    if (chosen || ImGui::IsItemHovered())
        draw->AddRectFilled(at, {at.x + width, at.y + height}, u32(mix(t.raised, t.text, chosen ? 0.14f : 0.07f)),
                            ui.px(4));
    const bool quiet = entry.place && !entry.place->available;
    const float base = at.y + ui.px(21), title = width * 0.46f;
    draw_text_on(draw, ui.fonts.small, at.x + ui.px(8), base, u32(t.quiet), ui.tr(entry.group));
    draw_text_on(draw, ui.fonts.body, at.x + group, base, u32(quiet ? t.quiet : t.text),
                 fitted(ui.fonts.body, entry.title, title - ui.px(8)));
    draw_text_on(draw, ui.fonts.small, at.x + group + title, base, u32(t.quiet),
                 fitted(ui.fonts.small, entry.note, width - group - title - ui.px(8)));
    return clicked;
}

}  // namespace

void draw_picker(AppState& app) {
    Ui& ui = app.ui;
    PickerState& state = own_state<PickerState>(app);
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const ImVec2 size(std::min(ui.px(760), screen.x - ui.px(48)), std::min(ui.px(480), screen.y - ui.px(120)));
    if (!begin_overlay(app, "picker", app.picker_open, {(screen.x - size.x) / 2, ui.px(72)}, size)) {
        state = {};
        return;
    }
    if (state.opening) ImGui::SetKeyboardFocusHere();
    state.opening = false;
    ImGui::SetNextItemWidth(-1);
    if (ImGui::InputTextWithHint("##filter", ui.tr(kPickerHint), &state.filter)) state.chosen = 0;
    const std::vector<Entry> found = entries(app, state.filter);
    const int count = static_cast<int>(found.size());
    const int before = state.chosen;
    if (key_pressed(Key::Down, {}, Repeat::Yes)) ++state.chosen;
    if (key_pressed(Key::Up, {}, Repeat::Yes)) --state.chosen;
    state.chosen = std::clamp(state.chosen, 0, std::max(0, count - 1));
    bool done = key_pressed(Key::Escape);

    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    ImGui::BeginChild("entries", {0, 0}, false);
    for (int k = 0; k < count; ++k) {
        ImGui::PushID(k);
        const bool clicked = draw_entry(app, found[k], k == state.chosen);
        if (k == state.chosen && state.chosen != before) ImGui::SetScrollHereY(0.5f);
        ImGui::PopID();
        if (!clicked && !(k == state.chosen && key_pressed(Key::Enter))) continue;
        if (found[k].place && !found[k].place->available) continue;  // its note says why
        open(app, found[k]);
        done = true;
    }
    if (count == 0) empty_state(ui, ui.tr(kEmptySearch, {{"text", state.filter}}));
    ImGui::EndChild();
    ImGui::PopStyleVar();
    if (done) {
        app.picker_open = false;
        ImGui::CloseCurrentPopup();
        frame_state(app).overlay.clear();
    }
    end_overlay();
    if (done) state = {};
}

}  // namespace flashstep::viz
