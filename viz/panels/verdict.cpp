// The verdict and the progress of a run.
#include "viz/panels/verdict.h"

#include <algorithm>
#include <cmath>

#include "lab/format.h"
#include "lab/kernel_choice.h"
#include "viz/panels/panels.h"
#include "viz/panels/where.h"
#include "viz/shell/frame.h"
#include "viz/text/text.h"

namespace flashstep::viz {
namespace {

constexpr Text kKernelNone{"no kernel chosen", "未选择 kernel"};
constexpr Text kMatchNotCompared{"not compared", "未对比"};
constexpr Text kRunning{"Running {name}", "正在运行 {name}"};
constexpr Text kRunningPercent{"Running {name}: {percent}%", "正在运行 {name}：{percent}%"};
constexpr Text kCancel{"Cancel", "取消"};
constexpr Text kKernelAbsent{"no kernel to compare", "没有可对比的 kernel"};
constexpr Text kWhereRecordedOn{"recorded on {device}", "录制于 {device}"};
constexpr Text kKernelDidNotRun{"kernel did not run", "kernel 未运行"};

}  // namespace

Verdicts verdict_of(const AppState& app) {
    const Ui& ui = app.ui;
    Verdicts v;
    if (!app.run)
        return {BadgeKind::Neutral, std::string(panel_title(ui, "compare")), {}, ui.tr(kMatchNotCompared), {}};
    const Run& run = *app.run;
    if (!run.kernel_run) {
        v.where = panel_title(ui, "compare");
        v.text = ui.tr(!run.recipe.kernel.empty()      ? kMatchNotCompared
                       : has_kernel(run.algorithm->id) ? kKernelNone
                                                       : kKernelAbsent);
        v.why = ui.tr(run.kernel_message);
        if (run.kernel_failure == KernelFailure::Device || run.kernel_failure == KernelFailure::Recording) {
            v.kind = BadgeKind::Differs;
            v.text = ui.tr(kKernelDidNotRun);
        }
        return v;
    }
    const KernelRun& kernel = *run.kernel_run;
    v.where = where_it_ran(ui, kernel);
    if (kernel.where == Where::Host) v.where_short = ui.tr(kKernelHostChosen);
    if (kernel.where == Where::Ptx) v.where_short = "PTX";
    if (kernel.where == Where::Recorded) v.where_short = ui.tr(kWhereRecordedOn, {{"device", kernel.device}});
    const Comparison& c = *run.comparison;
    std::string result;
    switch (c.verdict) {
        case Verdict::Equal:
            result = ui.tr(kMatchOk, {{"error", error_text(c.worst_error)}});
            break;
        case Verdict::Different:
            result = ui.tr(kMatchDiffers);
            break;
        case Verdict::NonFinite:
            result = ui.tr(kMatchNonFinite);
            break;
    }
    v.kind = c.verdict == Verdict::Equal && c.bytes_equal ? BadgeKind::Ok : BadgeKind::Differs;
    if (c.verdict == Verdict::Equal && !c.bytes_equal) result = ui.tr(kMatchBytesDiffer);
    v.text = std::string(panel_title(ui, "compare")) + ui.tr(kColon) + result;
    if (c.first) v.why = describe(*c.first, run.recipe.problem, ui.language);
    return v;
}

float verdict_width(const Ui& ui, const Verdicts& v) {
    return ui.px(16 + 18) +
           std::max(text_width(ui.fonts.body, v.text), text_width(ui.fonts.small, v.where) - ui.px(18));
}

// Right-aligned: where the kernel ran over what came out. A click shows the comparison large.
void draw_verdict(AppState& app, const Verdicts& v, float width) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ui.px(40), right = at.x + width - ui.px(8);
    if (ImGui::InvisibleButton("verdict", {width, height})) toggle_focus(app, *find_panel("compare"));
    const bool over = ImGui::IsItemHovered();
    if (over) draw->AddRectFilled(at, {at.x + width, at.y + height}, u32(t.raised), ui.px(4));
    // What does not fit is said shorter before it is cut; the comparison says it in full.
    const bool fits = text_width(ui.fonts.small, v.where) <= width - ui.px(16) || v.where_short.empty();
    const std::string where = fitted(ui.fonts.small, fits ? v.where : v.where_short, width - ui.px(16));
    const std::string text = fitted(ui.fonts.body, v.text, width - ui.px(33));
    const Rgb ink = v.kind == BadgeKind::Differs ? t.alarm : v.kind == BadgeKind::Ok ? t.text : t.quiet;
    draw_text_on(draw, ui.fonts.small, right - text_width(ui.fonts.small, where), at.y + ui.px(14), u32(t.quiet),
                 where);
    const float x = right - text_width(ui.fonts.body, text);
    draw_text_on(draw, ui.fonts.body, x, at.y + ui.px(33), u32(ink), text);
    if (v.kind != BadgeKind::Neutral)
        draw_icon(draw, v.kind == BadgeKind::Ok ? Icon::Check : Icon::Cross, {x - ui.px(11), at.y + ui.px(28)},
                  ui.px(14), u32(ink));
    if (over && !v.why.empty() && begin_tip(ui)) {
        ImGui::PushTextWrapPos(ui.px(420));
        ImGui::TextUnformatted(v.why.c_str());
        ImGui::PopTextWrapPos();
        end_tip();
    }
}

// In place of the verdict while a run takes long: how far it is, and a way to stop it.
void draw_progress(AppState& app, float width) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float progress = std::clamp(app.session.progress(), 0.0f, 1.0f);
    const Recipe& recipe = app.session.recipe();
    const std::string& name = progress > 0 && !recipe.kernel.empty() ? recipe.kernel : recipe.algorithm;
    const std::string text =
        progress > 0
            ? ui.tr(kRunningPercent, {{"name", name}, {"percent", std::to_string(static_cast<int>(progress * 100))}})
            : ui.tr(kRunning, {{"name", name}});
    const float room = width - ui.px(44);
    draw_text_on(draw, ui.fonts.small, at.x + ui.px(8), at.y + ui.px(18), u32(t.quiet),
                 fitted(ui.fonts.small, text, room));
    const float y = at.y + ui.px(28), x0 = at.x + ui.px(8), x1 = at.x + room;
    draw->AddRectFilled({x0, y}, {x1, y + ui.px(4)}, u32(t.line), ui.px(2));
    if (progress > 0) {
        draw->AddRectFilled({x0, y}, {x0 + (x1 - x0) * progress, y + ui.px(4)}, u32(t.text), ui.px(2));
    } else {  // not known: a piece that travels
        const float where = static_cast<float>(std::fmod(app.time, 1.2) / 1.2), w = (x1 - x0) * 0.25f;
        const float x = x0 + (x1 - x0 - w) * where;
        draw->AddRectFilled({x, y}, {x + w, y + ui.px(4)}, u32(t.text), ui.px(2));
    }
    ImGui::SetCursorScreenPos({at.x + width - ui.px(36), at.y + ui.px(4)});
    if (icon_button(ui, "cancel", Icon::Close, ui.tr(kCancel))) app.session.cancel();
}

}  // namespace flashstep::viz
