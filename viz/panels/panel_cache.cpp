// Look-ups that several panels share.
#include "viz/panels/panel_cache.h"

#include <algorithm>

namespace flashstep::viz {
namespace {

std::vector<std::vector<PanelCache::Move>> find_moves(const Trace& trace) {
    std::vector<std::vector<PanelCache::Move>> moves(trace.tensors.size());
    for (int s = 1; s <= trace.last_step(); ++s) {
        for (int k = trace.steps[s].touch_begin; k < trace.steps[s].touch_end; ++k) {
            const Touch& touch = trace.touches[k];
            if (touch.partner < 0 || (touch.kind != TouchKind::Load && touch.kind != TouchKind::Store)) continue;
            const auto& lives = trace.lifetimes[touch.partner];
            const auto after = std::upper_bound(
                lives.begin(), lives.end(), s, [](int step, const Trace::Lifetime& life) { return step < life.first; });
            if (after == lives.begin()) continue;
            moves[touch.tensor].push_back({s, touch.block, touch.kind, (after - 1)->first, (after - 1)->last});
        }
    }
    return moves;
}

}  // namespace

PanelCache& panel_cache(AppState& app) {
    if (!app.panels || app.panels->run != app.run) {
        app.panels = std::make_shared<PanelCache>();
        app.panels->run = app.run;
        if (app.run) app.panels->moves = find_moves(app.run->trace);
    }
    return *app.panels;
}

void refresh_views(PanelCache& cache, const AppState& app) {
    const int step = app.player->step(), head = app.player->head();
    if (cache.view_step == step && cache.view_head == head) return;
    const Trace& trace = app.run->trace;
    cache.views.resize(trace.tensors.size());
    cache.has_values.assign(trace.tensors.size(), 0);
    for (int t = 0; t < static_cast<int>(trace.tensors.size()); ++t) {
        if (trace.tensors[t].space != Space::Hbm) continue;
        cache.views[t] = trace.matrix_at(t, step, head);
        cache.has_values[t] = cache.views[t].written.any();
    }
    cache.view_step = step, cache.view_head = head;
}

int block_on_chip(const PanelCache& cache, int tensor, int step) {
    const auto& moves = cache.moves[tensor];
    const auto next = std::upper_bound(moves.begin(), moves.end(), step,
                                       [](int s, const PanelCache::Move& move) { return s < move.step; });
    const PanelCache::Move* before = next == moves.begin() ? nullptr : &*(next - 1);
    if (before && before->last < step) before = nullptr;
    if (before && before->kind == TouchKind::Load) return before->block;
    // A tile that will be stored belongs to the block that it is going to.
    if (next != moves.end() && next->kind == TouchKind::Store && next->first <= step) return next->block;
    return before ? before->block : -1;
}

CellVersion version_of(const AppState& app, const CellRef& cell) {
    const Trace& trace = app.run->trace;
    if (cell.tensor < 0 || cell.tensor >= static_cast<int>(trace.tensors.size())) return {};
    const Tensor& tensor = trace.tensors[cell.tensor];
    const int step = app.player->step();
    if (tensor.space == Space::Sram) {
        const int version = trace.tile_at(cell.tensor, step);
        if (version < 0 || cell.row >= trace.versions[version].rows || cell.col >= trace.versions[version].cols)
            return {};
        return {version, cell.row, cell.col};
    }
    if (cell.row >= tensor.rows || cell.col >= tensor.cols) return {};
    const int block = cell.row / tensor.block_rows * tensor.col_blocks() + cell.col / tensor.block_cols;
    const int version = trace.version_at(cell.tensor, step, trace.copy_of(cell.tensor, app.player->head()), block);
    if (version < 0) return {};
    const Trace::Range range = trace.block_range(cell.tensor, trace.versions[version].block);
    return {version, cell.row - range.row0, cell.col - range.col0};
}

int position_of(const AppState& app, int step) {
    if (step == 0) return 0;
    return step - app.run->trace.head_range(app.run->trace.steps[step].head).first + 1;
}

std::optional<double> kernel_cell(const AppState& app, const CellVersion& cell) {
    const Run& run = *app.run;
    if (cell.version < 0 || !run.kernel_run || !run.comparison) return std::nullopt;
    if (run.comparison->by_version[cell.version] < 0) return std::nullopt;
    const std::optional<Matrix> values = kernel_value(run.trace, *run.kernel_run, cell.version);
    if (!values || cell.row >= values->rows() || cell.col >= values->cols()) return std::nullopt;
    return (*values)(cell.row, cell.col);
}

}  // namespace flashstep::viz
