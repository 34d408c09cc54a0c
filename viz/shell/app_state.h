// All that the panels share: the session, the cursor, what is selected, and how it is drawn.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lessons/lessons.h"
#include "lab/presets.h"
#include "lab/player.h"
#include "lab/session.h"
#include "viz/shell/ui.h"

namespace flashstep::viz {

// A cell that is explained: of a matrix in HBM or of a tile, 0-based within it.
struct CellRef {
    int tensor = -1;
    int row = 0, col = 0;
    bool operator==(const CellRef&) const = default;
};

struct FrameState;

enum class SourceView { PseudoCode, Cuda };

struct PanelCache;  // viz/panel_cache.h: what the panels keep from frame to frame

struct AppState {
    Ui ui;
    Session session;
    std::shared_ptr<const Run> run;  // what `player` points into
    std::unique_ptr<Player> player;  // null before the first run is ready
    const Lesson* lesson = nullptr;
    std::string lesson_text;         // resolved against the lesson's own trace
    std::optional<CellRef> selected, hovered;
    SourceView source_view = SourceView::PseudoCode;
    double time = 0;                 // seconds since start
    double step_time = 0;            // when the cursor last moved
    bool scrubbing = false;          // arrows are drawn at rest
    bool help_open = false, picker_open = false, inputs_open = false;
    float zoom = 1;
    const Preset* preset = nullptr;     // what was opened last, to go back to
    std::shared_ptr<FrameState> frame;  // what the frame keeps for itself (frame.h)
    std::shared_ptr<PanelCache> panels;  // made by the first panel that needs it (panel_cache.h)

    // 0..1 of the movement that belongs to the current step: 1 at rest (scrubbing, reduced motion, jumps).
    float motion() const;
    // Takes a finished run over and keeps the cursor at the same place where it can. Call once per frame.
    void update(double now);
    void open_lesson(const Lesson& lesson);
    void open_preset(const Preset& preset, const Fault* fault = nullptr);  // with a mistake in its algorithm
    void set_language(Language language);
    // Moves of the cursor that start the movement of what moved; by hand, so that playing stops.
    void seek(int step);
    void move(void (Player::*how)(Unit), Unit unit);  // app.move(&Player::forward, Unit::Tile)
};

// One function per panel. Each draws into the current ImGui child window and uses all of it.
void draw_top_bar(AppState& app);        // lesson, algorithm, problem, kernel, language, theme; verdict at the right
void draw_lesson_panel(AppState& app);   // text with live formulas, links, questions
void draw_source_panel(AppState& app);   // pseudo-code with the current line | CUDA source
void draw_memory_panel(AppState& app);   // HBM shelf, SRAM bench, arrows
void draw_score_map(AppState& app);      // N x N tiles: done, now, to come, skipped
void draw_explain_panel(AppState& app);  // the selected cell's formula with numbers
void draw_traffic_panel(AppState& app);  // HBM by tensor, SRAM, FLOPs, memory, beside standard attention
void draw_compare_panel(AppState& app);  // CPU against kernel per tensor, first difference
void draw_transport(AppState& app);      // buttons, timeline, speed
void draw_inputs_popup(AppState& app);   // sizes, blocks, scale, seed, mask, cells of Q, K, V
void draw_frame(AppState& app);          // the whole window: lays the panels out
void handle_keys(AppState& app);

}  // namespace flashstep::viz
