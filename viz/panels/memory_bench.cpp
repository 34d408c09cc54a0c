// The bench of the memory view: the tiles on chip, each in its place while it is there. Library calls, whose tiles are
// not modelled, have the outline of a chip instead.
#include <algorithm>
#include <cmath>

#include "viz/panels/memory_ground.h"
#include "viz/panels/memory_view.h"
#include "viz/shell/lesson_walk.h"
#include "viz/text/text.h"
#include "viz/widgets/measures.h"

namespace flashstep::viz {
namespace {

constexpr Text kMemStream{
    "A library call streams each operand through the chip once. What it keeps there is not modelled.",
    "每次库函数调用把各操作数流式读过片上一次，片上保留哪些数据不在建模范围内。"};

constexpr float kArriving = 0.25f;                                     // alpha of a tile whose arrow sets out
constexpr float kPinLength = 5, kPinDistance = 16, kHalfPinWidth = 2;  // of the chip, design pixels

bool contains(const std::vector<int>& list, int value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

// Flashes what was just written, outlines what is read.
void mark_use(const MemoryView& view, MatrixGrid& grid, int tile) {
    const StepView& now = view.app.player->view();
    const Change* written = now.write_of(tile);
    const GridRange all{0, 0, grid.rows, grid.cols};
    if (written) {
        grid.frame = all;
        grid.flash = 1 - view.motion;
        if (written->kind == Change::Kind::Load)
            grid.alpha = kArriving + (1 - kArriving) * view.motion;  // it comes in with its arrow
    } else if (now.reads_tile(tile)) {
        grid.read = all;
    }
}

void draw_tile(MemoryView& view, const MemoryItem& item) {
    const Trace& trace = view.trace;
    const Tensor& tensor = trace.tensors[item.tensor];
    const ImVec2 corner = view.at(item.grid);
    const int now = trace.tile_at(item.tensor, view.step);
    int version = now;
    MatrixGrid grid;
    if (now < 0) {
        outline_cells(view, corner, view.at(item.grid_end()));
        draw_item_name(view, item, NameLook::Quiet);
        // What has just left fades out.
        version = view.motion < 1 ? trace.tile_at(item.tensor, view.app.player->previous_step()) : -1;
        if (version < 0) return;
        grid.alpha = 1 - view.motion;
    }
    const Version& v = trace.versions[version];
    grid.id = tensor.name.c_str();
    grid.tensor = tensor.name;
    grid.data = trace.values.data() + v.offset;
    grid.rows = v.rows, grid.cols = v.cols;
    if (now >= 0) grid.spoiled = spoiled_of(view, item);
    grid.scale = view.run.tensor_scale[item.tensor];
    mark_use(view, grid, item.tensor);
    if (!in_focus(view.app, tensor)) grid.alpha *= kOutOfFocus;
    mark_bad_cell(view, grid, version, 0, 0);
    const ImVec2 extent = grid_size(grid, item.fit), end(corner.x + extent.x, corner.y + extent.y);
    outline_cells(view, corner, end);
    take_mouse(view, matrix_grid(view.ui, grid, item.fit, corner), item.tensor);
    if (now >= 0) draw_item_name(view, item, NameLook::Live);
    if (contains(view.related.operands, version) || contains(view.related.results, version))
        frame_related(view, corner, end);
    frame_selected_cell(view, item);
}

void draw_chip(MemoryView& view) {
    const Ui& ui = view.ui;
    ImDrawList* draw = view.draw;
    const ImVec2 a = view.at(view.layout.chip), b = view.at(view.layout.chip_end);
    const unsigned line = u32(view.t.line);
    draw->AddRectFilled(a, b, u32(view.t.raised), ui.px(kCorner));
    draw->AddRect(a, b, line, ui.px(kCorner));
    const float length = ui.px(kPinLength), distance = ui.px(kPinDistance), half = ui.px(kHalfPinWidth);
    for (float x = a.x + distance; x < b.x - distance / 2; x += distance) {
        draw->AddRectFilled({std::round(x - half), a.y - length}, {std::round(x + half), a.y}, line);
        draw->AddRectFilled({std::round(x - half), b.y}, {std::round(x + half), b.y + length}, line);
    }
    const char* note = ui.tr(kMemStream);
    const float wrap = b.x - a.x - 2 * ui.px(kPadding);
    ImFont* font = ui.fonts.small;
    const ImVec2 size = measured(font, note, nullptr, wrap);
    draw->AddText(font, font_height(font), {std::round(a.x + ui.px(kPadding)), std::round((a.y + b.y - size.y) / 2)},
                  u32(view.t.quiet), note, nullptr, wrap);
}

}  // namespace

void draw_bench(MemoryView& view) {
    if (!view.trace.sram_modelled) draw_chip(view);
    register_bands(view.ui, view.draw, view.trace, view.layout, view.origin);
    ImGui::PushID("sram");
    for (const MemoryItem& item : view.layout.bench) draw_tile(view, item);
    ImGui::PopID();
}

}  // namespace flashstep::viz
