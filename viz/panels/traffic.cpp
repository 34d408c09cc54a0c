// Bytes and operations so far, out of all, beside standard attention on the same problem.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "lab/format.h"
#include "viz/panels/panels.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kAlgorithmicHbmBytes{"algorithmic HBM bytes", "算法层面的 HBM 字节数"};
constexpr Text kRead{"read", "读"};
constexpr Text kWrite{"write", "写"};
constexpr Text kInitialisation{"of which initialisation", "其中初始化"};
constexpr Text kTotal{"total", "合计"};
constexpr Text kFlopsMatmul{"matmul FLOPs", "矩阵乘 FLOPs"};
constexpr Text kFlopsOther{"other FLOPs", "其他 FLOPs"};
constexpr Text kStandardAttention{"standard attention", "标准注意力"};
constexpr Text kExtraMemory{"extra memory", "额外显存"};
constexpr Text kSoFar{"so far", "到此为止"};
constexpr Text kOfTotal{"{now} of {total}", "{now}，共 {total}"};
constexpr Text kInitialised{"initialised", "初始化"};
constexpr Text kStandardInAll{"in all by {name}", "{name} 的总量"};
constexpr Text kSafeSoftmax{"safe softmax", "safe softmax"};
constexpr Text kToySize{"At sizes this small the ratio is no measure of the savings.",
                        "规模这么小时，这个比值不能说明实际能省多少。"};
constexpr Text kSramRead{"SRAM read", "SRAM 读"};
constexpr Text kSramWritten{"SRAM written", "SRAM 写"};
constexpr Text kHbmTotal{"HBM bytes", "HBM 字节"};
constexpr Text kStandardShort{"standard", "标准"};
constexpr Text kSafeShort{"safe", "safe"};
constexpr Text kSramInUse{"SRAM (peak)", "SRAM（峰值）"};
constexpr Text kMemoryInOut{"inputs, outputs", "输入与输出"};
constexpr Text kStandardBackward{"standard backward", "标准反向传播"};
constexpr Text kHbmFactor{"In all {factor} of {name}.", "总量是对照（{name}）的 {factor}。"};
constexpr Text kBarriers{"barriers", "barrier 次数"};

struct Row {
    std::string name;
    HbmBytes now, total;
    double ghost = -1;
};

std::vector<Row> rows_of(const Run& run, int step) {
    std::vector<Row> rows;
    const Trace& trace = run.trace;
    int inputs = 0;
    for (int k = 0; k < static_cast<int>(trace.tensors.size()); ++k) {
        if (trace.tensors[k].space != Space::Hbm) continue;
        rows.push_back({trace.tensors[k].name, trace.hbm_bytes(k, step), trace.hbm_bytes(k, trace.last_step()),
                        run.plain ? 0.0 : -1.0});
        if (trace.tensors[k].role == Role::Input) inputs = static_cast<int>(rows.size());
    }
    for (const auto& entry : run.standard.hbm) {
        const std::string& name = entry.first;
        const HbmBytes& bytes = entry.second;
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
        const auto both = static_cast<double>(bytes.read + bytes.write);
        if (found != rows.end()) {
            found->ghost = both;
        } else {
            // S and P, which only standard attention keeps in HBM, stand behind the inputs.
            rows.insert(rows.begin() + inputs++, {name, {}, {}, both});
        }
    }
    return rows;
}

// Bytes with as short a unit as can be: "28.2Ki", "304 B".
std::string short_bytes(std::int64_t bytes) {
    std::string text = bytes_text(bytes);
    if (!text.ends_with("iB")) return text;
    text.pop_back();
    text.erase(text.find(' '), 1);
    return text;
}

struct Cells {
    std::string now, total, standard;
};

// A label, the number so far, the number of the whole run, and the standard's, right-aligned in columns.
void count_row(Ui& ui, std::string_view label, const Cells& cells, ImFont* font, unsigned now_color) {
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, base = at.y + std::round(ui.px(14));
    const float column = std::round(std::clamp(width * 0.2f, ui.px(48), ui.px(80))),
                last = column + std::round(ui.px(12));
    draw_text_on(draw, ui.fonts.small, at.x, base, u32(t.quiet),
                 fitted(ui.fonts.small, label, width - 2 * column - last + ui.px(8)));
    const std::string* numbers[] = {&cells.now, &cells.total, &cells.standard};
    for (int k = 0; k < 3; ++k) {
        const float right = at.x + width - (k < 2 ? last : 0) - (k < 1 ? column : 0);
        draw_text_on(draw, font, right - text_width(font, *numbers[k]), base, k == 0 ? now_color : u32(t.quiet),
                     *numbers[k]);
    }
    ImGui::Dummy({width, std::round(ui.px(19))});
}

// A swatch and what it means; to the next line where it does not fit.
struct Legend {
    Ui& ui;
    float left = ImGui::GetCursorScreenPos().x, x = left, y = ImGui::GetCursorScreenPos().y;
    float width = ImGui::GetContentRegionAvail().x;

    void entry(Rgb fill, bool outlined, std::string_view text) {
        const Theme& t = ui.theme();
        ImDrawList* draw = ImGui::GetWindowDrawList();
        const float side = std::round(ui.px(10)), w = side + ui.px(5) + text_width(ui.fonts.small, text);
        if (x > left && x + w > left + width) x = left, y += std::round(ui.px(18));
        const ImVec2 a(std::round(x), std::round(y + ui.px(4))), b(a.x + side, a.y + side);
        if (outlined)
            draw->AddRect(a, b, u32(t.quiet), ui.px(2));
        else
            draw->AddRectFilled(a, b, u32(fill));
        draw_text(draw, ui.fonts.small, {x + side + ui.px(5), y}, u32(t.quiet), text);
        x += w + ui.px(12);
    }
    void end() const { ImGui::Dummy({width, y + std::round(ui.px(20)) - ImGui::GetCursorScreenPos().y}); }
};

void tensor_tip(Ui& ui, const Row& row, const char* other) {
    if (!begin_tip(ui)) return;
    formula(ui, ui.formulas.get(ui, name_to_tex(row.name), 17));
    const auto line = [&](const Text& label, std::int64_t so_far, std::int64_t total) {
        tip_text(ui, ui.tr(label) + std::string("  ") +
                         ui.tr(kOfTotal, {{"now", count_text(so_far)}, {"total", count_text(total) + " B"}}));
    };
    line(kRead, row.now.read, row.total.read);
    line(kWrite, row.now.write, row.total.write);
    if (row.total.init > 0) line(kInitialisation, row.now.init, row.total.init);
    if (row.ghost >= 0)
        tip_text(ui, other + std::string("  ") + count_text(static_cast<std::int64_t>(row.ghost)) + " B");
    end_tip();
}

// The bars, one per matrix, all on one scale.
void bars(Ui& ui, const Run& run, int step, const char* other) {
    const std::vector<Row> rows = rows_of(run, step);
    double full = 1;
    for (const Row& row : rows)
        full = std::max({full, static_cast<double>(row.total.read + row.total.write), row.ghost});
    for (const Row& row : rows) {
        const std::string number = bytes_text(row.now.read + row.now.write);
        const bool over = bar_row(ui, {.tensor = row.name,
                                       .label = {},
                                       .read = static_cast<double>(row.now.read),
                                       .write = static_cast<double>(row.now.write),
                                       .ghost = row.ghost,
                                       .full = full,
                                       .number = number});
        if (over) tensor_tip(ui, row, other);
    }
    const Theme& t = ui.theme();
    Legend legend{ui};
    legend.entry(t.quiet, false, ui.tr(kRead));
    legend.entry(mix(t.panel, t.quiet, 0.55f), false, ui.tr(kWrite));
    if (run.plain) legend.entry(t.quiet, true, ui.tr(kStandardInAll, {{"name", other}}));
    legend.end();
}

}  // namespace

void draw_traffic_panel(AppState& app) {
    Ui& ui = app.ui;
    section_header(ui, panel_title(ui, "traffic"), app.run ? ui.tr(kAlgorithmicHbmBytes) : "");
    if (app.run && ImGui::IsItemHovered() && begin_tip(ui)) {
        wrapped_tip_text(ui, ui.tr(kBytesThree));
        end_tip();
    }
    if (!app.run || !app.player) {
        empty_state(ui, ui.tr(kEmptyTrace));
        return;
    }
    const Run& run = *app.run;
    const Trace& trace = run.trace;
    const Theme& t = ui.theme();
    const int step = app.player->step();
    const Traffic &now = trace.steps[step].total, &all = trace.steps[trace.last_step()].total,
                  &plain = run.standard.traffic;
    const bool softmax = run.algorithm->reads_scores, backward = run.plain && !run.plain->forward.empty();
    const char* other = ui.tr(softmax ? kSafeSoftmax : backward ? kStandardBackward : kStandardAttention);
    const bool is_plain = !run.plain || run.plain == run.algorithm;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(8), 0));

    ImFont* digits = ui.fonts.number_small;
    count_row(ui, "", {ui.tr(kSoFar), ui.tr(kTotal), run.plain ? ui.tr(softmax ? kSafeShort : kStandardShort) : ""},
              ui.fonts.small, u32(t.quiet));
    const auto bytes_row = [&](const Text& label, std::int64_t a, std::int64_t b, std::string_view c) {
        count_row(ui, ui.tr(label), {short_bytes(a), short_bytes(b), run.plain ? std::string(c) : ""}, digits,
                  u32(t.text));
    };
    const auto ops_row = [&](const Text& label, std::int64_t a, std::int64_t b, std::int64_t c) {
        count_row(ui, ui.tr(label), {short_count(a), short_count(b), run.plain ? short_count(c) : ""}, digits,
                  u32(t.text));
    };
    const std::int64_t hbm = all.hbm_read + all.hbm_write, hbm_plain = plain.hbm_read + plain.hbm_write;
    bytes_row(kHbmTotal, now.hbm_read + now.hbm_write, hbm, short_bytes(hbm_plain));
    const auto of_plain = [&](std::int64_t bytes) {
        return run.standard.sram_modelled ? short_bytes(bytes) : std::string("–");
    };
    const auto sram_rows = [&] {
        bytes_row(kSramRead, now.sram_read, all.sram_read, of_plain(plain.sram_read));
        bytes_row(kSramWritten, now.sram_write, all.sram_write, of_plain(plain.sram_write));
    };
    if (all.barriers > 0) {  // warps of one block: what they exchange is what it is about
        sram_rows();
        count_row(ui, ui.tr(kBarriers), {short_count(now.barriers), short_count(all.barriers), "–"}, digits,
                  u32(t.text));
    }
    if (all.hbm_init > 0) bytes_row(kInitialised, now.hbm_init, all.hbm_init, short_bytes(plain.hbm_init));
    bars(ui, run, step, other);
    if (!is_plain && hbm_plain > 0) {
        const std::string factor = factor_text(static_cast<double>(hbm) / static_cast<double>(hbm_plain));
        small_text(ui, ui.tr(kHbmFactor, {{"factor", factor}, {"name", other}}));
        if (std::max(run.recipe.problem.n, run.recipe.problem.nk) < 512) small_text(ui, ui.tr(kToySize));
    }
    ImGui::Dummy({1, ui.px(8)});
    const ImVec2 line = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled(line, {line.x + ImGui::GetContentRegionAvail().x, line.y + 1},
                                              u32(t.line));
    ImGui::Dummy({1, ui.px(4)});

    ops_row(kFlopsMatmul, now.flops_matmul, all.flops_matmul, plain.flops_matmul);
    ops_row(kFlopsOther, now.flops_other, all.flops_other, plain.flops_other);
    ops_row(kExponentials, now.flops_exp, all.flops_exp, plain.flops_exp);
    if (trace.sram_modelled) {
        if (all.barriers == 0) sram_rows();
        const std::int64_t resident = trace.resident(step).empty() ? 0 : trace.steps[step].sram_bytes;
        bytes_row(kSramInUse, resident, trace.sram_peak, of_plain(run.standard.sram_peak));
    } else {
        count_row(ui, ui.tr(kSram), {"", "", ui.tr(kNotModelled)}, ui.fonts.small, u32(t.quiet));
    }
    const auto memory_row = [&](const Text& label, std::int64_t own, std::int64_t theirs) {
        count_row(ui, ui.tr(label), {"", short_bytes(own), run.plain ? short_bytes(theirs) : ""}, digits, u32(t.text));
    };
    const Memory &memory = trace.memory, &theirs = run.standard.memory;
    memory_row(kMemoryInOut, memory.inputs + memory.outputs, theirs.inputs + theirs.outputs);
    memory_row(kExtraMemory, memory.extra, theirs.extra);
    ImGui::PopStyleVar();
}

}  // namespace flashstep::viz
