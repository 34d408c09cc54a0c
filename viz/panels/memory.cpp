// The memory view: matrices in HBM on a shelf, tiles in SRAM on a bench below it, loads and stores as arrows between.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "viz/widgets/cell_tip.h"
#include "lab/format.h"
#include "viz/panels/memory_arrow.h"
#include "viz/panels/memory_ground.h"
#include "viz/panels/panel_cache.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

// One frame of the panel.
struct View {
    AppState& app;
    PanelCache& cache;
    ImVec2 origin;
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const Run& run = *app.run;
    const Trace& trace = run.trace;
    const int step = app.player->step();
    const float motion = app.motion();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    std::optional<CellRef> hovered = {};
    Related related = {};  // to the cell that was hovered in the last frame

    ImVec2 at(ImVec2 p) const { return {origin.x + p.x, origin.y + p.y}; }

    void run_frame();
    void headers();
    void matrix(const MemoryItem& item);
    void tile(const MemoryItem& item);
    void take_mouse(const GridEvent& event, int tensor);
    void name(const MemoryItem& item, float alpha);
    void mark_selected(const MemoryItem& item);
    void related_frame(ImVec2 a, ImVec2 b);
    void outline(ImVec2 a, ImVec2 b);
    void bad_cell(MatrixGrid& grid, int version, int row0, int col0) const;
    void arrows();
    void chip();
};

bool contains(const std::vector<int>& list, int value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

void View::headers() {
    const MemoryLayout& l = cache.memory;
    const float width = cache.memory_space.x, small = ui.px(16);
    const float top = origin.y + l.shelf_header + ui.px(15), bottom = origin.y + l.bench_header + ui.px(17);
    draw_text_on(draw, ui.fonts.bold, origin.x, top, u32(t.text), ui.tr(Str::hbm));
    float right = origin.x + width;
    if (trace.sram_modelled) {
        right -=
            legend_entry(ui, draw, right, top, t.text, std::max(1.0f, ui.px(1.5f)), ui.tr(Str::mem_on_chip)) + small;
    }
    legend_entry(ui, draw, right, top, t.accent, std::max(2.0f, ui.px(2)), ui.tr(Str::mem_moves_now));

    const float line_y = origin.y + l.bench_header;
    draw->AddRectFilled({origin.x, line_y}, {origin.x + width, line_y + std::max(1.0f, std::round(ui.px(1)))},
                        u32(t.line));
    float x = origin.x;
    const float base = bottom + ui.px(4);
    const auto behind = [&](float from, float width_of) {  // an arrow that passes here passes behind the words
        draw->AddRectFilled({from - ui.px(2), line_y + ui.px(4)}, {from + width_of + ui.px(2), base + ui.px(5)},
                            u32(t.panel));
    };
    behind(x, text_width(ui.fonts.bold, ui.tr(Str::sram)));
    draw_text_on(draw, ui.fonts.bold, x, base, u32(t.text), ui.tr(Str::sram));
    x += text_width(ui.fonts.bold, ui.tr(Str::sram)) + ui.px(12);
    if (!trace.sram_modelled) {
        behind(x, text_width(ui.fonts.small, ui.tr(Str::not_modelled)));
        draw_text_on(draw, ui.fonts.small, x, base, u32(t.quiet), ui.tr(Str::not_modelled));
        return;
    }
    const std::int64_t capacity = run.recipe.problem.sram_bytes;
    const auto used_text = [&](std::int64_t bytes) {
        return capacity > 0 ? ui.tr(Str::sram_of, {{"used", bytes_text(bytes)}, {"capacity", bytes_text(capacity)}})
                            : ui.tr(Str::mem_used, {{"used", bytes_text(bytes)}});
    };
    const std::vector<int> resident = trace.resident(step);
    behind(x, text_width(ui.fonts.small, used_text(trace.sram_peak)));
    draw_text_on(draw, ui.fonts.small, x, base, u32(t.quiet),
                 used_text(resident.empty() ? 0 : trace.steps[step].sram_bytes));
    // Room for the widest of all texts, so that the bar starts at the same place at every step.
    x += std::max(text_width(ui.fonts.small, used_text(trace.sram_peak)), text_width(ui.fonts.small, used_text(888))) +
         ui.px(12);
    right = origin.x + width;
    right -= legend_entry(ui, draw, right, base, t.text, std::max(1.0f, ui.px(1.5f)), ui.tr(Str::mem_read_now)) + small;
    right -=
        legend_entry(ui, draw, right, base, t.accent, std::max(2.0f, ui.px(2)), ui.tr(Str::mem_written_now)) + small;
    if (has_registers(trace)) right -= registers_legend(ui, draw, right, base) + small;
    if (right - x < ui.px(60)) return;

    std::vector<CapacityPart> parts;
    for (const int tile : resident) {
        if (trace.tensors[tile].registers) continue;  // takes no SRAM
        const Version& v = trace.versions[trace.tile_at(tile, step)];
        parts.push_back(
            {trace.tensors[tile].name, std::int64_t{v.rows} * v.cols * trace.tensors[tile].element_bytes, 1});
    }
    ImGui::SetCursorScreenPos({std::round(x), std::round(line_y + ui.px(5))});
    ImGui::BeginChild(
        "bar", {std::round(right - x), ui.px(26)}, false,
        ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollWithMouse);
    const int part = capacity_bar(ui, "capacity", parts, capacity, trace.sram_peak);
    ImGui::EndChild();
    if (part >= 0 && begin_tip(ui)) {
        formula(ui, ui.formulas.get(ui, name_to_tex(parts[part].tensor), 17));
        ImGui::SameLine();
        ImGui::TextUnformatted(bytes_text(parts[part].bytes).c_str());
        tip_text(ui, ui.tr(Str::sram_peak) + std::string(" ") + bytes_text(trace.sram_peak));
        end_tip();
    }
}

void View::name(const MemoryItem& item, float alpha) {
    const Tensor& tensor = trace.tensors[item.tensor];
    const ImVec2 pen = at(item.name);
    float width = 0;
    if (alpha > 0) {
        width = tensor_name(ui, draw, pen, tensor.name);
    } else {  // an empty place: quiet, and not live
        FormulaLayout plain = ui.formulas.get(ui, name_to_tex(tensor.name), 17);
        plain.symbols.clear();
        for (FormulaBox& box : plain.boxes) box.symbol = -1;
        draw_formula(ui, draw, pen.x, pen.y, plain, u32(t.quiet));
        width = plain.width * ui.scale;
    }
    if (!item.shows_shape || alpha <= 0) return;
    int rows = tensor.rows, cols = tensor.cols;
    if (tensor.space == Space::Sram) {
        const int version = trace.tile_at(item.tensor, step);
        if (version >= 0) rows = trace.versions[version].rows, cols = trace.versions[version].cols;
    }
    draw_text_on(draw, ui.fonts.small, pen.x + width + ui.px(8), pen.y, u32(t.quiet), shape_text(rows, cols));
}

void View::take_mouse(const GridEvent& event, int tensor) {
    if (event.hovered) hovered = CellRef{tensor, event.row, event.col};
    if (event.clicked) app.selected = CellRef{tensor, event.row, event.col};
}

void View::mark_selected(const MemoryItem& item) {
    if (!app.selected || app.selected->tensor != item.tensor) return;
    const ImVec2 p = at(item.grid);
    const float x = std::round(p.x), y = std::round(p.y), out = ui.px(1);
    const ImVec2 a(x + std::round(static_cast<float>(app.selected->col) * item.fit.cell_w) - out,
                   y + std::round(static_cast<float>(app.selected->row) * item.fit.cell_h) - out);
    const ImVec2 b(x + std::round(static_cast<float>(app.selected->col + 1) * item.fit.cell_w) - 1 + out,
                   y + std::round(static_cast<float>(app.selected->row + 1) * item.fit.cell_h) - 1 + out);
    draw->AddRect({a.x - 1, a.y - 1}, {b.x + 1, b.y + 1}, u32(t.panel), ui.px(2), 0, std::max(1.0f, ui.px(1)));
    draw->AddRect(a, b, u32(t.text), ui.px(2), 0, std::max(2.0f, ui.px(2)));
}

void View::related_frame(ImVec2 a, ImVec2 b) {
    const float out = std::round(ui.px(4));
    draw->AddRect({a.x - out, a.y - out}, {b.x + out - 1, b.y + out - 1}, u32(t.text), ui.px(4), 0,
                  std::max(1.0f, ui.px(2)));
}

// Points out the first element of a version that the kernel does not agree with.
void View::bad_cell(MatrixGrid& grid, int version, int row0, int col0) const {
    if (version < 0 || !run.comparison) return;
    const int index = run.comparison->by_version[version];
    if (index < 0 || run.comparison->tiles[index].verdict == Verdict::Equal) return;
    grid.mark_row = row0 + run.comparison->tiles[index].row;
    grid.mark_col = col0 + run.comparison->tiles[index].col;
}

void View::matrix(const MemoryItem& item) {
    const Tensor& tensor = trace.tensors[item.tensor];
    const Trace::View& values = cache.views[item.tensor];
    MatrixGrid grid;
    grid.id = tensor.name.c_str();
    grid.tensor = tensor.name;
    grid.rows = tensor.rows, grid.cols = tensor.cols;
    if (cache.has_values[item.tensor]) {
        grid.data = values.values.data();
        grid.written = values.written.data();
    }
    grid.scale = run.tensor_scale[item.tensor];
    grid.row_block = item.row_block;
    grid.block_numbers = item.row_block > 0;
    const auto range_of = [&](int block) {
        const Trace::Range r = trace.block_range(item.tensor, block);
        return GridRange{r.row0, r.col0, r.rows, r.cols};
    };
    const Step& now = trace.steps[step];
    for (int k = now.touch_begin; k < now.touch_end; ++k) {
        const Touch& touch = trace.touches[k];
        if (touch.tensor != item.tensor || touch.kind == TouchKind::Read || touch.kind == TouchKind::Write) continue;
        grid.frame = range_of(touch.block);
        bad_cell(grid, touch.kind == TouchKind::Store ? touch.version : -1, grid.frame.row, grid.frame.col);
    }
    const int on_chip = block_on_chip(cache, item.tensor, step);
    if (on_chip >= 0 && grid.frame.rows == 0) grid.read = range_of(on_chip);
    outline(at(item.grid), at(item.grid_end()));
    take_mouse(matrix_grid(ui, grid, item.fit, at(item.grid)), item.tensor);
    name(item, 1);
    for (const auto* list : {&related.operands, &related.results}) {
        for (const int v : *list) {
            if (trace.versions[v].tensor != item.tensor) continue;
            const GridRange r = range_of(trace.versions[v].block);
            const ImVec2 p = at(item.grid);
            related_frame(
                {p.x + item.fit.cell_w * static_cast<float>(r.col), p.y + item.fit.cell_h * static_cast<float>(r.row)},
                {p.x + item.fit.cell_w * static_cast<float>(r.col + r.cols),
                 p.y + item.fit.cell_h * static_cast<float>(r.row + r.rows)});
        }
    }
    mark_selected(item);
}

// A thin line round the cells: those near zero have the panel's colour.
void View::outline(ImVec2 a, ImVec2 b) {
    draw->AddRect({std::round(a.x) - 1, std::round(a.y) - 1}, {std::round(b.x) + 1, std::round(b.y) + 1}, u32(t.line),
                  ui.px(2));
}

void View::tile(const MemoryItem& item) {
    const Tensor& tensor = trace.tensors[item.tensor];
    int version = trace.tile_at(item.tensor, step);
    MatrixGrid grid;
    if (version < 0) {
        outline(at(item.grid), at(item.grid_end()));
        name(item, 0);
        // What has just left fades out.
        const int before = motion < 1 ? trace.tile_at(item.tensor, app.player->previous_step()) : -1;
        if (before < 0) return;
        version = before;
        grid.alpha = 1 - motion;
    }
    const Version& v = trace.versions[version];
    grid.id = tensor.name.c_str();
    grid.tensor = tensor.name;
    grid.data = trace.values.data() + v.offset;
    grid.rows = v.rows, grid.cols = v.cols;
    grid.scale = run.tensor_scale[item.tensor];
    bool loaded = false, written = false, read = false;
    const Step& now = trace.steps[step];
    for (int k = now.touch_begin; k < now.touch_end; ++k) {
        const Touch& touch = trace.touches[k];
        loaded |= touch.kind == TouchKind::Load && touch.partner == item.tensor;
        written |= touch.kind == TouchKind::Write && touch.tensor == item.tensor;
        read |= touch.kind == TouchKind::Read && touch.tensor == item.tensor;
    }
    const GridRange all{0, 0, v.rows, v.cols};
    if (written) {
        grid.frame = all;
        grid.flash = 1 - motion;
        if (loaded) grid.alpha = 0.25f + 0.75f * motion;  // it comes in with its arrow
    } else if (read) {
        grid.read = all;
    }
    bad_cell(grid, version, 0, 0);
    const ImVec2 corner = at(item.grid), extent = grid_size(grid, item.fit);
    outline(corner, {corner.x + extent.x, corner.y + extent.y});
    take_mouse(matrix_grid(ui, grid, item.fit, at(item.grid)), item.tensor);
    if (trace.tile_at(item.tensor, step) >= 0) name(item, 1);
    if (contains(related.operands, version) || contains(related.results, version)) {
        related_frame(corner, {corner.x + extent.x, corner.y + extent.y});
    }
    mark_selected(item);
}

void View::arrows() {
    const MemoryLayout& l = cache.memory;
    const float lane = origin.y + (l.lane + l.lane_end) / 2, right = origin.x + cache.memory_space.x;
    const Step& now = trace.steps[step];
    float labelled = -1e9f;  // where the last label ended, so that two never lie on one another
    std::vector<ArrowLabel> labels;
    for (int k = now.touch_begin; k < now.touch_end; ++k) {
        const Touch& touch = trace.touches[k];
        if (touch.kind != TouchKind::Load && touch.kind != TouchKind::Store) continue;
        const MemoryItem& shelf = l.shelf[l.place[touch.tensor]];
        const Rgb color = t.text_of(trace.tensors[touch.tensor].name);
        const bool load = touch.kind == TouchKind::Load;
        const std::string label = bytes_text(touch.bytes);
        const ImVec2 corner = at(shelf.grid), far = at(shelf.grid_end());
        if (touch.partner < 0) {
            const float x =
                std::clamp((corner.x + far.x) / 2, origin.x + l.chip.x + ui.px(8), origin.x + l.chip_end.x - ui.px(8));
            const ImVec2 outer(x, far.y + ui.px(3)), inner(x, origin.y + l.chip.y - ui.px(2));
            const ImVec2 points[] = {load ? outer : inner, load ? inner : outer};
            route_arrow(ui, draw, points, color, motion);
            labels.push_back({label, color, {x, lane}});
            continue;
        }
        const MemoryItem& bench = l.bench[l.place[touch.partner]];
        const Trace::Range range = trace.block_range(touch.tensor, touch.block);
        const Version& tile = trace.versions[trace.tile_at(touch.partner, step)];
        // Beside a block that ends inside the matrix the way goes along the edge below it: between numbers, not
        // through.
        const bool inside = range.col0 + range.cols < shelf.cols;
        const float row = static_cast<float>(range.row0) + static_cast<float>(range.rows) * (inside ? 1.0f : 0.5f);
        const ImVec2 from(
            corner.x + shelf.fit.cell_w * static_cast<float>(range.col0 + range.cols) + (inside ? 0 : ui.px(2)),
            std::round(corner.y + shelf.fit.cell_h * row));
        const ImVec2 tile_corner = at(bench.grid);
        const ImVec2 to(tile_corner.x + bench.fit.cell_w * static_cast<float>(tile.cols) + ui.px(2),
                        tile_corner.y + bench.fit.cell_h * static_cast<float>(tile.rows) / 2);
        const float shelf_lane = at({shelf.corner.x + shelf.extent.x, 0}).x,
                    bench_lane = at({bench.corner.x + bench.extent.x, 0}).x;
        const bool below = shelf.grid.x == bench.grid.x;
        const float x = std::round((below ? std::max(shelf_lane, bench_lane) : shelf_lane) + ui.px(9));
        std::vector<ImVec2> points;
        if (below)
            points = {from, {x, from.y}, {x, to.y}, to};
        else {  // along the lane, or below the first row of tiles along the gap above the own row, each on its own
                // height
            const float offset = static_cast<float>((k - now.touch_begin) % 3 - 1);
            const bool first_row = bench.corner.y <= l.bench.front().corner.y;
            const float level =
                first_row ? lane + ui.px(4) * offset : at(bench.corner).y - ui.px(5) + ui.px(4) * offset;
            points = {from, {x, from.y}, {x, level}, {bench_lane + ui.px(9), level}, {bench_lane + ui.px(9), to.y}, to};
        }
        if (!load) std::reverse(points.begin(), points.end());
        const float half = text_width(ui.fonts.number_small, label) / 2 + ui.px(5);
        const float label_x = std::max(x, labelled + half);
        labelled = label_x + half;
        route_arrow(ui, draw, points, color, motion);
        labels.push_back({label, color, {label_x, lane}});
    }
    if (motion < 0.3f) return;
    for (const ArrowLabel& label : labels) draw_arrow_label(ui, draw, label, origin.x, right);
}

void View::chip() {
    const MemoryLayout& l = cache.memory;
    if (trace.sram_modelled) return;
    const ImVec2 a = at(l.chip), b = at(l.chip_end);
    draw->AddRectFilled(a, b, u32(t.raised), ui.px(4));
    draw->AddRect(a, b, u32(t.line), ui.px(4));
    const float pin = ui.px(5), step_x = ui.px(16);
    for (float x = a.x + step_x; x < b.x - step_x / 2; x += step_x) {
        draw->AddRectFilled({std::round(x - ui.px(2)), a.y - pin}, {std::round(x + ui.px(2)), a.y}, u32(t.line));
        draw->AddRectFilled({std::round(x - ui.px(2)), b.y}, {std::round(x + ui.px(2)), b.y + pin}, u32(t.line));
    }
    const char* note = ui.tr(Str::mem_stream);
    const float wrap = b.x - a.x - ui.px(24);
    const ImVec2 size = ui.fonts.small->CalcTextSizeA(ui.fonts.small->FontSize, 1e9f, wrap, note);
    draw->AddText(ui.fonts.small, ui.fonts.small->FontSize,
                  {std::round(a.x + ui.px(12)), std::round((a.y + b.y - size.y) / 2)}, u32(t.quiet), note, nullptr,
                  wrap);
}

void View::run_frame() {
    if (app.hovered) related = related_to(app, version_of(app, *app.hovered).version);
    ImGui::PushID("hbm");
    for (const MemoryItem& item : cache.memory.shelf) matrix(item);
    ImGui::PopID();
    chip();
    register_bands(ui, draw, trace, cache.memory, origin);
    ImGui::PushID("sram");
    for (const MemoryItem& item : cache.memory.bench) tile(item);
    ImGui::PopID();
    arrows();
    headers();  // last: arrows pass behind the bar
    app.hovered = hovered;
    if (hovered) cell_tip(app, *hovered);
}

}  // namespace

void draw_memory_panel(AppState& app) {
    if (!app.run || !app.player) {
        empty_state(app.ui, app.ui.tr(Str::empty_trace));
        return;
    }
    PanelCache& cache = panel_cache(app);
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const float scrolled = ImGui::GetScrollY();
    const ImVec2 padding(origin.x - ImGui::GetWindowPos().x, origin.y + scrolled - ImGui::GetWindowPos().y);
    // The whole window, whether a scroll bar stands in it or not: a layout that flickers with its own bar is worse.
    const ImVec2 space(ImGui::GetWindowWidth() - 2 * padding.x, ImGui::GetWindowHeight() - 2 * padding.y);
    if (cache.memory_space.x != space.x || cache.memory_space.y != space.y || cache.memory_scale != app.ui.scale) {
        cache.memory = layout_memory(app.ui, *app.run, space);
        cache.memory_space = space;
        cache.memory_scale = app.ui.scale;
    }
    cache.memory_origin = origin;
    refresh_views(cache, app);
    View{app, cache, origin}.run_frame();
    ImGui::SetCursorScreenPos(origin);
    ImGui::Dummy({cache.memory.size.x, cache.memory.size.y});
}

}  // namespace flashstep::viz
