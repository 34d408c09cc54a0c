// What the frame keeps between frames and how it divides the window; shared by the files that draw the frame.
#pragma once

#include <imgui.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viz/shell/app.h"
#include "viz/shell/app_state.h"
#include "viz/text/cuda_text.h"
#include "viz/text/markdown.h"
#include "viz/text/pseudo_layout.h"
#include "viz/widgets/timeline.h"

namespace flashstep::viz {

// In the order of the number keys.
enum class Panel { Lesson, Source, Memory, Explain, Traffic, Compare };
constexpr int kPanels = 6;

struct Box {
    float x = 0, y = 0, w = 0, h = 0;
    float right() const { return x + w; }
    float bottom() const { return y + h; }
};

// Where everything stands, in screen pixels. The score map takes the left part of Panel::Explain's row.
struct FrameLayout {
    Box top, transport;
    Box panel[kPanels];
    Box score_map;
    bool too_small = false;
};

// `notice` is the height of the bar with an error, 0 if there is none. Without a lesson the source takes the left
// column. `focus`: one panel alone.
FrameLayout frame_layout(ImVec2 window, float scale, float notice, bool has_lesson, std::optional<Panel> focus);

// What a person has typed into the inputs and is not (yet) part of a recipe.
struct InputsDraft {
    std::string field;         // id of the field whose text was refused; empty: none
    std::string text, error;   // what was typed, and why not
    std::string active, live;  // the field that has the keyboard, and its text so far
    std::string path;          // of a file to load
    int matrix = 0;            // as InputMatrix
};

struct PickerState {
    std::string filter;
    int chosen = 0;
    bool opening = true;
};

// What a recording says of itself.
struct RecordingLabel {
    const char* bytes;  // of which recording
    std::string device, date;
    std::string error;  // why it cannot be shown; empty: it can
};

struct FrameState {
    std::optional<Panel> focus;
    InputsDraft inputs;
    PickerState picker;
    Timeline timeline;
    PseudoLayout pseudo;
    CudaText cuda;
    int followed_step = -1;  // the step that the timeline's view was moved for
    int source_step = -1;    // the step for which the source was last scrolled
    int cuda_line = -1;      // likewise the paper's line
    std::string overlay;     // id of the popup that is open; empty: none
    std::vector<RecordingLabel> recording_labels;
    double busy_since = -1;
    bool style_set = false;
    ThemeMode style_mode = ThemeMode::Dark;
    float style_scale = 0;
    MarkdownView lesson_view;
    std::string lesson_shown;  // what it holds
};

// Made when it is first asked for.
FrameState& frame_state(AppState& app);

// One frame of the app: takes over what is finished, reads the keys, draws everything.
void run_frame(AppState& app, double now);

// What is to be known about the run before its numbers are read: why a kernel has none, the mistake it was made with,
// and where it leaves the finite numbers.
void draw_run_notes(AppState& app);
void draw_help(AppState& app);
void draw_picker(AppState& app);
// To the next time that the line runs, from the start again after the last; -1 where it makes no step.
int next_run_of_line(const Player& player, int line);
// Follows "step:9", "tile:1,2", "line:9" or "cell:S_ij[1,2]@9" (all from 1). False: there is no such place in this run.
bool follow_link(AppState& app, std::string_view target);

// Each leaves a recipe that can run: with a kernel and a mistake of the algorithm alone, and with the exponentials that
// both take.
void choose_algorithm(AppState& app, const Algorithm& algorithm);
void choose_kernel(AppState& app, std::string_view kernel);  // empty: none; brings the algorithm that it mirrors
void choose_base2(AppState& app, bool base2);                // and a kernel that takes them so
void choose_fault(AppState& app, const Fault* fault);        // null: none; brings its algorithm
// The problem with what a kernel fixes: its exponentials, a format that it runs, its blocks.
Problem problem_for(const gpu::KernelInfo& kernel, Problem problem);
bool has_kernel(std::string_view algorithm);
// Shows a step of a head with a cell of a tensor selected.
void go_to(AppState& app, int step, int head, const CellRef& cell);
void toggle_theme(AppState& app);
void toggle_language(AppState& app);
void toggle_focus(AppState& app, Panel panel);

// The top bar's field of kernels with its list, `width` screen pixels wide.
void kernel_field(AppState& app, float width);

// "N=4 d=3, 2 x 2"
std::string problem_summary(const Ui& ui, const Problem& problem);

}  // namespace flashstep::viz
