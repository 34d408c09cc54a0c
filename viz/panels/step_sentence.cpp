// The step's sentence in the window: as large as leaves room for the memory view, and always all of it.
#include "viz/panels/step_sentence.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "lab/sentence.h"
#include "viz/panels/cells.h"
#include "viz/widgets/measures.h"

namespace flashstep::viz {
namespace {

constexpr float kMostBodyShare = 1.0f / 7;  // of the panel's height; what takes more is set in the smaller type
constexpr std::size_t kSamples = 8;         // steps of each line that are measured ahead

std::string text_of(const AppState& app, const StepView& view, int row) {
    return app.ui.tr(sentence_of(*app.run->algorithm, app.run->trace, view, row).whole());
}

// The row of a tile that is told of: the selected cell's, where the step wrote it. -1: where the most happens.
int told_row(const AppState& app) {
    if (!app.selected) return -1;
    const CellVersion cell = version_of(app, *app.selected);
    return cell.version >= 0 && app.run->trace.versions[cell.version].step == app.player->step() ? cell.row : -1;
}

// Some steps of each line, from all over the walk.
std::vector<int> sample_steps(const AppState& app) {
    std::map<int, std::vector<int>> of_line;
    for (int p = 1; p <= app.player->count(); ++p) {
        const int step = app.player->step_at(p);
        of_line[app.run->trace.steps[step].line].push_back(step);
    }
    std::vector<int> samples = {0};
    for (const auto& [line, steps] : of_line) {
        const std::size_t count = std::min(kSamples, steps.size());
        for (std::size_t k = 0; k < count; ++k)
            samples.push_back(steps[count == 1 ? 0 : k * (steps.size() - 1) / (count - 1)]);
    }
    return samples;
}

void take_size(AppState& app, StepSentencePanel& panel) {
    Ui& ui = app.ui;
    std::vector<std::string> texts;
    for (const int step : sample_steps(app)) texts.push_back(text_of(app, view_of(app.run->trace, step), -1));
    for (const TextSize size : {TextSize::Body, TextSize::Small}) {
        panel.size = size, panel.height = 0;
        MarkdownView view;
        for (const std::string& text : texts) {
            view.set(text, size);
            panel.height = std::max(panel.height, view.measure(ui, panel.room.x));
        }
        if (panel.height <= kMostBodyShare * panel.room.y) break;
    }
}

}  // namespace

float step_sentence_height(AppState& app, ImVec2 room) {
    Ui& ui = app.ui;
    StepSentencePanel& panel = run_state<StepSentencePanel>(app);
    if (panel.room.x != room.x || panel.room.y != room.y || panel.scale != ui.scale || panel.language != ui.language) {
        panel.room = room, panel.scale = ui.scale, panel.language = ui.language;
        panel.step = -1;
        take_size(app, panel);
    }
    const int step = app.player->step(), row = told_row(app);
    if (panel.step != step || panel.row != row) {
        panel.step = step, panel.row = row;
        panel.text.set(text_of(app, app.player->view(), row), panel.size);
        // A longer one than those that were measured ahead.
        panel.height = std::max(panel.height, panel.text.measure(ui, room.x));
    }
    return panel.height + std::round(ui.px(kGap));
}

void draw_step_sentence(AppState& app) {
    StepSentencePanel& panel = run_state<StepSentencePanel>(app);
    panel.at = ImGui::GetCursorScreenPos();
    panel.at.y += std::round(app.ui.px(kGap));
    ImGui::SetCursorScreenPos(panel.at);
    panel.text.draw(app.ui, {}, Emphasis::Full, panel.room.x);
}

}  // namespace flashstep::viz
