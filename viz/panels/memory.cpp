// The memory view: matrices in HBM on a shelf, tiles in SRAM on a bench below it, loads and stores as arrows between.
#include "viz/panels/memory.h"

#include <algorithm>

#include "viz/panels/cells.h"
#include "viz/panels/memory_view.h"
#include "viz/panels/step_sentence.h"

namespace flashstep::viz {
namespace {

// The matrices in HBM at the current step and head.
void refresh_views(MemoryState& state, const AppState& app) {
    const int step = app.player->step(), head = app.player->head();
    if (state.view_step == step && state.view_head == head) return;
    const Trace& trace = app.run->trace;
    state.views.resize(trace.tensors.size());
    state.has_values.assign(trace.tensors.size(), 0);
    state.spoiled.assign(trace.tensors.size(), {});
    for (int t = 0; t < static_cast<int>(trace.tensors.size()); ++t) {
        const bool on_chip = trace.tensors[t].space == Space::Sram;
        state.spoiled[t] =
            on_chip ? spoiled_cells(*app.run, trace.tile_at(t, step)) : spoiled_cells(*app.run, t, step, head);
        if (on_chip) continue;
        state.views[t] = trace.matrix_at(t, step, head);
        state.has_values[t] = state.views[t].written.any();
    }
    state.view_step = step, state.view_head = head;
}

void refresh_layout(MemoryState& state, const AppState& app, Ui& ui, ImVec2 space) {
    if (state.space.x == space.x && state.space.y == space.y && state.scale == ui.scale) return;
    state.layout = layout_memory(ui, *app.run, space);
    state.space = space;
    state.scale = ui.scale;
}

// Inside the panel's padding. The whole window, whether a scroll bar stands in it or not: a layout that flickers with
// its own bar is worse.
ImVec2 window_space(ImVec2 origin) {
    const ImVec2 window = ImGui::GetWindowPos();
    const ImVec2 padding(origin.x - window.x, origin.y + ImGui::GetScrollY() - window.y);
    return {ImGui::GetWindowWidth() - 2 * padding.x, ImGui::GetWindowHeight() - 2 * padding.y};
}

}  // namespace

void draw_memory_panel(AppState& app) {
    if (!app.run || !app.player) {
        empty_state(app.ui, app.ui.tr(kEmptyTrace));
        return;
    }
    MemoryState& state = run_state<MemoryState>(app);
    if (state.moves.empty()) state.moves = find_moves(app.run->trace);
    state.origin = ImGui::GetCursorScreenPos();
    const ImVec2 space = window_space(state.origin);
    const float sentence = step_sentence_height(app, space);
    refresh_layout(state, app, app.ui, {space.x, space.y - sentence});
    refresh_views(state, app);

    MemoryView view{app, state, state.origin};
    if (app.hovered) view.related = related_to(app, version_of(app, *app.hovered).version);
    draw_shelf(view);
    draw_bench(view);
    draw_memory_arrows(view);
    draw_memory_headers(view);
    app.hovered = view.hovered;
    if (view.hovered) cell_tip(app, *view.hovered);
    // At the panel's foot, or below what is higher than the panel.
    const float foot = std::max(space.y - sentence, state.layout.size.y);
    ImGui::SetCursorScreenPos({state.origin.x, state.origin.y + foot});
    draw_step_sentence(app);
    ImGui::SetCursorScreenPos(state.origin);
    ImGui::Dummy({state.layout.size.x, foot + sentence});
}

}  // namespace flashstep::viz
