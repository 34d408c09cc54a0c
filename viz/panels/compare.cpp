// CPU against kernel: where it ran, the verdict, every compared tensor, the first difference, bytes and counters.
#include <algorithm>
#include <cmath>
#include <string>

#include "lab/format.h"
#include "lab/kernel_choice.h"
#include "viz/panels/cells.h"
#include "viz/panels/panels.h"
#include "viz/panels/where.h"
#include "viz/shell/frame.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kFirstBad{
    "First difference: {tensor}, step {step}, line {line}, tile i={i} j={j}, row {row}, column {column}",
    "第一处差异：{tensor}，第 {step} 步，伪代码第 {line} 行，tile i={i} j={j}，第 {row} 行第 {column} 列"};
constexpr Text kMirrorValue{"CPU", "CPU"};
constexpr Text kEmptyKernel{"Choose a kernel to compare with the CPU.", "选择一个 kernel，与 CPU 结果对比。"};
constexpr Text kKernelTiles{"tiles", "tile 数"};
constexpr Text kKernelError{"error", "误差"};
constexpr Text kKernelOfTolerance{"of limit", "占容差"};
constexpr Text kKernelHere{"here", "此处"};
constexpr Text kBytesEqual{"HBM bytes as expected: {bytes}", "HBM 字节数与预期一致：{bytes}"};
constexpr Text kBytesUnequal{"HBM bytes differ: {kernel}, expected {expected}",
                             "HBM 字节数不一致：{kernel}，预期 {expected}"};
constexpr Text kBytesUncounted{"This run counted no bytes.", "这次运行没有统计字节数。"};
constexpr Text kKernelCounters{"Counted while it ran", "运行计数"};
constexpr Text kNotMaterialisedList{"Not materialised by this kernel:", "这个 kernel 不产生的中间值："};
constexpr Text kKernelCannot{"The kernel cannot run this problem: {reason}", "这个 kernel 无法运行该问题：{reason}"};
constexpr Text kKernelStopped{"Without line {line} of its source, the executor stopped this kernel: {reason}",
                              "去掉源码第 {line} 行之后，执行器停下了这个 kernel：{reason}"};
constexpr Text kEmptyNoKernel{"No kernel does the work of this algorithm yet, so that nothing is compared.",
                              "这个算法还没有对应的 kernel，无从对比。"};
constexpr Text kRecordingLeft{
    "The recording holds preset {name} as it is. You changed that, so the kernel ran on this CPU.",
    "录制结果只对应未改动的预设 {name}。问题已被改动，因此 kernel 改在本机 CPU 上运行。"};
constexpr Text kBytesRequested{"Requested bytes: those of L2 and of DRAM are other numbers, not measured here.",
                               "这是请求的字节数；L2 和 DRAM 的字节数是另外两个数，这里没有测量。"};

// The check of what the current step wrote of a tensor; null: it wrote nothing that is compared.
const TileCheck* check_here(const AppState& app, std::string_view tensor) {
    const Trace& trace = app.run->trace;
    const Comparison& comparison = *app.run->comparison;
    const Step& step = app.player->current();
    for (int v = step.version_end - 1; v >= step.version_begin; --v) {
        if (trace.tensors[trace.versions[v].tensor].name != tensor || comparison.by_version[v] < 0) continue;
        return &comparison.tiles[comparison.by_version[v]];
    }
    return nullptr;
}

// "3%", "<1%"
std::string percent(double ratio) {
    if (ratio == 0) return "0";
    if (!std::isfinite(ratio)) return short_number(ratio).text;
    if (ratio < 0.01) return "<1%";
    return ratio < 100 ? std::to_string(std::llround(ratio * 100)) + "%" : factor_text(ratio);
}

// What the executor counts, under the names that stand in its runs and their files.
std::string counter_name(const Ui& ui, std::string_view name) {
    static constexpr std::pair<std::string_view, Text> kNames[] = {
        {"block barriers", {"block barriers", "block 级 barrier 次数"}},
        {"warp barriers", {"warp barriers", "warp 级 barrier 次数"}},
        {"shuffles", {"warp shuffles", "warp shuffle 次数"}},
        {"atomics", {"atomics", "原子操作次数"}},
        {"exponentials", kExponentials},
        {"mma instructions", {"mma instructions", "mma 指令数"}},
        {"ldmatrix instructions", {"ldmatrix instructions", "ldmatrix 指令数"}},
        {"asynchronous copies", {"asynchronous copies", "异步拷贝次数"}},
        {"bytes copied asynchronously", {"bytes copied asynchronously", "异步拷贝字节数"}},
        {"shared bytes read", {"shared bytes read", "shared memory 读字节数"}},
        {"shared bytes written", {"shared bytes written", "shared memory 写字节数"}},
        {"shared wavefronts", {"shared wavefronts", "shared memory wavefront 数"}},
        {"shared wavefronts, ideal", {"of which needed", "其中必需"}},
        {"shared accesses without wavefronts", {"shared accesses without wavefronts", "未计 wavefront 的访问次数"}},
    };
    for (const auto& [known, text] : kNames)
        if (known == name) return ui.tr(text);
    return std::string(name);
}

struct Table {
    Ui& ui;
    float name_w, columns[4];  // right edges
    ImDrawList* draw = ImGui::GetWindowDrawList();

    Table(Ui& ui_, float width) : ui(ui_) {
        name_w = ui.px(44);
        const float rest = width - name_w;
        const float shares[] = {0.2f, 0.48f, 0.76f, 1.0f};
        for (int k = 0; k < 4; ++k) columns[k] = std::round(name_w + rest * shares[k]);
    }
    void cell(ImVec2 at, int column, ImFont* font, std::string_view text, unsigned color) const {
        const float base = at.y + std::round(ui.px(15));
        draw_text_on(draw, font, at.x + columns[column] - text_width(font, text), base, color, text);
    }
};

void tensor_table(AppState& app) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const Comparison& comparison = *app.run->comparison;
    const float width = ImGui::GetContentRegionAvail().x, line = std::round(ui.px(20));
    const Table table(ui, width);
    ImVec2 at = ImGui::GetCursorScreenPos();
    const Text heads[] = {kKernelTiles, kKernelError, kKernelOfTolerance, kKernelHere};
    for (int k = 0; k < 4; ++k) table.cell(at, k, ui.fonts.small, ui.tr(heads[k]), u32(t.quiet));
    ImGui::Dummy({width, line});
    table.draw->AddRectFilled({at.x, at.y + line - 1}, {at.x + width, at.y + line}, u32(t.line));
    for (const TensorSummary& row : comparison.tensors) {
        at = ImGui::GetCursorScreenPos();
        tensor_name(ui, table.draw, {at.x, at.y + std::round(ui.px(15))}, row.name);
        const bool bad = row.verdict != Verdict::Equal;
        const unsigned ink = u32(bad ? t.alarm : t.text);
        ImFont* font = ui.fonts.number_small;
        table.cell(at, 0, font, std::to_string(row.tiles), u32(t.text));
        table.cell(at, 1, font, error_text(row.worst_error), ink);
        table.cell(at, 2, font, percent(row.worst_ratio), ink);
        const TileCheck* here = check_here(app, row.name);
        table.cell(at, 3, font, here ? error_text(here->worst_error) : "·",
                   u32(!here                             ? t.quiet
                       : here->verdict != Verdict::Equal ? t.alarm
                                                         : t.text));
        ImGui::Dummy({width, line});
        if (ImGui::IsItemHovered()) ui.hot.set(row.name);
    }
    if (comparison.not_materialised.empty()) return;
    small_text(ui, ui.tr(kNotMaterialisedList));
    for (const std::string& name : comparison.not_materialised) {
        const FormulaLayout& layout = ui.formulas.get(ui, name_to_tex(name), 14);
        ImGui::SameLine(0, ui.px(8));
        if (layout.width * ui.scale > ImGui::GetContentRegionAvail().x) ImGui::NewLine();
        formula(ui, layout);
    }
}

std::string verdict_text(const Ui& ui, const Comparison& comparison) {
    switch (comparison.verdict) {
        case Verdict::Equal:
            return ui.tr(kMatchOk, {{"error", error_text(comparison.worst_error)}});
        case Verdict::Different:
            return ui.tr(comparison.first ? kMatchDiffers : kMatchBytesDiffer);
        case Verdict::NonFinite:
            break;
    }
    return ui.tr(kMatchNonFinite);
}

void verdict_badge(Ui& ui, const Comparison& comparison) {
    badge(ui, comparison.verdict == Verdict::Equal ? BadgeKind::Ok : BadgeKind::Differs, verdict_text(ui, comparison));
}
float badge_width(const Ui& ui, const Comparison& comparison) {
    return std::round(text_width(ui.fonts.small, verdict_text(ui, comparison)) + ui.px(32));
}

void first_difference(AppState& app, const Difference& first) {
    Ui& ui = app.ui;
    const auto index = [](int k) { return k < 0 ? std::string("–") : std::to_string(k + 1); };
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(ui.tr(kFirstBad, {{"tensor", first.tensor},
                                             {"step", std::to_string(position_of(app, first.step))},
                                             {"line", std::to_string(first.line)},
                                             {"i", index(first.i)},
                                             {"j", index(first.j)},
                                             {"row", index(first.row)},
                                             {"column", index(first.col)}})
                               .c_str());
    ImGui::PopTextWrapPos();
    if (!first.note.empty()) {
        small_text(ui, ui.tr(first.note));
    } else {
        value_row(ui, ui.tr(kMirrorValue), exact_number(first.mirror));
        value_row(ui, ui.tr(kKernelValue), exact_number(first.kernel));
        value_row(ui, ui.tr(kTolerance), error_text(first.tolerance));
    }
    if (!ImGui::Button(ui.tr(kGoThere))) return;
    int tensor = app.run->trace.find(first.tensor, Space::Sram);
    if (tensor < 0) tensor = app.run->trace.find(first.tensor, Space::Hbm);
    go_to(app, first.step, first.head, {tensor, first.row, first.col});
}

void counted_bytes(AppState& app) {
    Ui& ui = app.ui;
    const Comparison& comparison = *app.run->comparison;
    if (comparison.bytes.empty()) {
        small_text(ui, ui.tr(kBytesUncounted));
        return;
    }
    std::int64_t kernel = 0, expected = 0;
    for (const ByteCheck& check : comparison.bytes) {
        kernel += check.kernel.read + check.kernel.write;
        expected += check.expected.read + check.expected.write;
    }
    if (comparison.bytes_equal) {
        small_text(ui, ui.tr(kBytesEqual, {{"bytes", bytes_text(kernel)}}));
        return;
    }
    ImGui::PushStyleColor(ImGuiCol_Text, u32(ui.theme().alarm));
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(
        ui.tr(kBytesUnequal, {{"kernel", bytes_text(kernel)}, {"expected", bytes_text(expected)}}).c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
    for (const ByteCheck& check : comparison.bytes) {
        if (check.kernel == check.expected) continue;
        value_row(ui, check.tensor,
                  count_text(check.kernel.read + check.kernel.write) + " / " +
                      count_text(check.expected.read + check.expected.write));
    }
}

void bytes_lines(AppState& app) {
    Ui& ui = app.ui;
    counted_bytes(app);
    if (!app.run->comparison->bytes.empty()) small_text(ui, ui.tr(kBytesRequested));
    if (!ImGui::IsItemHovered() || !begin_tip(ui)) return;
    wrapped_tip_text(ui, ui.tr(kBytesThree));
    end_tip();
}

void counter_lines(AppState& app) {
    Ui& ui = app.ui;
    const KernelRun& kernel = *app.run->kernel_run;
    if (kernel.counters.empty()) return;
    ImGui::Dummy({1, ui.px(4)});
    section_header(ui, ui.tr(kKernelCounters));
    for (const auto& [name, count] : kernel.counters) value_row(ui, counter_name(ui, name), count_text(count));
}

}  // namespace

void draw_compare_panel(AppState& app) {
    Ui& ui = app.ui;
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    section_header(ui, panel_title(ui, "compare"));
    const ImVec2 below = ImGui::GetCursorScreenPos();
    if (!app.run || !app.player) {
        empty_state(ui, ui.tr(kEmptyTrace));
        return;
    }
    const Run& run = *app.run;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(8), ui.px(4)));
    if (!run.kernel_run || !run.comparison) {
        draw_run_notes(app);
        if (run.kernel_failure == KernelFailure::Problem)
            empty_state(
                ui, ui.tr(run.recipe.without_line > 0 ? kKernelStopped : kKernelCannot,
                          {{"line", std::to_string(run.recipe.without_line)}, {"reason", ui.tr(run.kernel_message)}}));
        else if (run.kernel_failure == KernelFailure::None)
            empty_state(ui, ui.tr(has_kernel(run.algorithm->id) ? kEmptyKernel : kEmptyNoKernel));
        ImGui::PopStyleVar();
        return;
    }
    // The verdict stands at the right of the title where it has room.
    const float title = text_width(ui.fonts.bold, panel_title(ui, "compare")) + ui.px(12);
    const float wide = badge_width(ui, *run.comparison);
    const bool beside = title + wide <= width;
    if (beside) ImGui::SetCursorScreenPos({corner.x + width - wide, corner.y});
    verdict_badge(ui, *run.comparison);
    if (beside) ImGui::SetCursorScreenPos(below);
    draw_run_notes(app);
    small_text(ui, where_it_ran(ui, *run.kernel_run));
    if (const auto& left = app.session.left_recording())
        small_text(ui, ui.tr(kRecordingLeft, {{"name", left->preset}}));
    if (run.comparison->first) first_difference(app, *run.comparison->first);
    tensor_table(app);
    bytes_lines(app);
    counter_lines(app);
    ImGui::PopStyleVar();
}

}  // namespace flashstep::viz
