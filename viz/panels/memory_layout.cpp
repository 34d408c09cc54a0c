// Tries every size of cells for shelf and bench and takes the best pair that fits.
#include "viz/panels/memory_layout.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "viz/text/text.h"

namespace flashstep::viz {
namespace {

constexpr float kHeaderLine = 24, kNameLine = 22, kGap = 20, kRowGap = 10, kLaneLeast = 26, kLaneMost = 56;

// Size of cells in one of the two zones: numbers of a type size, or square heat map cells (screen pixels).
struct CellMode {
    float number_px = 0, heat = 0;
    float worth() const { return number_px > 14 ? 70 : number_px > 0 ? 62 : 10 * std::log2(heat); }
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
    if (mode.number_px <= 0 && one_by_one) mode.number_px = 12;  // a single number is always readable
    if (mode.number_px <= 0) {
        // A column of statistics would be too thin to see and to hit.
        const float w = info.cols == 1 ? std::max(mode.heat, std::round(s.ui.px(6))) : mode.heat;
        return {w, mode.heat, 0};
    }
    const bool small = mode.number_px < 14;
    const ImFont* font = small ? s.ui.fonts.number_small : s.ui.fonts.number;
    const float h =
        std::ceil(std::max(font->FontSize + s.ui.px(4), s.ui.px(small ? 18.0f : 24.0f))) + std::round(roomier / 2);
    const float w =
        std::ceil(static_cast<float>(s.widest[tensor]) * font->GetCharAdvance('0') + s.ui.px(small ? 4.0f : 8.0f));
    return {std::max(w + std::round(roomier), std::round(h * 1.2f)), h, mode.number_px};
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
                end = std::min(end, other.corner.x - s.ui.px(16));
        const float needed = s.name_w[item.tensor] + s.ui.px(8) + s.shape_w[item.tensor];
        all &= item.name.x + needed <= end;
    }
    for (MemoryItem& item : items) item.shows_shape = all;
}

// What is given away where there is some left (screen pixels): to the cells of numbers, between items, between the
// zones.
struct Room {
    float cells = 0, gap = 0, lane = 0;
};

// One attempt. `wide` is set where it is wider than the space.
MemoryLayout attempt(const Source& s, CellMode shelf, CellMode bench, Shapes shapes, Others others, Room room,
                     bool& wide) {
    MemoryLayout out;
    const Trace& trace = s.run.trace;
    const auto px = [&](float design) { return std::round(s.ui.px(design)); };
    // Arrows run in the gaps beside tiles; library calls have none there.
    const float lane_w = trace.sram_modelled ? px(kGap) : 0, gap = (lane_w > 0 ? lane_w : px(12)) + room.gap,
                name_line = px(kNameLine), header = px(kHeaderLine);
    out.place.assign(trace.tensors.size(), -1);
    wide = false;

    const auto item = [&](int tensor, CellMode mode) {
        const Tensor& info = trace.tensors[tensor];
        MemoryItem m;
        m.tensor = tensor, m.rows = info.rows, m.cols = info.cols;
        m.fit = cells(s, mode, tensor, room.cells);
        m.row_block = ruled(info) ? info.block_rows : 0;
        m.shows_shape = shapes == Shapes::Shown;
        const float label = s.name_w[tensor] + (m.shows_shape ? px(8) + s.shape_w[tensor] : 0);
        m.extent = {std::max(m.fit.cell_w * static_cast<float>(m.cols), label),
                    name_line + std::ceil(m.fit.cell_h * static_cast<float>(m.rows))};
        return m;
    };
    const auto put = [&](MemoryItem& m, float x, float y, float gutter) {
        m.corner = {x, y};
        m.grid = {x + gutter, y + name_line};
        m.name = {x + gutter, y + name_line - px(7)};
        m.extent.x += gutter;
    };

    // Columns: a matrix and below it its tile. Where they do not fit side by side they go to the next band.
    struct Column {
        int index, band;
        float x, gutter;
    };
    std::vector<Column> columns;
    std::vector<float> shelf_h(1, 0), bench_h(1, 0);
    float x = 0, widest = 0;
    for (std::size_t k = 0; k < s.matrices.size(); ++k) {
        MemoryItem top = item(s.matrices[k], shelf);
        const float gutter = top.row_block ? px(kGridGutter) : 0;
        float width = top.extent.x, tile_h = 0;
        if (s.below[k] >= 0 && others != Others::Free) {
            const MemoryItem tile = item(s.below[k], bench);
            width = std::max(width, tile.extent.x);
            tile_h = tile.extent.y;
        }
        width += gutter;
        if (x > 0 && x + width + lane_w > s.space.x) {
            x = 0;
            shelf_h.push_back(0), bench_h.push_back(0);
        }
        if (width + lane_w > s.space.x + 0.5f) wide = true;
        columns.push_back({static_cast<int>(k), static_cast<int>(shelf_h.size()) - 1, x, gutter});
        shelf_h.back() = std::max(shelf_h.back(), top.extent.y);
        bench_h.back() = std::max(bench_h.back(), tile_h);
        x += width + gap;
        widest = std::max(widest, x - gap);
    }
    float y = header;
    std::vector<float> shelf_y, bench_y;
    for (const float h : shelf_h) {
        shelf_y.push_back(y);
        y += h + px(kRowGap);
    }
    out.lane = y - px(kRowGap);
    out.lane_end = out.bench_header = out.lane + std::round(room.lane);
    y = out.bench_header + header + px(8);
    for (const float h : bench_h) {
        bench_y.push_back(y);
        if (h > 0) y += h + px(kRowGap);
    }
    for (const Column& c : columns) {
        MemoryItem top = item(s.matrices[c.index], shelf);
        put(top, c.x, shelf_y[c.band], c.gutter);
        out.place[top.tensor] = static_cast<int>(out.shelf.size());
        out.shelf.push_back(top);
        if (s.below[c.index] < 0 || others == Others::Free) continue;
        MemoryItem tile = item(s.below[c.index], bench);
        put(tile, c.x, bench_y[c.band], c.gutter);
        out.place[tile.tensor] = static_cast<int>(out.bench.size());
        out.bench.push_back(tile);
    }
    // Tiles that never leave the chip, behind those that do where these stand freely.
    std::vector<int> flow;
    if (others == Others::Free)
        std::copy_if(s.below.begin(), s.below.end(), std::back_inserter(flow), [](int tile) { return tile >= 0; });
    flow.insert(flow.end(), s.others.begin(), s.others.end());
    const float indent = columns.empty() ? 0 : columns[0].gutter;
    float row_h = 0;
    if (others == Others::Behind) {
        y = bench_y.back();
        row_h = bench_h.back();
    } else {
        x = indent;
    }
    for (const int tensor : flow) {
        MemoryItem tile = item(tensor, bench);
        if (x > indent && x + tile.extent.x + lane_w > s.space.x) {
            y += row_h + px(kRowGap);
            x = indent, row_h = 0;
        }
        if (x + tile.extent.x + lane_w > s.space.x + 0.5f) wide = true;
        put(tile, x, y, 0);
        row_h = std::max(row_h, tile.extent.y);
        x += tile.extent.x + gap;
        widest = std::max(widest, x - gap);
        out.place[tensor] = static_cast<int>(out.bench.size());
        out.bench.push_back(tile);
    }
    if (row_h > 0) y += row_h + px(kRowGap);
    if (!trace.sram_modelled) {
        out.chip = {indent, y};
        out.chip_end = {s.space.x, y + px(56)};
        y += px(56 + kRowGap);
    }
    out.size = {widest, y - px(kRowGap)};
    if (shapes == Shapes::Hidden) show_shapes_with_room(s, out.shelf), show_shapes_with_room(s, out.bench);
    return out;
}

}  // namespace

std::string shape_text(int rows, int cols) { return std::to_string(rows) + " \u00D7 " + std::to_string(cols); }

MemoryLayout layout_memory(Ui& ui, const Run& run, ImVec2 space) {
    const Source source = gather(ui, run, space);
    std::vector<CellMode> modes = {{15, 0}, {12, 0}};
    for (float heat = 20; heat >= 1; --heat) modes.push_back({0, heat});
    for (float heat = 0.5f; heat > 0.002f; heat /= 2) modes.push_back({0, heat});

    const float lane = ui.px(kLaneLeast);
    CellMode shelf = modes.back(), bench = modes.back();
    Shapes shapes = Shapes::Hidden;
    Others others = Others::Below;
    double best = -1e9;
    bool wide = false;
    const std::pair<Shapes, Others> ways[] = {{Shapes::Shown, Others::Below},  {Shapes::Shown, Others::Behind},
                                              {Shapes::Hidden, Others::Below}, {Shapes::Hidden, Others::Behind},
                                              {Shapes::Shown, Others::Free},   {Shapes::Hidden, Others::Free}};
    for (const auto& [with, where] : ways) {
        for (const CellMode& a : modes) {
            for (const CellMode& b : modes) {
                // A heat map above numbers is read more easily than the reverse: the bench is where the work is done.
                const double worth =
                    a.worth() + b.worth() * 1.05 + (with == Shapes::Shown ? 3 : 0) - (where == Others::Free ? 8 : 0);
                if (worth <= best) continue;
                const MemoryLayout tried = attempt(source, a, b, with, where, {0, 0, lane}, wide);
                if (wide || tried.size.y > space.y) continue;
                best = worth, shelf = a, bench = b, shapes = with, others = where;
            }
        }
    }
    // What is left makes numbers roomier, then the gaps wider, then the lane higher.
    Room room{0, 0, lane};
    MemoryLayout chosen = attempt(source, shelf, bench, shapes, others, room, wide);
    const auto grow = [&](float Room::*part, float most, float step) {
        for (;;) {
            Room more = room;
            more.*part += ui.px(step);
            if (more.*part > ui.px(most)) return;
            MemoryLayout tried = attempt(source, shelf, bench, shapes, others, more, wide);
            if (wide || tried.size.y > space.y) return;
            // One row more is no gain.
            if (!tried.shelf.empty() && tried.shelf.back().corner.y > chosen.shelf.back().corner.y) return;
            if (part == &Room::gap && tried.size.y > chosen.size.y) return;
            room = more;
            chosen = std::move(tried);
        }
    };
    grow(&Room::cells, 24, 2);
    grow(&Room::gap, 28, 2);
    grow(&Room::lane, kLaneMost, 2);
    return chosen;
}

}  // namespace flashstep::viz
