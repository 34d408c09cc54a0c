// Tries every size of cells for shelf and bench and takes the best pair that fits.
#include "viz/panels/memory_layout.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "viz/text/text.h"
#include "viz/widgets/measures.h"

namespace flashstep::viz {
namespace {

// Design pixels.
constexpr float kHeaderLine = 24, kNameLine = 22;      // heights of the lines that head a zone, a grid
constexpr float kNameLift = 7;                         // of a name's baseline above its grid
constexpr float kArrowGap = 20;                        // beside a tile, where arrows run
constexpr float kRowGap = 10;                          // between rows of matrices or tiles
constexpr float kLaneLeast = 20, kLaneMost = 56;       // height of the lane between shelf and bench
constexpr float kChipHeight = 56;                      // of the outline that library calls stream through
constexpr float kLargeNumber = 15, kSmallNumber = 12;  // sizes of type
constexpr float kMostHeat = 20, kLeastHeat = 0.002f;   // side of a heat map's cell, screen pixels
constexpr float kLeastColumn = 6;                      // width of a heat map of one column
constexpr float kRounding = 0.5f;                      // screen pixels that a layout may be too wide by
constexpr float kMostCellRoom = 24, kMostGapRoom = 28, kRoomStep = 2;  // what is given away where there is some left

// Of a cell with a number in it: its height, and what the number leaves beside it.
struct NumberCell {
    float least_height, side_room;
};
constexpr NumberCell kLargeCell{24, 8}, kSmallCell{18, 4};
constexpr float kLeastNumberShape = 1.2f;  // width by height

// What a layout is worth, to find the best that fits: numbers before heat maps, then larger cells.
constexpr float kLargeNumberWorth = 70, kSmallNumberWorth = 62, kHeatWorth = 10;  // of heat: per doubling
// A heat map above numbers is read more easily than the reverse: the bench is where the work is done.
constexpr double kBenchWorth = 1.05;
constexpr double kShapesWorth = 3, kFreeCost = 8;

// Size of cells in one of the two zones: numbers of a type size, or square heat map cells (screen pixels).
struct CellMode {
    float number_px = 0, heat = 0;
    float worth() const {
        return number_px > kSmallNumber ? kLargeNumberWorth
               : number_px > 0          ? kSmallNumberWorth
                                        : kHeatWorth * std::log2(heat);
    }
};

// What a layout is made from, the same for every attempt.
struct Source {
    Ui& ui;
    const Run& run;
    ImVec2 space;
    std::vector<int> matrices;
    std::vector<int> below;              // by matrix: the tile that stands below it, -1: none
    std::vector<int> others;             // tiles that stand in rows of their own
    std::vector<int> widest;             // by tensor: characters
    std::vector<float> name_w, shape_w;  // by tensor
};

Source gather(Ui& ui, const Run& run, ImVec2 space) {
    Source s{ui, run, space, {}, {}, {}, run.widest, {}, {}};
    const Trace& trace = run.trace;
    const int count = static_cast<int>(trace.tensors.size());
    std::vector<int> column(trace.tensors.size(), -1);
    for (int t = 0; t < count; ++t) {
        const Tensor& tensor = trace.tensors[t];
        if (tensor.space == Space::Hbm) {
            column[t] = static_cast<int>(s.matrices.size());
            s.matrices.push_back(t);
        }
        s.name_w.push_back(ui.formulas.get(ui, name_to_tex(tensor.name), 17).width * ui.scale);
        s.shape_w.push_back(text_width(ui.fonts.small, shape_text(tensor.rows, tensor.cols)));
    }
    s.below.assign(s.matrices.size(), -1);
    std::vector<bool> placed(trace.tensors.size(), false);
    for (const Touch& touch : trace.touches) {
        if (touch.partner < 0 || placed[touch.partner]) continue;
        int& tile = s.below[column[touch.tensor]];
        if (tile >= 0) continue;
        tile = touch.partner;
        placed[tile] = true;
        // The same width of cells in both, so that a block and its tile look alike.
        s.widest[tile] = s.widest[touch.tensor] = std::max(s.widest[tile], s.widest[touch.tensor]);
    }
    for (int t = 0; t < count; ++t)
        if (trace.tensors[t].space == Space::Sram && !placed[t]) s.others.push_back(t);
    // Those in registers stand together, behind those in SRAM.
    std::stable_partition(s.others.begin(), s.others.end(), [&](int tile) { return !trace.tensors[tile].registers; });
    return s;
}

GridFit cells(const Source& s, CellMode mode, int tensor, float roomier) {
    const Tensor& info = s.run.trace.tensors[tensor];
    const bool one_by_one = info.space == Space::Sram && info.rows * info.cols == 1;
    if (mode.number_px <= 0 && one_by_one) mode.number_px = kSmallNumber;  // a single number is always readable
    if (mode.number_px <= 0) {
        // A column of statistics would be too thin to see and to hit.
        const float w = info.cols == 1 ? std::max(mode.heat, std::round(s.ui.px(kLeastColumn))) : mode.heat;
        return {w, mode.heat, 0};
    }
    const bool small = mode.number_px <= kSmallNumber;
    const ImFont* font = small ? s.ui.fonts.number_small : s.ui.fonts.number;
    const NumberCell& cell = small ? kSmallCell : kLargeCell;
    const float h = std::ceil(std::max(font_height(font) + s.ui.px(kSmallGap), s.ui.px(cell.least_height))) +
                    std::round(roomier / 2);
    const float w = std::ceil(static_cast<float>(s.widest[tensor]) * char_advance(font, '0') + s.ui.px(cell.side_room));
    return {std::max(w + std::round(roomier), std::round(h * kLeastNumberShape)), h, mode.number_px};
}

// Blocks of single elements have no rules and no numbers.
bool ruled(const Tensor& t) {
    return t.space == Space::Hbm && t.blocks() > 1 && !(t.block_rows == 1 && t.block_cols == 1);
}

enum class Shapes { Shown, Hidden };
// Where the tiles stand that never leave the chip: in rows of their own, or behind those that do. Free: all tiles
// follow one another, so that they can have numbers where the matrices, as heat maps, are narrower than they.
enum class Others { Below, Behind, Free };

// The shapes stand beside the names of a zone where all of them have room.
void show_shapes_with_room(const Source& s, std::vector<MemoryItem>& items) {
    bool all = true;
    for (const MemoryItem& item : items) {
        float end = s.space.x;
        for (const MemoryItem& other : items)
            if (other.corner.y == item.corner.y && other.corner.x > item.corner.x)
                end = std::min(end, other.corner.x - s.ui.px(kWideGap));
        const float needed = s.name_w[item.tensor] + s.ui.px(kGap) + s.shape_w[item.tensor];
        all &= item.name.x + needed <= end;
    }
    for (MemoryItem& item : items) item.shows_shape = all;
}

// What is given away where there is some left (screen pixels): to the cells of numbers, between items, between the
// zones.
struct Room {
    float cells = 0, gap = 0, lane = 0;
};

// What an attempt tries out.
struct Plan {
    CellMode shelf, bench;
    Shapes shapes = Shapes::Hidden;
    Others others = Others::Below;
    Room room = {};
};

// One attempt to place everything; from top to bottom.
class Attempt {
  public:
    Attempt(const Source& source, const Plan& plan) : s_(source), plan_(plan) {
        // Arrows run in the gaps beside tiles; library calls have none there.
        lane_w_ = s_.run.trace.sram_modelled ? px(kArrowGap) : 0;
        gap_ = (lane_w_ > 0 ? lane_w_ : px(kPadding)) + plan.room.gap;
        out.place.assign(s_.run.trace.tensors.size(), -1);
        find_columns();
        place_columns();
        place_others();
        if (!s_.run.trace.sram_modelled) place_chip();
        out.size = {widest_, y_ - px(kRowGap)};
        if (plan.shapes == Shapes::Hidden) show_shapes_with_room(s_, out.shelf), show_shapes_with_room(s_, out.bench);
    }
    bool fits() const { return !wide_ && out.size.y <= s_.space.y; }

    MemoryLayout out;

  private:
    // A matrix and below it its tile.
    struct Column {
        int index, band;
        float x, gutter;
    };
    // Columns side by side: heights of the matrices and of the tiles.
    struct Band {
        float shelf_h = 0, bench_h = 0, shelf_y = 0, bench_y = 0;
    };

    float px(float design) const { return std::round(s_.ui.px(design)); }

    MemoryItem item(int tensor, CellMode mode) const {
        const Tensor& info = s_.run.trace.tensors[tensor];
        MemoryItem m;
        m.tensor = tensor, m.rows = info.rows, m.cols = info.cols;
        m.fit = cells(s_, mode, tensor, plan_.room.cells);
        m.row_block = ruled(info) ? info.block_rows : 0;
        m.shows_shape = plan_.shapes == Shapes::Shown;
        const float label = s_.name_w[tensor] + (m.shows_shape ? px(kGap) + s_.shape_w[tensor] : 0);
        m.extent = {std::max(m.fit.cell_w * static_cast<float>(m.cols), label),
                    px(kNameLine) + std::ceil(m.fit.cell_h * static_cast<float>(m.rows))};
        return m;
    }

    void put(std::vector<MemoryItem>& zone, MemoryItem m, float x, float y, float gutter) {
        m.corner = {x, y};
        m.grid = {x + gutter, y + px(kNameLine)};
        m.name = {x + gutter, m.grid.y - px(kNameLift)};
        m.extent.x += gutter;
        out.place[m.tensor] = static_cast<int>(zone.size());
        zone.push_back(m);
    }

    // Columns that do not fit side by side go to the next band.
    void find_columns() {
        bands_.emplace_back();
        for (std::size_t k = 0; k < s_.matrices.size(); ++k) {
            const MemoryItem top = item(s_.matrices[k], plan_.shelf);
            const float gutter = top.row_block ? px(kGridGutter) : 0;
            float width = top.extent.x, tile_h = 0;
            if (s_.below[k] >= 0 && plan_.others != Others::Free) {
                const MemoryItem tile = item(s_.below[k], plan_.bench);
                width = std::max(width, tile.extent.x);
                tile_h = tile.extent.y;
            }
            width += gutter;
            if (x_ > 0 && x_ + width + lane_w_ > s_.space.x) {
                x_ = 0;
                bands_.emplace_back();
            }
            took(width);
            columns_.push_back({static_cast<int>(k), static_cast<int>(bands_.size()) - 1, x_, gutter});
            bands_.back().shelf_h = std::max(bands_.back().shelf_h, top.extent.y);
            bands_.back().bench_h = std::max(bands_.back().bench_h, tile_h);
            advance(width);
        }
    }

    void place_columns() {
        y_ = px(kHeaderLine);
        for (Band& band : bands_) {
            band.shelf_y = y_;
            y_ += band.shelf_h + px(kRowGap);
        }
        out.lane = y_ - px(kRowGap);
        out.lane_end = out.bench_header = out.lane + std::round(plan_.room.lane);
        y_ = out.bench_header + px(kHeaderLine) + px(kGap);
        for (Band& band : bands_) {
            band.bench_y = y_;
            if (band.bench_h > 0) y_ += band.bench_h + px(kRowGap);
        }
        for (const Column& c : columns_) {
            put(out.shelf, item(s_.matrices[c.index], plan_.shelf), c.x, bands_[c.band].shelf_y, c.gutter);
            if (s_.below[c.index] < 0 || plan_.others == Others::Free) continue;
            put(out.bench, item(s_.below[c.index], plan_.bench), c.x, bands_[c.band].bench_y, c.gutter);
        }
    }

    // Tiles that never leave the chip, behind those that do where these stand freely.
    void place_others() {
        std::vector<int> flow;
        if (plan_.others == Others::Free)
            std::copy_if(s_.below.begin(), s_.below.end(), std::back_inserter(flow),
                         [](int tile) { return tile >= 0; });
        flow.insert(flow.end(), s_.others.begin(), s_.others.end());
        float row_h = 0;
        if (plan_.others == Others::Behind) {
            y_ = bands_.back().bench_y;
            row_h = bands_.back().bench_h;
        } else {
            x_ = indent();
        }
        for (const int tensor : flow) {
            const MemoryItem tile = item(tensor, plan_.bench);
            if (x_ > indent() && x_ + tile.extent.x + lane_w_ > s_.space.x) {
                y_ += row_h + px(kRowGap);
                x_ = indent(), row_h = 0;
            }
            took(tile.extent.x);
            put(out.bench, tile, x_, y_, 0);
            row_h = std::max(row_h, tile.extent.y);
            advance(tile.extent.x);
        }
        if (row_h > 0) y_ += row_h + px(kRowGap);
    }

    void place_chip() {
        out.chip = {indent(), y_};
        out.chip_end = {s_.space.x, y_ + px(kChipHeight)};
        y_ += px(kChipHeight + kRowGap);
    }

    float indent() const { return columns_.empty() ? 0 : columns_[0].gutter; }
    // Something of this width stands at x_.
    void took(float width) { wide_ |= x_ + width + lane_w_ > s_.space.x + kRounding; }
    void advance(float width) {
        x_ += width + gap_;
        widest_ = std::max(widest_, x_ - gap_);
    }

    const Source& s_;
    const Plan& plan_;
    float lane_w_ = 0, gap_ = 0;
    std::vector<Column> columns_;
    std::vector<Band> bands_;
    float x_ = 0, y_ = 0, widest_ = 0;  // where the next thing stands; right end of the widest row
    bool wide_ = false;                 // wider than the space
};

// The best plan whose layout fits, with no room to give away yet. Where none fits: the smallest cells.
Plan best_plan(const Source& source, float lane) {
    std::vector<CellMode> modes = {{kLargeNumber, 0}, {kSmallNumber, 0}};
    for (float heat = kMostHeat; heat >= 1; --heat) modes.push_back({0, heat});
    for (float heat = 0.5f; heat > kLeastHeat; heat /= 2) modes.push_back({0, heat});
    constexpr std::pair<Shapes, Others> kWays[] = {{Shapes::Shown, Others::Below},  {Shapes::Shown, Others::Behind},
                                                   {Shapes::Hidden, Others::Below}, {Shapes::Hidden, Others::Behind},
                                                   {Shapes::Shown, Others::Free},   {Shapes::Hidden, Others::Free}};
    Plan best{.shelf = modes.back(), .bench = modes.back(), .room = {.lane = lane}};
    double most = std::numeric_limits<double>::lowest();
    for (const auto& [shapes, others] : kWays) {
        for (const CellMode& shelf : modes) {
            for (const CellMode& bench : modes) {
                const double worth = shelf.worth() + bench.worth() * kBenchWorth +
                                     (shapes == Shapes::Shown ? kShapesWorth : 0) -
                                     (others == Others::Free ? kFreeCost : 0);
                if (worth <= most) continue;
                const Plan plan{shelf, bench, shapes, others, {.lane = lane}};
                if (!Attempt(source, plan).fits()) continue;
                most = worth, best = plan;
            }
        }
    }
    return best;
}

// Gives away what is left, a step at a time, while nothing needs a row more for it.
void grow(const Source& source, Plan& plan, MemoryLayout& chosen, float Room::*part, float most) {
    for (;;) {
        Plan more = plan;
        more.room.*part += source.ui.px(kRoomStep);
        if (more.room.*part > source.ui.px(most)) return;
        Attempt tried(source, more);
        if (!tried.fits()) return;
        if (!chosen.shelf.empty() && tried.out.shelf.back().corner.y > chosen.shelf.back().corner.y) return;
        if (part == &Room::gap && tried.out.size.y > chosen.size.y) return;
        plan = more;
        chosen = std::move(tried.out);
    }
}

}  // namespace

std::string shape_text(int rows, int cols) { return std::to_string(rows) + " \u00D7 " + std::to_string(cols); }

MemoryLayout layout_memory(Ui& ui, const Run& run, ImVec2 space) {
    const Source source = gather(ui, run, space);
    Plan plan = best_plan(source, ui.px(kLaneLeast));
    MemoryLayout chosen = Attempt(source, plan).out;
    // What is left makes numbers roomier, then the gaps wider, then the lane higher.
    grow(source, plan, chosen, &Room::cells, kMostCellRoom);
    grow(source, plan, chosen, &Room::gap, kMostGapRoom);
    grow(source, plan, chosen, &Room::lane, kLaneMost);
    return chosen;
}

}  // namespace flashstep::viz
