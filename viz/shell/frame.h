// What the frame keeps between frames and how it divides the window; shared by the files that draw the frame.
#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <string_view>

#include "viz/shell/app.h"
#include "viz/shell/app_state.h"
#include "viz/shell/layouts.h"

namespace flashstep::viz {

struct Panel;

// Where everything stands, in screen pixels.
struct FrameLayout {
    Box top, transport;
    Arrangement panels;
    bool too_small = false;
};

// `notice` is the height of the bar with an error, 0 if there is none.
FrameLayout frame_layout(ImVec2 window, float scale, float notice, const Area& arrangement,
                         const Occasion& occasion = {});

struct FrameState {
    const Layout* layout = &layout_named("workbench");
    const Panel* focus = nullptr;  // shown alone; null: the layout's panels
    std::string overlay;           // id of the popup that is open; empty: none
    bool style_set = false;
    ThemeMode style_mode = ThemeMode::Dark;
    float style_scale = 0;
};

// Made when it is first asked for.
FrameState& frame_state(AppState& app);

// One frame of the app: takes over what is finished, reads the keys, draws everything.
void run_frame(AppState& app, double now);
void handle_keys(AppState& app);
void dismiss_notice(AppState& app);
void draw_frame(AppState& app);  // the whole window: the bars, the panels where the layout has them, what is on top

// What always stands around the panels, and what opens above them.
void draw_top_bar(AppState& app);       // lesson, algorithm, problem, kernel, language, theme; verdict at the right
void draw_transport(AppState& app);     // buttons, timeline, speed
void draw_inputs_popup(AppState& app);  // sizes, blocks, scale, seed, mask, cells of Q, K, V

// What is to be known about the run before its numbers are read: why a kernel has none, the mistake it was made with,
// and where it leaves the finite numbers.
void draw_run_notes(AppState& app);
void draw_help(AppState& app);
void draw_picker(AppState& app);
void draw_shelf_of_lessons(AppState& app);
// To the next time that the line runs, from the start again after the last; -1 where it makes no step.
int next_run_of_line(const Player& player, int line);

// Each leaves a recipe that can run: with a kernel and a mistake of the algorithm alone, and with the exponentials that
// both take.
void choose_algorithm(AppState& app, const Algorithm& algorithm);
void choose_kernel(AppState& app, std::string_view kernel);  // empty: none; brings the algorithm that it mirrors
void choose_base2(AppState& app, bool base2);                // and a kernel that takes them so
void choose_fault(AppState& app, const Fault* fault);        // null: none; brings its algorithm
// Shows a step of a head with a cell of a tensor selected.
void go_to(AppState& app, int step, int head, const CellRef& cell);
void toggle_theme(AppState& app);
void toggle_language(AppState& app);
// From the lesson layout to the workbench and back.
void toggle_layout(AppState& app);
void open_layout(AppState& app, std::string_view id);
// The workbench with what is shown now and its inputs open, the lesson still beside it.
void open_at_bench(AppState& app);
// A lesson in its layout.
void open_in_lesson_layout(AppState& app, const Lesson& lesson);
// A problem at the workbench, without a lesson.
void open_at_bench(AppState& app, const Preset& preset);
// Shows one panel alone, or all of them where it was alone.
void toggle_focus(AppState& app, const Panel& panel);

// The top bar's field of mistakes with its list, for an algorithm that has some.
bool has_faults(const Algorithm& algorithm);
float fault_field_width(const AppState& app);  // that it would like
void fault_field(AppState& app, float width);

// The top bar's field of kernels with its list, `width` screen pixels wide.
void kernel_field(AppState& app, float width);

// "N=4 d=3, 2 x 2"
std::string problem_summary(const Ui& ui, const Problem& problem);

}  // namespace flashstep::viz
