// The arrows of the memory view: each load and store of the step, from a block's side down the free lane beside it into
// the tile's side, so that it crosses no number.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lab/format.h"
#include "viz/panels/memory_view.h"
#include "viz/text/text.h"
#include "viz/widgets/arrow.h"
#include "viz/widgets/measures.h"

namespace flashstep::viz {
namespace {

// Design pixels.
constexpr float kStandOff = 2;             // between a grid and an arrow that starts or ends at it
constexpr float kLane = 9;                 // from a place's right end to the lane beside it
constexpr float kAboveTiles = 5;           // of a lane that runs above a row of tiles
constexpr float kLaneStep = 4;             // between arrows that share a lane
constexpr int kLanes = 3;                  // that many have heights of their own
constexpr float kStreamStandOff = 3;       // below a matrix that a library call streams
constexpr float kLabelGap = 5;             // each side of a label
constexpr float kLabelsFromMotion = 0.3f;  // labels appear when the arrow has come so far

struct Route {
    std::vector<ImVec2> points;  // from the shelf to the bench
    float label_x;
};

// Library calls stream through the chip: straight down.
Route stream_route(const MemoryView& view, const MemoryItem& shelf) {
    const Ui& ui = view.ui;
    const ImVec2 corner = view.at(shelf.grid), end = view.at(shelf.grid_end()), chip = view.at(view.layout.chip),
                 chip_end = view.at(view.layout.chip_end);
    const float x = std::clamp((corner.x + end.x) / 2, chip.x + ui.px(kGap), chip_end.x - ui.px(kGap));
    return {{{x, end.y + ui.px(kStreamStandOff)}, {x, chip.y - ui.px(kStandOff)}}, x};
}

// Where an arrow leaves a block. Beside one that ends inside the matrix it runs along the edge below it: between
// numbers, not through.
ImVec2 block_side(const MemoryView& view, const MemoryItem& shelf, const Trace::Range& block) {
    const ImVec2 corner = view.at(shelf.grid);
    const bool inside = block.col0 + block.cols < shelf.cols;
    const float row = static_cast<float>(block.row0) + static_cast<float>(block.rows) * (inside ? 1.0f : 0.5f);
    return {corner.x + shelf.fit.cell_w * static_cast<float>(block.col0 + block.cols) +
                (inside ? 0 : view.ui.px(kStandOff)),
            std::round(corner.y + shelf.fit.cell_h * row)};
}

ImVec2 tile_side(const MemoryView& view, const MemoryItem& bench, const Version& tile) {
    const ImVec2 corner = view.at(bench.grid);
    return {corner.x + bench.fit.cell_w * static_cast<float>(tile.cols) + view.ui.px(kStandOff),
            corner.y + bench.fit.cell_h * static_cast<float>(tile.rows) / 2};
}

// `order`: of the move in its step, so that two that share a lane lie at different heights.
Route tile_route(const MemoryView& view, const MemoryItem& shelf, const MemoryItem& bench, ImVec2 from, ImVec2 to,
                 int order) {
    const Ui& ui = view.ui;
    const float shelf_lane = view.at({shelf.corner.x + shelf.extent.x, 0}).x,
                bench_lane = view.at({bench.corner.x + bench.extent.x, 0}).x;
    if (shelf.grid.x == bench.grid.x) {  // the tile stands below its matrix
        const float x = std::round(std::max(shelf_lane, bench_lane) + ui.px(kLane));
        return {{from, {x, from.y}, {x, to.y}, to}, x};
    }
    // Along the lane between the zones, or for a tile below the first row along the gap above its own row.
    const float x = std::round(shelf_lane + ui.px(kLane)), down = bench_lane + ui.px(kLane);
    const bool first_row = bench.corner.y <= view.layout.bench.front().corner.y;
    const float middle = view.origin.y + (view.layout.lane + view.layout.lane_end) / 2;
    const float level = (first_row ? middle : view.at(bench.corner).y - ui.px(kAboveTiles)) +
                        ui.px(kLaneStep) * static_cast<float>(order % kLanes - 1);
    return {{from, {x, from.y}, {x, level}, {down, level}, {down, to.y}, to}, x};
}

Route route_of(const MemoryView& view, const Change& move, int order) {
    const MemoryLayout& l = view.layout;
    const MemoryItem& shelf = l.shelf[l.place[move.matrix]];
    if (move.tile < 0) return stream_route(view, shelf);
    const MemoryItem& bench = l.bench[l.place[move.tile]];
    const Version& tile = view.trace.versions[view.trace.tile_at(move.tile, view.step)];
    return tile_route(view, shelf, bench, block_side(view, shelf, view.trace.block_range(move.matrix, move.block)),
                      tile_side(view, bench, tile), order);
}

}  // namespace

void draw_memory_arrows(MemoryView& view) {
    const Ui& ui = view.ui;
    const float left = view.origin.x, right = left + view.state.space.x;
    const float lane = view.origin.y + (view.layout.lane + view.layout.lane_end) / 2;
    float labelled = std::numeric_limits<float>::lowest();  // where the last label ended: two never lie on one another
    std::vector<ArrowLabel> labels;
    int order = 0;
    for (const Change& move : view.app.player->view().changes) {
        if (move.kind != Change::Kind::Load && move.kind != Change::Kind::Store) continue;
        Route route = route_of(view, move, order++);
        if (move.kind == Change::Kind::Store) std::reverse(route.points.begin(), route.points.end());
        const Rgb color = view.t.text_of(view.trace.tensors[move.matrix].name);
        route_arrow(view.ui, view.draw, route.points, color, view.motion);
        const std::string text = bytes_text(move.bytes);
        if (move.tile >= 0) {
            const float half = text_width(ui.fonts.number_small, text) / 2 + ui.px(kLabelGap);
            route.label_x = std::max(route.label_x, labelled + half);
            labelled = route.label_x + half;
        }
        labels.push_back({text, color, {route.label_x, lane}});
    }
    if (view.motion < kLabelsFromMotion) return;
    for (const ArrowLabel& label : labels) draw_arrow_label(view.ui, view.draw, label, left, right);
}

}  // namespace flashstep::viz
