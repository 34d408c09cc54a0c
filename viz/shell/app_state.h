// All that the panels share: the session, the cursor, what is selected, and how it is drawn.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lab/player.h"
#include "lab/presets.h"
#include "lab/session.h"
#include "lessons/lessons.h"
#include "viz/shell/own_states.h"
#include "viz/shell/ui.h"

namespace flashstep::viz {

// A cell that is explained: of a matrix in HBM or of a tile, 0-based within it.
struct CellRef {
    int tensor = -1;
    int row = 0, col = 0;
    bool operator==(const CellRef&) const = default;
};

enum class SourceView { PseudoCode, Cuda, Ptx };

struct AppState {
    Ui ui;
    Session session;
    std::shared_ptr<const Run> run;  // what `player` points into
    std::unique_ptr<Player> player;  // null before the first run is ready
    const Lesson* lesson = nullptr;
    std::optional<CellRef> selected, hovered;
    SourceView source_view = SourceView::PseudoCode;
    double time = 0;         // seconds since start
    double step_time = 0;    // when the cursor last moved
    bool scrubbing = false;  // arrows are drawn at rest
    bool help_open = false, picker_open = false, inputs_open = false, shelf_open = false;
    Sentence notice;  // stands above the panels until it is dismissed; empty: none
    float zoom = 1;
    const Preset* preset = nullptr;  // what was opened last, to go back to
    OwnStates states;                // what the frame and each panel keep for themselves

    // 0..1 of the movement that belongs to the current step: 1 at rest (scrubbing, reduced motion, jumps).
    float motion() const;
    // Takes a finished run over and keeps the cursor at the same place where it can. Call once per frame.
    void update(double now);
    void open_lesson(const Lesson& lesson);
    // With a mistake in its algorithm. Leaves a lesson that is about another one.
    void open_preset(const Preset& preset, const Fault* fault = nullptr);
    // Shows it, and leaves the lesson open beside it.
    void show_preset(const Preset& preset, const Fault* fault = nullptr);
    // Asks for it where kernels run now: with a recording of it, if the one that is shown is of a device that has one.
    void show(Recipe recipe);
    // Moves of the cursor that start the movement of what moved; by hand, so that playing stops.
    void seek(int step);
    void move(void (Player::*how)(Unit), Unit unit);  // app.move(&Player::forward, Unit::Tile)
};

// State of one file, kept from frame to frame: a struct of that file, made when it is first asked for.
template <class State>
State& own_state(AppState& app) {
    return app.states.get<State>();
}

// Likewise of what follows from the run that is shown, made anew when another one is.
template <class State>
State& run_state(AppState& app) {
    struct OfRun {
        std::shared_ptr<const Run> run;  // held, so that no other run can have its address
        State state;
    };
    OfRun& kept = app.states.get<OfRun>();
    if (kept.run != app.run) kept = {app.run, State()};
    return kept.state;
}

}  // namespace flashstep::viz
