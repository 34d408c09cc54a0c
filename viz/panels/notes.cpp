// What is to be known about a run before its numbers are read: the mistake that it was made with, and where it leaves
// the finite numbers.
#include <cmath>
#include <string>

#include "lab/format.h"
#include "viz/panels/cells.h"
#include "viz/panels/where.h"
#include "viz/shell/frame.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kFaultHidden{"It does not show in this problem. It hides: {where}.",
                            "在当前问题中看不出差别。以下情况不会暴露：{where}。"};
constexpr Text kFaultShows{"It shows first in {cell}, step {step}, line {line}.",
                           "最早出现在 {cell}，第 {step} 步，伪代码第 {line} 行。"};
constexpr Text kFaultOff{"Turn it off", "关闭错误"};
constexpr Text kValueWrong{"wrong", "错误值"};
constexpr Text kValueRight{"right", "正确值"};
constexpr Text kValueMissing{"not there", "不存在"};
constexpr Text kOpenPreset{"Open preset {name}", "打开预设 {name}"};
constexpr Text kNonFiniteFirst{"Not finite from here on: {cell} = {value}, step {step}, line {line}.",
                               "从这里开始不再是有限值：{cell} = {value}，第 {step} 步，伪代码第 {line} 行。"};
constexpr Text kNonFiniteGiven{"It stands so in the input.", "输入中已是如此。"};
constexpr Text kNonFiniteRounded{"It is too large for {format}.", "超出 {format} 的表示范围。"};
constexpr Text kNonFiniteSum{"A sum overflows {format}.", "求和超出 {format} 的表示范围。"};
constexpr Text kNonFiniteExp{"An exponential overflows {format}.", "指数运算超出 {format} 的表示范围。"};
constexpr Text kNonFiniteDiv{"A division by zero or by almost zero.", "除数为零或接近零。"};
constexpr Text kNonFiniteOther{"An operation overflows {format}, or meets infinities.",
                               "运算超出 {format} 的表示范围，或遇到无穷大。"};
constexpr Text kDeviceFailed{"The kernel did not run on the GPU: {reason}", "kernel 未能在 GPU 上运行：{reason}"};
constexpr Text kRecordingFailed{"The recording cannot be shown: {reason}", "无法显示录制结果：{reason}"};
constexpr Text kRunOnCpu{"Run it on this CPU", "在本机 CPU 上运行"};

// Text and buttons beside a bar in the alarm colour.
template <class Contents>
void note(Ui& ui, Contents contents) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Indent(ui.px(12));
    contents();
    ImGui::Unindent(ui.px(12));
    const float bottom = ImGui::GetCursorScreenPos().y - ImGui::GetStyle().ItemSpacing.y;
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + ui.px(3), bottom}, u32(ui.theme().alarm), ui.px(1));
    ImGui::Dummy({1, ui.px(4)});
}

void wrapped(const std::string& text) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
}

// Beside the one before where there is room.
bool next_button(Ui& ui, const std::string& label) {
    const float width = ImGui::CalcTextSize(label.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    if (ImGui::GetItemRectMax().x + ui.px(8) + width <= right) ImGui::SameLine(0, ui.px(8));
    return ImGui::Button(label.c_str());
}

// A version's element where it stands in its tensor.
void go_to_element(AppState& app, int v, int row, int col) {
    const Trace& trace = app.run->trace;
    const Version& version = trace.versions[v];
    const Trace::Range at = trace.tensors[version.tensor].space == Space::Hbm
                                ? trace.block_range(version.tensor, version.block)
                                : Trace::Range{};
    const int head = version.step == 0 ? app.player->head() : trace.steps[version.step].head;
    go_to(app, version.step, head, {version.tensor, at.row0 + row, at.col0 + col});
}

// "S_ij[1,2]", from 1 and within the whole matrix.
std::string element_name(const Trace& trace, int v, int row, int col) {
    const Version& version = trace.versions[v];
    const Tensor& tensor = trace.tensors[version.tensor];
    const Trace::Range at =
        tensor.space == Space::Hbm ? trace.block_range(version.tensor, version.block) : Trace::Range{};
    return tensor.name + "[" + std::to_string(at.row0 + row + 1) + "," + std::to_string(at.col0 + col + 1) + "]";
}

void fault_note(AppState& app, const Fault& fault) {
    Ui& ui = app.ui;
    const Run& run = *app.run;
    wrapped(ui.tr(kFaultOn, {{"line", std::to_string(fault.line)}, {"title", ui.tr(fault.title)}}));
    if (!run.departure) {
        small_text(ui, ui.tr(kFaultHidden, {{"where", ui.tr(fault.hides)}}));
    } else {
        const Departure& first = *run.departure;
        const Version& version = run.trace.versions[first.version];
        small_text(ui, ui.tr(kFaultShows, {{"cell", element_name(run.trace, first.version, first.row, first.col)},
                                           {"step", std::to_string(position_of(app, version.step))},
                                           {"line", std::to_string(run.trace.steps[version.step].line)}}));
        value_row(ui, ui.tr(kValueWrong), exact_number(run.trace.value(version)(first.row, first.col)));
        value_row(
            ui, ui.tr(kValueRight),
            first.row < version.rows && std::isnan(first.right) ? ui.tr(kValueMissing) : exact_number(first.right));
    }
    ImGui::PushID("fault");
    if (ImGui::Button(ui.tr(kFaultOff))) choose_fault(app, nullptr);
    if (run.departure && next_button(ui, ui.tr(kGoThere)))
        go_to_element(app, run.departure->version, run.departure->row, run.departure->col);
    const Preset* preset = find_preset(fault.preset);
    if (preset && !(app.preset == preset && run.recipe.problem == preset->problem) &&
        next_button(ui, ui.tr(kOpenPreset, {{"name", preset->id}})))
        app.open_preset(*preset, &fault);
    ImGui::PopID();
}

std::string cause_text(const Ui& ui, const Trace& trace, const NonFinite& found) {
    const std::string_view arithmetic = trace.problem.dtype == DType::Exact ? "double" : "fp32";
    switch (found.cause) {
        case NonFinite::Cause::Given:
            return ui.tr(kNonFiniteGiven);
        case NonFinite::Cause::Rounded:
            return ui.tr(kNonFiniteRounded, {{"format", name(trace.problem.dtype)}});
        case NonFinite::Cause::Computed:
            break;
    }
    switch (found.op) {
        case Op::MatMul:
        case Op::RowSum:
            return ui.tr(kNonFiniteSum, {{"format", arithmetic}});
        case Op::ExpDiff:
        case Op::Exp2Diff:
        case Op::Exp:
            return ui.tr(kNonFiniteExp, {{"format", arithmetic}});
        case Op::Div:
        case Op::Reciprocal:
        case Op::Inverse:
            return ui.tr(kNonFiniteDiv);
        default:
            return ui.tr(kNonFiniteOther, {{"format", arithmetic}});
    }
}

void non_finite_note(AppState& app, const NonFinite& found) {
    Ui& ui = app.ui;
    const Trace& trace = app.run->trace;
    const Version& version = trace.versions[found.version];
    wrapped(ui.tr(kNonFiniteFirst, {{"cell", element_name(trace, found.version, found.row, found.col)},
                                    {"value", short_number(trace.value(version)(found.row, found.col)).text},
                                    {"step", std::to_string(position_of(app, version.step))},
                                    {"line", std::to_string(trace.steps[version.step].line)}}));
    small_text(ui, cause_text(ui, trace, found));
    ImGui::PushID("non-finite");
    if (ImGui::Button(ui.tr(kGoThere))) go_to_element(app, found.version, found.row, found.col);
    ImGui::PopID();
}

// A device that is not there, refused or failed; a recording that cannot be read.
void failure_note(AppState& app, const Text& what) {
    Ui& ui = app.ui;
    wrapped(ui.tr(what, {{"reason", app.ui.tr(app.run->kernel_message)}}));
    if (ImGui::Button(ui.tr(kRunOnCpu))) choose_this_cpu(app);
}

}  // namespace

void draw_run_notes(AppState& app) {
    const Run& run = *app.run;
    if (run.kernel_failure == KernelFailure::Device) note(app.ui, [&] { failure_note(app, kDeviceFailed); });
    if (run.kernel_failure == KernelFailure::Recording) note(app.ui, [&] { failure_note(app, kRecordingFailed); });
    if (run.fault) note(app.ui, [&] { fault_note(app, *run.fault); });
    if (run.non_finite) note(app.ui, [&] { non_finite_note(app, *run.non_finite); });
}

}  // namespace flashstep::viz
