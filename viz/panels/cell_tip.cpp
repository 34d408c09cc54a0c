// Tooltip of a cell.
#include "viz/panels/cell_tip.h"

#include <algorithm>
#include <cmath>

#include "core/explain.h"
#include "lab/format.h"
#include "viz/panels/memory_layout.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kNeverWritten{"not written yet", "尚未写入"};
constexpr Text kUsedBy{"Used by", "用于"};
constexpr Text kLegendScale{"Scale: −{scale} to {scale}, the same at every step",
                            "色标：−{scale} 到 {scale}，各步统一"};
constexpr Text kLegendSequential{"Scale: 0 to {scale}, the same at every step", "色标：0 到 {scale}，各步统一"};

// A label and, typeset after it, the names of the versions' tensors, each once.
void names_line(AppState& app, const Text& label, const std::vector<int>& versions) {
    if (versions.empty()) return;
    Ui& ui = app.ui;
    const Trace& trace = app.run->trace;
    std::vector<int> tensors;
    for (const int v : versions) {
        const int tensor = trace.versions[v].tensor;
        if (std::find(tensors.begin(), tensors.end(), tensor) == tensors.end()) tensors.push_back(tensor);
    }
    tip_text(ui, ui.tr(label));
    for (const int tensor : tensors) {
        ImGui::SameLine();
        formula(ui, ui.formulas.get(ui, name_to_tex(trace.tensors[tensor].name), 14));
    }
}

// From the most negative tint to the most positive one, with what they stand for.
void scale_legend(AppState& app, int tensor) {
    Ui& ui = app.ui;
    const Tensor& shown = app.run->trace.tensors[tensor];
    const Family family = tensor_style(shown.name).family;
    const bool sequential = shown.kind == TensorKind::Weights || shown.kind == TensorKind::Sum;  // never negative
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ui.px(120), height = ui.px(8);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    constexpr int kSteps = 24;
    for (int k = 0; k < kSteps; ++k) {
        const float t = (static_cast<float>(k) + 0.5f) / kSteps;
        const float x0 = at.x + width * static_cast<float>(k) / kSteps,
                    x1 = at.x + width * static_cast<float>(k + 1) / kSteps;
        draw->AddRectFilled({std::round(x0), at.y}, {std::round(x1), at.y + height},
                            ui.theme().level(family, sequential ? t : 2 * t - 1).ground);
    }
    ImGui::Dummy({width, height});
    tip_text(ui, ui.tr(sequential ? kLegendSequential : kLegendScale,
                       {{"scale", short_number(app.run->tensor_scale[tensor]).text}}));
}

}  // namespace

Related related_to(const AppState& app, int version) {
    const Trace& trace = app.run->trace;
    Related related;
    if (version < 0) return related;
    const int step = app.player->step();
    for (const int operand : operands_of(trace, trace.versions[version].expr)) {
        const Version& v = trace.versions[operand];
        const bool on_chip = trace.tensors[v.tensor].space == Space::Sram;
        if (on_chip ? trace.tile_at(v.tensor, step) == operand : true) related.operands.push_back(operand);
    }
    for (const int tile : trace.resident(step)) {
        const int shown = trace.tile_at(tile, step);
        if (shown == version) continue;
        const std::vector<int> used = operands_of(trace, trace.versions[shown].expr);
        if (std::find(used.begin(), used.end(), version) != used.end()) related.results.push_back(shown);
    }
    return related;
}

void cell_tip(AppState& app, const CellRef& cell) {
    Ui& ui = app.ui;
    const Trace& trace = app.run->trace;
    const Tensor& tensor = trace.tensors[cell.tensor];
    const CellVersion shown = version_of(app, cell);
    if (!begin_tip(ui)) return;
    formula(ui, ui.formulas.get(ui, name_to_tex(tensor.name), 17));
    ImGui::SameLine();
    tip_text(ui,
             shape_text(tensor.rows, tensor.cols) + "   " +
                 ui.tr(kRowColumn, {{"row", std::to_string(cell.row + 1)}, {"column", std::to_string(cell.col + 1)}}));
    if (shown.version < 0) {
        tip_text(ui, ui.tr(kNeverWritten));
        end_tip();
        return;
    }
    const Version& version = trace.versions[shown.version];
    const double value = trace.value(version)(shown.row, shown.col);
    ImGui::PushFont(ui.fonts.number);
    ImGui::TextUnformatted(exact_number(value).c_str());
    ImGui::PopFont();
    if (const std::optional<double> kernel = kernel_cell(app, shown)) {
        const double error = std::abs(*kernel - value);
        tip_text(ui, ui.tr(kKernelValue) + std::string(" ") + exact_number(*kernel) + "   " + ui.tr(kDifference) + " " +
                         error_text(*kernel == value ? 0 : error));
    }
    if (const std::string right = right_value_text(app, shown); !right.empty()) {
        ImGui::PushStyleColor(ImGuiCol_Text, u32(ui.theme().alarm));
        ImGui::TextUnformatted(right.c_str());
        ImGui::PopStyleColor();
    }
    tip_text(ui, version.step == 0 ? std::string(ui.tr(kCellGiven))
                                   : ui.tr(kWrittenAt, {{"step", std::to_string(position_of(app, version.step))},
                                                        {"line", std::to_string(trace.steps[version.step].line)}}));
    const Related related = related_to(app, shown.version);
    names_line(app, kOperands, related.operands);
    names_line(app, kUsedBy, related.results);
    scale_legend(app, cell.tensor);
    end_tip();
}

}  // namespace flashstep::viz
