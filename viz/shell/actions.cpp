// What buttons, keys, lists and links do.
#include "lab/edit.h"
#include "viz/shell/frame.h"

namespace flashstep::viz {

int next_run_of_line(const Player& player, int line) {
    for (int k = 1; k <= player.count() + 1; ++k) {
        const int position = (player.position() + k) % (player.count() + 1), step = player.step_at(position);
        if (step > 0 && player.trace().steps[step].line == line) return step;
    }
    return -1;
}

void choose_algorithm(AppState& app, const Algorithm& algorithm) {
    app.selected.reset();
    app.session.request(with_algorithm(app.session.recipe(), algorithm));
}

void choose_kernel(AppState& app, std::string_view kernel) {
    const gpu::KernelInfo* info = gpu::find_kernel(kernel);
    if (info && info->algorithm != app.session.recipe().algorithm) app.selected.reset();
    app.session.request(with_kernel(app.session.recipe(), info));
}

void choose_base2(AppState& app, bool base2) { app.session.request(with_base2(app.session.recipe(), base2)); }

void choose_fault(AppState& app, const Fault* fault) {
    if (fault && fault->algorithm != app.session.recipe().algorithm) app.selected.reset();
    app.session.request(with_fault(app.session.recipe(), fault));
}

void go_to(AppState& app, int step, int head, const CellRef& cell) {
    if (!app.player) return;
    app.player->set_playing(false);
    if (head != app.player->head()) app.player->set_head(head);
    app.seek(step);
    app.selected = cell;
}

void open_layout(AppState& app, std::string_view id) {
    frame_state(app).layout = &layout_named(id);
    frame_state(app).focus = nullptr;
}

void toggle_layout(AppState& app) {
    open_layout(app, frame_state(app).layout->id == "lesson" ? "workbench" : "lesson");
}

void open_at_bench(AppState& app) {
    open_layout(app, "workbench");
    app.inputs_open = true;
}

void open_in_lesson_layout(AppState& app, const Lesson& lesson) {
    open_layout(app, "lesson");
    app.open_lesson(lesson);
}

void open_at_bench(AppState& app, const Preset& preset) {
    open_layout(app, "workbench");
    app.lesson = nullptr;
    app.open_preset(preset);
}

void toggle_theme(AppState& app) { app.ui.mode = app.ui.mode == ThemeMode::Dark ? ThemeMode::Light : ThemeMode::Dark; }

void toggle_language(AppState& app) {
    app.ui.language = app.ui.language == Language::English ? Language::Chinese : Language::English;
}

}  // namespace flashstep::viz
