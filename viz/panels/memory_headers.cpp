// The two lines that head shelf and bench: their names, legends of the frames, and what the chip holds.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "lab/format.h"
#include "viz/panels/memory_ground.h"
#include "viz/panels/memory_view.h"
#include "viz/text/text.h"
#include "viz/widgets/measures.h"

namespace flashstep::viz {
namespace {

constexpr Text kHbm{"HBM", "显存（HBM）"};
constexpr Text kSramPeak{"SRAM peak", "SRAM 峰值"};
constexpr Text kSramOf{"{used} of {capacity}", "已用 {used}，共 {capacity}"};
constexpr Text kMemMovesNow{"moves now", "正在搬运"};
constexpr Text kMemOnChip{"on chip", "在片上"};
constexpr Text kMemWrittenNow{"written now", "刚写入"};
constexpr Text kMemReadNow{"read now", "正在读取"};
constexpr Text kMemUsed{"{used} in use", "已用 {used}"};

// Design pixels.
constexpr float kShelfBaseline = 15, kBenchBaseline = 21;  // below the lines' tops
constexpr float kBarTop = 5, kBarHeight = 26, kLeastBar = 60;
constexpr float kDescent = 5;             // of the ground behind words, below their baseline
constexpr std::int64_t kWideBytes = 888;  // as wide as any number of bytes with its unit

// A legend that grows to the left.
class LegendLine {
  public:
    LegendLine(const MemoryView& view, float right, float base) : view_(view), right_(right), base_(base) {}
    void frame(Rgb color, float thickness, const Text& text) {
        const float thick = std::max(std::floor(thickness), view_.ui.px(thickness));
        took(legend_entry(view_.ui, view_.draw, right_, base_, color, thick, view_.ui.tr(text)));
    }
    void spoiled() { took(spoiled_legend(view_.ui, view_.draw, right_, base_)); }
    void registers() { took(registers_legend(view_.ui, view_.draw, right_, base_)); }
    float left() const { return right_; }

  private:
    void took(float width) { right_ -= width + view_.ui.px(kWideGap); }

    const MemoryView& view_;
    float right_, base_;
};

// Words of the bench's line from the left. An arrow that passes here passes behind them.
class Words {
  public:
    Words(const MemoryView& view, float x, float top) : view_(view), x_(x), top_(top) {}
    void say(ImFont* font, Rgb color, std::string_view text, float room) {
        const Ui& ui = view_.ui;
        const float base = top_ + ui.px(kBenchBaseline);
        view_.draw->AddRectFilled({x_ - ui.px(kStroke), top_ + ui.px(kSmallGap)},
                                  {x_ + room + ui.px(kStroke), base + ui.px(kDescent)}, u32(view_.t.panel));
        draw_text_on(view_.draw, font, x_, base, u32(color), text);
    }
    void skip(float width) { x_ += width + view_.ui.px(kPadding); }
    float x() const { return x_; }

  private:
    const MemoryView& view_;
    float x_, top_;
};

std::vector<CapacityPart> capacity_parts(const MemoryView& view, const std::vector<int>& resident) {
    std::vector<CapacityPart> parts;
    for (const int tile : resident) {
        const Tensor& tensor = view.trace.tensors[tile];
        if (tensor.registers) continue;  // takes no SRAM
        const Version& v = view.trace.versions[view.trace.tile_at(tile, view.step)];
        parts.push_back({tensor.name, std::int64_t{v.rows} * v.cols * tensor.element_bytes, 1});
    }
    return parts;
}

// One tile's part of the bar, beside the most that there ever is.
void capacity_tip(MemoryView& view, const CapacityPart& part) {
    Ui& ui = view.ui;
    if (!begin_tip(ui)) return;
    formula(ui, ui.formulas.get(ui, name_to_tex(part.tensor), 17));
    ImGui::SameLine();
    ImGui::TextUnformatted(bytes_text(part.bytes).c_str());
    tip_text(ui, ui.tr(kSramPeak) + std::string(" ") + bytes_text(view.trace.sram_peak));
    end_tip();
}

void draw_capacity(MemoryView& view, const std::vector<int>& resident, float left, float right, float top) {
    const std::vector<CapacityPart> parts = capacity_parts(view, resident);
    ImGui::SetCursorScreenPos({std::round(left), std::round(top + view.ui.px(kBarTop))});
    ImGui::BeginChild(
        "bar", {std::round(right - left), view.ui.px(kBarHeight)}, false,
        ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollWithMouse);
    const int part = capacity_bar(view.ui, "capacity", parts, view.run.recipe.problem.sram_bytes, view.trace.sram_peak);
    ImGui::EndChild();
    if (part >= 0) capacity_tip(view, parts[part]);
}

// "300 B of 48 KiB", or what is in use where there is no limit.
std::string used_text(const MemoryView& view, std::int64_t bytes) {
    const std::int64_t capacity = view.run.recipe.problem.sram_bytes;
    if (capacity > 0) return view.ui.tr(kSramOf, {{"used", bytes_text(bytes)}, {"capacity", bytes_text(capacity)}});
    return view.ui.tr(kMemUsed, {{"used", bytes_text(bytes)}});
}

void draw_shelf_header(MemoryView& view) {
    const float base = view.origin.y + view.layout.shelf_header + view.ui.px(kShelfBaseline);
    draw_text_on(view.draw, view.ui.fonts.bold, view.origin.x, base, u32(view.t.text), view.ui.tr(kHbm));
    LegendLine legend(view, view.origin.x + view.state.space.x, base);
    if (view.trace.sram_modelled) legend.frame(view.t.text, kThinStroke, kMemOnChip);
    legend.frame(view.t.accent, kStroke, kMemMovesNow);
    if (view.run.departure) legend.spoiled();
}

void draw_bench_header(MemoryView& view) {
    const Ui& ui = view.ui;
    const Theme& t = view.t;
    const float left = view.origin.x, right = left + view.state.space.x, top = view.origin.y + view.layout.bench_header;
    view.draw->AddRectFilled({left, top}, {right, top + std::max(kHair, std::round(ui.px(kHair)))}, u32(t.line));
    Words words(view, left, top);
    const std::string_view sram = ui.tr(kSram);
    const float sram_width = text_width(ui.fonts.bold, sram);
    words.say(ui.fonts.bold, t.text, sram, sram_width);
    words.skip(sram_width);
    if (!view.trace.sram_modelled) {
        const std::string_view none = ui.tr(kNotModelled);
        words.say(ui.fonts.small, t.quiet, none, text_width(ui.fonts.small, none));
        return;
    }
    const std::vector<int> resident = view.trace.resident(view.step);
    const float widest = text_width(ui.fonts.small, used_text(view, view.trace.sram_peak));
    words.say(ui.fonts.small, t.quiet, used_text(view, resident.empty() ? 0 : view.trace.steps[view.step].sram_bytes),
              widest);
    // Room for the widest of all texts, so that the bar starts at the same place at every step.
    words.skip(std::max(widest, text_width(ui.fonts.small, used_text(view, kWideBytes))));

    LegendLine legend(view, right, top + ui.px(kBenchBaseline));
    legend.frame(t.text, kThinStroke, kMemReadNow);
    legend.frame(t.accent, kStroke, kMemWrittenNow);
    if (has_registers(view.trace)) legend.registers();
    if (legend.left() - words.x() >= ui.px(kLeastBar)) draw_capacity(view, resident, words.x(), legend.left(), top);
}

}  // namespace

void draw_memory_headers(MemoryView& view) {
    draw_shelf_header(view);
    draw_bench_header(view);
}

}  // namespace flashstep::viz
