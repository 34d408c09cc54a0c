// A kernel's CUDA source beside what nvcc made of it, lines mapped both ways, with how often each ran, and the mix of
// instructions beside the algorithm's FLOPs: a line's price in the instructions that are no products.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lab/format.h"
#include "viz/panels/code_list.h"
#include "viz/panels/source.h"
#include "viz/panels/where.h"
#include "viz/shell/frame.h"
#include "viz/text/font.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kNotRun{"No PTX has run yet.", "还没有运行过 PTX。"};
constexpr Text kRunIt{"Run nvcc's PTX of {kernel} on this CPU", "在本机 CPU 上运行 nvcc 为 {kernel} 生成的 PTX"};
constexpr Text kChosenLine{"line {line}: {text} instructions, run {count} times by warps",
                           "第 {line} 行：{text} 条指令，各 warp 共执行 {count} 次"};
constexpr Text kPaperLine{"marked: line {line} of the pseudo-code. Click a line for its instructions",
                          "标出的是伪代码第 {line} 行。点一行可看它的指令"};
constexpr Text kClickLine{"Click a line for its instructions, or an instruction for its line",
                          "点一行可看它的指令，点一条指令可看它来自哪一行"};
constexpr Text kPerScore{
    "per score: {integer} integer, {memory} memory, {float} float, {exp} exponential, {tensor} tensor "
    "instructions of a lane; the algorithm counts {products} FLOPs of products, {others} others",
    "平均每个分数：每个 lane 执行整数 {integer} 条、访存 {memory} 条、浮点 {float} 条、指数 {exp} 条、"
    "tensor 指令 {tensor} 条；算法计入矩阵乘 {products} FLOP，其他 {others}"};

constexpr float kCounts = 56, kLines = 40;  // widths of the columns before the code, design pixels

struct ClassName {
    std::string_view id;
    Text name;
    float strength;  // of its part of the bar, from the panel's ground to the text
};
constexpr std::array<ClassName, 6> kClasses = {{{"tensor", {"tensor", "tensor"}, 0.85f},
                                                {"exponential", {"exponential", "指数"}, 0.68f},
                                                {"float", {"float", "浮点"}, 0.53f},
                                                {"memory", {"memory", "访存"}, 0.40f},
                                                {"integer", {"integer", "整数"}, 0.28f},
                                                {"control", {"control", "控制"}, 0.16f}}};

std::int64_t lanes_of(const InstructionCounts& counts, std::string_view id) {
    for (const Executed& row : counts.classes)
        if (row.what == id) return row.lanes;
    return 0;
}

// A bar of the classes' shares, then their names and percentages, wrapped. Returns whether the mouse is over it.
bool draw_mix(Ui& ui, const InstructionCounts& counts) {
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float width = ImGui::GetContentRegionAvail().x, bar = ui.px(10), row = ui.px(17), gap = ui.px(12);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    float from = at.x, x = at.x, y = at.y + bar + ui.px(5);
    const auto all = static_cast<double>(std::max<std::int64_t>(1, counts.lanes));
    for (const ClassName& known : kClasses) {
        const double share = static_cast<double>(lanes_of(counts, known.id)) / all;
        if (share == 0) continue;
        const float to = from + static_cast<float>(share) * width;
        const unsigned ink = u32(mix(t.panel, t.text, known.strength));
        draw->AddRectFilled({from, at.y}, {std::max(from + 1, to - 1), at.y + bar}, ink);
        from = to;
        const std::string text = fmt::format("{} {:.1f} %", ui.tr(known.name), 100 * share);
        const float needs = ui.px(14) + text_width(ui.fonts.small, text);
        if (x > at.x && x + needs > at.x + width) x = at.x, y += row;
        draw->AddRectFilled({x, y + ui.px(3)}, {x + ui.px(9), y + ui.px(12)}, ink);
        draw_text_on(draw, ui.fonts.small, x + ui.px(14), y + ui.px(12), u32(t.quiet), text);
        x += needs + gap;
    }
    ImGui::Dummy({width, y + row - at.y});
    return ImGui::IsItemHovered();
}

std::string per_score_text(const AppState& app, const InstructionCounts& counts) {
    const Problem& p = app.run->recipe.problem;
    const double scores = std::max(1.0, double(p.total_heads()) * p.n * p.nk);
    const auto per = [&](double total) { return std::string(short_number(total / scores).text); };
    const auto lanes = [&](std::string_view id) { return per(static_cast<double>(lanes_of(counts, id))); };
    const Traffic& flops = app.run->trace.steps.back().total;
    return app.ui.tr(kPerScore, {{"integer", lanes("integer")},
                                 {"memory", lanes("memory")},
                                 {"float", lanes("float")},
                                 {"exp", lanes("exponential")},
                                 {"tensor", lanes("tensor")},
                                 {"products", per(static_cast<double>(flops.flops_matmul))},
                                 {"others", per(static_cast<double>(flops.flops_other))}});
}

void draw_row(AppState& app, const PtxRow& row, const ExecutedInstruction& code, bool own_file, bool marked, ImVec2 at,
              float width) {
    const Ui& ui = app.ui;
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    ImFont* font = ui.fonts.number_small;
    const float base = code_baseline(ui, at), start = at.x + ui.px(kCounts + kLines);
    if (row.kind == PtxRow::Kind::Entry) {
        draw_text_on(draw, font, at.x + ui.px(4), base, u32(t.text), code.entry);
        return;
    }
    if (row.kind == PtxRow::Kind::Label) {
        draw_text_on(draw, font, start - ui.px(8), base, u32(t.quiet), code.label + ":");
        return;
    }
    if (marked) mark_code_line(ui, at, width);
    draw_code_number(ui, at.x + ui.px(kCounts), base, short_count(code.warps), code.warps == 0 ? 0.5f : 1);
    if (own_file) draw_code_number(ui, start - ui.px(10), base, std::to_string(code.line), 0.7f);
    const std::size_t opcode = code.text.starts_with('@') ? code.text.find(' ') + 1 : 0;
    const std::size_t rest = std::min(code.text.find(' ', opcode), code.text.size());
    const float middle = start + char_advance(font, '0') * static_cast<float>(rest);
    draw_text_on(draw, font, start, base, u32(code.warps == 0 ? t.quiet : t.text), code.text.substr(0, rest));
    draw_text_on(draw, font, middle, base, u32(t.quiet), code.text.substr(rest));
}

// Returns the row that was clicked, or -1.
int draw_rows(AppState& app, PtxPane& pane, const InstructionCounts& counts, const std::string& file,
              const std::set<int>& marked, ImVec2 size) {
    const Ui& ui = app.ui;
    const auto code_of = [&](const PtxRow& row) -> const ExecutedInstruction& {
        return counts.code[static_cast<std::size_t>(row.instruction)];
    };
    const auto is_marked = [&](const PtxRow& row) {
        const ExecutedInstruction& code = code_of(row);
        return row.kind == PtxRow::Kind::Instruction && code.file == file && marked.contains(code.line - 1);
    };
    const auto found = std::ranges::find_if(pane.rows, is_marked);
    const int first = found == pane.rows.end() ? -1 : static_cast<int>(found - pane.rows.begin());
    const float code_width = char_advance(ui.fonts.number_small, '0') * static_cast<float>(pane.longest);
    const CodeList list{.id = "ptx",
                        .size = size,
                        .lines = static_cast<int>(pane.rows.size()),
                        .width = ui.px(kCounts + kLines) + code_width,
                        .first = first,
                        .last = first};
    return draw_code_list(ui, list, pane.scrolled_to, [&](int k, ImVec2 at, float width) {
        const PtxRow& row = pane.rows[static_cast<std::size_t>(k)];
        draw_row(app, row, code_of(row), code_of(row).file == file, is_marked(row), at, width);
    });
}

void offer_to_run(AppState& app, std::string_view kernel) {
    Ui& ui = app.ui;
    for (const RunPlace& place : run_places(app)) {
        if (place.where != Where::Ptx) continue;
        if (!place.available) {
            empty_state(ui, place.note);
            return;
        }
        small_text(ui, ui.tr(kNotRun));
        if (ImGui::Button(ui.tr(kRunIt, {{"kernel", std::string(kernel)}}).c_str())) {
            if (app.run->recipe.kernel.empty()) choose_kernel(app, kernel);
            choose_place(app, place);
        }
    }
}

}  // namespace

std::vector<PtxRow> rows_of(const InstructionCounts& counts) {
    std::vector<PtxRow> rows;
    for (int k = 0; k < static_cast<int>(counts.code.size()); ++k) {
        const ExecutedInstruction& code = counts.code[static_cast<std::size_t>(k)];
        if (!code.entry.empty()) rows.push_back({PtxRow::Kind::Entry, k});
        if (!code.label.empty()) rows.push_back({PtxRow::Kind::Label, k});
        rows.push_back({PtxRow::Kind::Instruction, k});
    }
    return rows;
}

void draw_ptx(AppState& app) {
    Ui& ui = app.ui;
    PtxPane& pane = run_state<PtxPane>(app);
    const std::string_view kernel = shown_kernel(app);
    if (!read_kernel(pane.cuda, kernel)) {
        empty_state(ui, ui.tr(kEmptySource));
        return;
    }
    const KernelRun* run = app.run->kernel_run ? &*app.run->kernel_run : nullptr;
    if (!run || run->instructions.code.empty()) {
        offer_to_run(app, kernel);
        return;
    }
    const InstructionCounts& counts = run->instructions;
    if (pane.rows.empty()) {
        pane.rows = rows_of(counts);
        for (const ExecutedInstruction& code : counts.code)
            pane.longest =
                std::max({pane.longest, static_cast<int>(code.text.size()), static_cast<int>(code.entry.size())});
    }
    // Side by side where there is room for both, else one above the other, and what is long in a tooltip.
    const bool beside = ImGui::GetContentRegionAvail().x >= ui.px(760);
    const bool over_mix = draw_mix(ui, counts);
    if (beside) small_text(ui, per_score_text(app, counts));
    if (over_mix && !beside && begin_tip(ui)) {
        wrapped_tip_text(ui, per_score_text(app, counts));
        end_tip();
    }

    const std::string file = fmt::format("{}.cuh", kernel);
    const int paper = app.player->current().line;
    std::set<int> marked = lines_for(pane.cuda.text, paper);
    if (pane.chosen >= 0) {
        marked = {pane.chosen};
        const LineCounts& lines = line_counts(app);
        const auto found = lines.find(pane.chosen);
        const LineCount line = found == lines.end() ? LineCount() : found->second;
        small_text(ui, ui.tr(kChosenLine, {{"line", std::to_string(pane.chosen + 1)},
                                           {"text", std::to_string(line.in_text)},
                                           {"count", count_text(line.warps)}}));
    } else if (paper > 0 && !marked.empty()) {
        small_text(ui, ui.tr(kPaperLine, {{"line", std::to_string(paper)}}));
    } else {
        small_text(ui, ui.tr(kClickLine));
    }
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float gap = ui.px(8);
    const ImVec2 half =
        beside ? ImVec2(std::floor((room.x - gap) / 2), room.y) : ImVec2(room.x, std::floor((room.y - gap) / 2));
    const int line = draw_cuda_pane(app, pane.cuda, marked, half);
    if (beside) ImGui::SameLine(0, gap);
    const int row = draw_rows(app, pane, counts, file, marked, {half.x, beside ? half.y : 0});
    const auto choose = [&](int chosen) { pane.chosen = pane.chosen == chosen ? -1 : chosen; };
    if (line >= 0) choose(line);
    if (row >= 0) {
        const ExecutedInstruction& code =
            counts.code[static_cast<std::size_t>(pane.rows[static_cast<std::size_t>(row)].instruction)];
        if (code.file == file) choose(code.line - 1);
    }
}

}  // namespace flashstep::viz
