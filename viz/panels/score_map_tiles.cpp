// The tiles of the score map with the steps that work on them, and what masks hide in them: found once per run and
// head.
#include <algorithm>

#include "viz/panels/score_map.h"

namespace flashstep::viz {
namespace {

// What masks hide of rows [r0, r1) x columns [c0, c1), as runs; equal runs of rows below one another are one.
void add_hidden(ScoreMap& map, const Run& run, int r0, int r1, int c0, int c1) {
    const Problem& p = run.trace.problem;
    const Matrix& mask = run.recipe.inputs.mask;
    std::size_t above = map.hidden.size();  // the runs of the row above
    for (int r = r0; r < r1; ++r) {
        const std::size_t row = map.hidden.size();
        for (int c = c0; c < c1;) {
            const auto hides = [&](int col) {
                return !p.visible(r, col) || (mask.size() > 0 && mask(mask.rows() > 1 ? r : 0, col) == -kInf);
            };
            int end = c;
            while (end < c1 && hides(end)) ++end;
            if (end > c) map.hidden.push_back({r, 1, c, end - c});
            c = std::max(end, c + 1);
        }
        const std::size_t found = map.hidden.size() - row;
        bool same = found == row - above && found > 0;
        for (std::size_t k = 0; same && k < found; ++k)
            same = map.hidden[above + k].col == map.hidden[row + k].col &&
                   map.hidden[above + k].cols == map.hidden[row + k].cols;
        if (!same) {
            above = row;
            continue;
        }
        for (std::size_t k = 0; k < found; ++k) ++map.hidden[above + k].rows;
        map.hidden.resize(row);
    }
}

// By tile, without those that are skipped: these say so themselves.
void find_hidden(ScoreMap& map, const Run& run) {
    map.hidden.clear();
    const Problem& p = run.trace.problem;
    if (!p.causal && p.mask == MaskShape::None) return;
    if (map.tiles.empty() || run.algorithm->reads_scores) {
        add_hidden(map, run, 0, p.n, 0, p.nk);
        return;
    }
    for (int i = 0; i < map.rows; ++i)
        for (int j = 0; j < map.cols; ++j)
            if (map.tiles[static_cast<std::size_t>(i) * map.cols + j].first >= 0)
                add_hidden(map, run, i * p.br, std::min((i + 1) * p.br, p.n), j * p.bc, std::min((j + 1) * p.bc, p.nk));
}

}  // namespace

void find_map_tiles(ScoreMap& map, const AppState& app) {
    if (map.head == app.player->head()) return;
    map.head = app.player->head();
    const Trace& trace = app.run->trace;
    const Problem& p = trace.problem;
    map.rows = app.run->algorithm->reads_scores ? p.n : p.row_blocks();
    map.cols = app.run->algorithm->reads_scores ? p.nk : p.col_blocks();
    map.tiles.assign(static_cast<std::size_t>(map.rows) * map.cols, {});
    bool any = false;
    for (int i = 0; i < map.rows; ++i) {
        for (int j = 0; j < map.cols; ++j) {
            ScoreMap::Tile& tile = map.tiles[static_cast<std::size_t>(i) * map.cols + j];
            tile = {app.player->first_step_of_tile(i, j), app.player->last_step_of_tile(i, j)};
            any |= tile.first >= 0;
        }
    }
    if (!any) map.tiles.clear();  // no loops: whole matrices
    find_hidden(map, *app.run);
}

}  // namespace flashstep::viz
