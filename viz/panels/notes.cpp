// What is to be known about a run before its numbers are read: the mistake that it was made with, and where it leaves
// the finite numbers.
#include <cmath>
#include <string>

#include "lab/format.h"
#include "viz/shell/frame.h"
#include "viz/panels/panel_cache.h"
#include "viz/panels/where.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

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
    wrapped(ui.tr(Str::fault_on, {{"line", std::to_string(fault.line)}, {"title", fault.title}}));
    if (!run.departure) {
        small_text(ui, ui.tr(Str::fault_hidden, {{"where", fault.hides}}));
    } else {
        const Departure& first = *run.departure;
        const Version& version = run.trace.versions[first.version];
        small_text(ui, ui.tr(Str::fault_shows, {{"cell", element_name(run.trace, first.version, first.row, first.col)},
                                                {"step", std::to_string(position_of(app, version.step))},
                                                {"line", std::to_string(run.trace.steps[version.step].line)}}));
        value_row(ui, ui.tr(Str::value_wrong), exact_number(run.trace.value(version)(first.row, first.col)));
        value_row(ui, ui.tr(Str::value_right),
                  first.row < version.rows && std::isnan(first.right) ? ui.tr(Str::value_missing)
                                                                      : exact_number(first.right));
    }
    ImGui::PushID("fault");
    if (ImGui::Button(ui.tr(Str::fault_off))) choose_fault(app, nullptr);
    if (run.departure && next_button(ui, ui.tr(Str::go_there)))
        go_to_element(app, run.departure->version, run.departure->row, run.departure->col);
    const Preset* preset = find_preset(fault.preset);
    if (preset && !(app.preset == preset && run.recipe.problem == preset->problem) &&
        next_button(ui, ui.tr(Str::open_preset, {{"name", preset->id}})))
        app.open_preset(*preset, &fault);
    ImGui::PopID();
}

std::string cause_text(const Ui& ui, const Trace& trace, const NonFinite& found) {
    const std::string_view arithmetic = trace.problem.dtype == DType::Exact ? "double" : "fp32";
    switch (found.cause) {
        case NonFinite::Cause::Given:
            return ui.tr(Str::non_finite_given);
        case NonFinite::Cause::Rounded:
            return ui.tr(Str::non_finite_rounded, {{"format", name(trace.problem.dtype)}});
        case NonFinite::Cause::Computed:
            break;
    }
    switch (found.op) {
        case Op::MatMul:
        case Op::RowSum:
            return ui.tr(Str::non_finite_sum, {{"format", arithmetic}});
        case Op::ExpDiff:
        case Op::Exp2Diff:
        case Op::Exp:
            return ui.tr(Str::non_finite_exp, {{"format", arithmetic}});
        case Op::Div:
        case Op::Reciprocal:
        case Op::Inverse:
            return ui.tr(Str::non_finite_div);
        default:
            return ui.tr(Str::non_finite_other, {{"format", arithmetic}});
    }
}

void non_finite_note(AppState& app, const NonFinite& found) {
    Ui& ui = app.ui;
    const Trace& trace = app.run->trace;
    const Version& version = trace.versions[found.version];
    wrapped(ui.tr(Str::non_finite_first, {{"cell", element_name(trace, found.version, found.row, found.col)},
                                          {"value", short_number(trace.value(version)(found.row, found.col)).text},
                                          {"step", std::to_string(position_of(app, version.step))},
                                          {"line", std::to_string(trace.steps[version.step].line)}}));
    small_text(ui, cause_text(ui, trace, found));
    ImGui::PushID("non-finite");
    if (ImGui::Button(ui.tr(Str::go_there))) go_to_element(app, found.version, found.row, found.col);
    ImGui::PopID();
}

// A device that is not there, refused or failed; a recording that cannot be read.
void failure_note(AppState& app, Str what) {
    Ui& ui = app.ui;
    wrapped(ui.tr(what, {{"reason", app.run->kernel_message}}));
    if (ImGui::Button(ui.tr(Str::run_on_cpu))) choose_this_cpu(app);
}

}  // namespace

void draw_run_notes(AppState& app) {
    const Run& run = *app.run;
    if (run.kernel_failure == KernelFailure::Device) note(app.ui, [&] { failure_note(app, Str::device_failed); });
    if (run.kernel_failure == KernelFailure::Recording) note(app.ui, [&] { failure_note(app, Str::recording_failed); });
    if (run.fault) note(app.ui, [&] { fault_note(app, *run.fault); });
    if (run.non_finite) note(app.ui, [&] { non_finite_note(app, *run.non_finite); });
}

}  // namespace flashstep::viz
