// The top bar's list of kernels: where they run, which there are, and for which architectures.
#include <fmt/format.h>
#include <imgui.h>

#include "lab/format.h"
#include "lab/kernel_choice.h"
#include "viz/panels/where.h"
#include "viz/shell/frame.h"
#include "viz/widgets/list.h"

namespace flashstep::viz {
namespace {

constexpr Text kKernelFor{"made for {name}", "用于 {name}"};

// Why a kernel cannot be chosen now; empty: it can.
std::string refusal(const AppState& app, const gpu::KernelInfo& kernel) {
    const Recipe& recipe = app.session.recipe();
    if (kernel.algorithm != recipe.algorithm) {
        const Algorithm* own = find_algorithm(kernel.algorithm);
        return app.ui.tr(kKernelFor, {{"name", own ? app.ui.tr(own->title) : kernel.algorithm}});
    }
    try {
        gpu::check_runnable(kernel, problem_for(kernel, recipe.problem));
    } catch (const Error& error) { return app.ui.tr(error.message()); }
    return {};
}

// What choosing the kernel changes in the problem, before its title: "64 × 64, fp16: ".
std::string what_it_sets(const AppState& app, const gpu::KernelInfo& kernel) {
    const Problem &now = app.session.recipe().problem, then = problem_for(kernel, now);
    std::string text;
    const auto add = [&](std::string_view what) {
        text += (text.empty() ? "" : app.ui.tr(kComma)) + std::string(what);
    };
    if (then.br != now.br || then.bc != now.bc) add(fmt::format("{} × {}", then.br, then.bc));
    if (then.dtype != now.dtype) add(name(then.dtype));
    if (then.base2 && !now.base2) add(app.ui.tr(kBase2));
    return text.empty() ? text : text + app.ui.tr(kColon);
}

void places_section(AppState& app) {
    Ui& ui = app.ui;
    list_heading(ui, ui.tr(kRunsOn));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(8), ui.px(2)));
    int index = 0;
    for (const RunPlace& place : run_places(app)) {
        ImGui::PushID(index++);
        if (list_row(ui, {.title = place.title,
                          .note = place.note,
                          .chosen = place.current,
                          .enabled = place.available ? Enabled::Yes : Enabled::No,
                          .place = NotePlace::Right}))
            choose_place(app, place);
        ImGui::PopID();
    }
    ImGui::PopStyleVar();
    ImGui::Dummy({0, ui.px(4)});
}

}  // namespace

void kernel_field(AppState& app, float width) {
    Ui& ui = app.ui;
    const Recipe& recipe = app.session.recipe();
    const std::string_view value = recipe.kernel.empty() ? ui.tr(kKernelNo) : std::string_view(recipe.kernel);
    if (field(ui, "kernel", ui.tr(kKernel), value, width)) ImGui::OpenPopup("kernels");
    if (!begin_list(ui, "kernels", width)) return;
    places_section(app);
    list_heading(ui, ui.tr(kKernel));
    if (list_row(ui, {ui.tr(kKernelNo), {}, recipe.kernel.empty()})) choose_kernel(app, {});
    for (const bool matching : {true, false}) {
        for (const gpu::KernelInfo& kernel : gpu::kernels()) {
            if ((kernel.algorithm == recipe.algorithm) != matching) continue;
            const std::string why = refusal(app, kernel);
            const std::string note =
                why.empty() ? what_it_sets(app, kernel) + std::string(kernel.title.in(ui.language)) : why;
            const std::string targets = targets_text(ui, kernel, problem_for(kernel, recipe.problem).dtype);
            if (list_row(ui, {.title = kernel.id,
                              .note = note,
                              .chosen = recipe.kernel == kernel.id,
                              .enabled = why.empty() ? Enabled::Yes : Enabled::No,
                              .right = targets}))
                choose_kernel(app, kernel.id);
        }
    }
    ImGui::EndPopup();
}

}  // namespace flashstep::viz
