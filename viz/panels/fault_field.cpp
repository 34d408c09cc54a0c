// The top bar's list of mistakes: which the algorithm has, and what each changes in its pseudo-code.
#include <imgui.h>

#include <algorithm>

#include "viz/shell/frame.h"
#include "viz/text/pseudo_layout.h"
#include "viz/text/text.h"
#include "viz/widgets/list.h"

namespace flashstep::viz {
namespace {

constexpr Text kFaultLabel{"Mistake", "错误"};
constexpr Text kFaultNoneRow{"no mistake", "无错误"};
constexpr Text kFaultsIn{"Mistakes in {name}", "{name} 的典型错误"};
constexpr Text kFaultHides{"hides: {where}", "以下情况不会暴露：{where}"};

// Of the line with the mistake in it, the formula that it changes.
std::string changed_formula(const Ui& ui, const Algorithm& algorithm, const Fault& fault) {
    const auto line = std::ranges::find(algorithm.lines, fault.line, &PseudoLine::number);
    if (line == algorithm.lines.end()) return {};
    const std::string text = with_mistake(line->tex().in(ui.language), fault, ui.language);
    for (const TexPart& part : split_tex(text))
        if (part.formula && (part.text.find("\\struck") != part.text.npos || part.text.find("\\put") != part.text.npos))
            return std::string(part.text);
    return {};
}

}  // namespace

bool has_faults(const Algorithm& algorithm) {
    return std::ranges::any_of(faults(), [&](const Fault& fault) { return fault.algorithm == algorithm.id; });
}

float fault_field_width(const AppState& app) {
    const Ui& ui = app.ui;
    const std::string& fault = app.session.recipe().fault;
    return std::max(text_width(ui.fonts.body, fault.empty() ? ui.tr(kNone) : fault),
                    text_width(ui.fonts.small, ui.tr(kFaultLabel)) + ui.px(18)) +
           ui.px(34);
}

void fault_field(AppState& app, float width) {
    Ui& ui = app.ui;
    const Algorithm& algorithm = *find_algorithm(app.session.recipe().algorithm);
    const Fault* fault = find_fault(app.session.recipe().fault);
    const FieldLook look = fault ? FieldLook::Alarm : FieldLook::Quiet;
    if (field(ui, "fault", ui.tr(kFaultLabel), fault ? fault->id : ui.tr(kNone), width, look))
        ImGui::OpenPopup("faults");
    if (!begin_list(ui, "faults", width)) return;
    list_heading(ui, ui.tr(kFaultsIn, {{"name", ui.tr(algorithm.title)}}).c_str());
    if (list_row(ui, {ui.tr(kFaultNoneRow), {}, !fault})) choose_fault(app, nullptr);
    for (const Fault& known : faults()) {
        if (known.algorithm != algorithm.id) continue;
        if (list_row(ui, {.title = ui.tr(known.title),
                          .note = ui.tr(kFaultHides, {{"where", ui.tr(known.hides)}}),
                          .chosen = &known == fault,
                          .right = ui.tr(kLineN, {{"line", std::to_string(known.line)}}),
                          .tex = changed_formula(ui, algorithm, known)}))
            choose_fault(app, &known);
    }
    ImGui::EndPopup();
}

}  // namespace flashstep::viz
