// What buttons, keys, lists and links do.
#include <algorithm>
#include <charconv>

#include "viz/shell/frame.h"

namespace flashstep::viz {
namespace {

// Reads a number off the front of `text`, -1 if there is none.
int take_number(std::string_view& text) {
    int value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value < 0) return -1;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool take(std::string_view& text, std::string_view what) {
    if (!text.starts_with(what)) return false;
    text.remove_prefix(what.size());
    return true;
}

// "S_ij[1,2]@9"; without "@9" at the step that is shown.
bool follow_cell(AppState& app, std::string_view target) {
    const std::size_t open = target.find('[');
    if (open == std::string_view::npos) return false;
    const std::string_view name = target.substr(0, open);
    target.remove_prefix(open + 1);
    const int row = take_number(target);
    if (!take(target, ",")) return false;
    const int col = take_number(target);
    if (!take(target, "]") || row < 1 || col < 1) return false;
    const Trace& trace = app.run->trace;
    int tensor = trace.find(name, Space::Sram);
    if (tensor < 0) tensor = trace.find(name, Space::Hbm);
    if (tensor < 0 || row > trace.tensors[tensor].rows || col > trace.tensors[tensor].cols) return false;
    if (take(target, "@")) app.seek(app.player->step_at(take_number(target)));
    app.selected = CellRef{tensor, row - 1, col - 1};
    return true;
}

bool runs(const gpu::KernelInfo& kernel, const Problem& problem) {
    try {
        gpu::check_runnable(kernel, problem);
        return true;
    } catch (const Error&) { return false; }
}

// The first of the algorithm's kernels that runs the problem as it is, or none.
void take_kernel(Recipe& recipe) {
    recipe.kernel.clear();
    for (const gpu::KernelInfo& kernel : gpu::kernels()) {
        if (kernel.algorithm != recipe.algorithm || kernel.base2 != recipe.problem.base2) continue;
        if (!runs(kernel, recipe.problem)) continue;
        recipe.kernel = kernel.id;
        return;
    }
}

// The recipe with another algorithm: what belonged to the old one goes.
void take_algorithm(Recipe& recipe, const Algorithm& algorithm) {
    if (recipe.algorithm == algorithm.id) return;
    recipe.algorithm = algorithm.id;
    recipe.fault.clear();
    if (!algorithm.base2) recipe.problem.base2 = false;
    take_kernel(recipe);
}

}  // namespace

int next_run_of_line(const Player& player, int line) {
    for (int k = 1; k <= player.count() + 1; ++k) {
        const int position = (player.position() + k) % (player.count() + 1), step = player.step_at(position);
        if (step > 0 && player.trace().steps[step].line == line) return step;
    }
    return -1;
}

bool follow_link(AppState& app, std::string_view target) {
    if (!app.player) return false;
    int step = -1;
    if (take(target, "step:")) {
        const int position = take_number(target);
        if (position < 0 || position > app.player->count()) return false;
        step = app.player->step_at(position);
    } else if (take(target, "tile:")) {
        const int i = take_number(target);
        if (!take(target, ",")) return false;
        step = app.player->first_step_of_tile(i - 1, take_number(target) - 1);
    } else if (take(target, "line:")) {
        step = next_run_of_line(*app.player, take_number(target));
    } else if (take(target, "cell:")) {
        return follow_cell(app, target);
    }
    if (step < 0) return false;
    app.player->set_playing(false);
    app.seek(step);
    return true;
}

Problem problem_for(const gpu::KernelInfo& kernel, Problem problem) {
    problem.base2 = kernel.base2;
    if (!kernel.dtypes.empty() && std::ranges::find(kernel.dtypes, problem.dtype) == kernel.dtypes.end())
        problem.dtype = kernel.dtypes.front();
    if (kernel.br > 0) problem.br = kernel.br;
    if (kernel.bc > 0) problem.bc = kernel.bc;
    return problem;
}

bool has_kernel(std::string_view algorithm) {
    return std::ranges::any_of(gpu::kernels(), [&](const gpu::KernelInfo& k) { return k.algorithm == algorithm; });
}

void choose_algorithm(AppState& app, const Algorithm& algorithm) {
    app.selected.reset();
    app.session.edit([&](Recipe& recipe) { take_algorithm(recipe, algorithm); });
}

void choose_kernel(AppState& app, std::string_view kernel) {
    const gpu::KernelInfo* info = gpu::find_kernel(kernel);
    if (info && info->algorithm != app.session.recipe().algorithm) app.selected.reset();
    app.session.edit([&](Recipe& recipe) {
        if (info) take_algorithm(recipe, *find_algorithm(info->algorithm));
        recipe.kernel = kernel;
        if (info) recipe.problem = problem_for(*info, recipe.problem);
    });
}

void choose_base2(AppState& app, bool base2) {
    app.session.edit([&](Recipe& recipe) {
        recipe.problem.base2 = base2;
        const gpu::KernelInfo* kernel = gpu::find_kernel(recipe.kernel);
        if (kernel && kernel->base2 != base2) take_kernel(recipe);
    });
}

void choose_fault(AppState& app, const Fault* fault) {
    if (fault && fault->algorithm != app.session.recipe().algorithm) app.selected.reset();
    app.session.edit([&](Recipe& recipe) {
        if (fault) take_algorithm(recipe, *find_algorithm(fault->algorithm));
        recipe.fault = fault ? fault->id : std::string_view();
    });
}

void go_to(AppState& app, int step, int head, const CellRef& cell) {
    if (!app.player) return;
    app.player->set_playing(false);
    if (head != app.player->head()) app.player->set_head(head);
    app.seek(step);
    app.selected = cell;
}

void toggle_theme(AppState& app) { app.ui.mode = app.ui.mode == ThemeMode::Dark ? ThemeMode::Light : ThemeMode::Dark; }

void toggle_language(AppState& app) {
    app.set_language(app.ui.language == Language::English ? Language::Chinese : Language::English);
}

}  // namespace flashstep::viz
