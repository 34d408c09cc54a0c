// Bytes and operations so far, out of all, beside standard attention on the same problem.
#include <algorithm>
#include <string>
#include <vector>

#include "viz/format.h"
#include "viz/panel_cache.h"
#include "viz/text.h"
#include "viz/widgets.h"

namespace flashstep::viz {
namespace {

struct Row {
    std::string name;
    HbmBytes now, total;
    double ghost = -1;
};

std::vector<Row> rows_of(const Run& run, int step) {
    std::vector<Row> rows;
    const Trace& trace = run.trace;
    for (int k = 0; k < static_cast<int>(trace.tensors.size()); ++k) {
        if (trace.tensors[k].space != Space::Hbm) continue;
        rows.push_back({trace.tensors[k].name, trace.hbm_bytes(k, step), trace.hbm_bytes(k, trace.last_step()), 0});
    }
    for (const auto& [name, bytes] : run.standard.hbm) {
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
        const auto both = static_cast<double>(bytes.read + bytes.write);
        if (found != rows.end()) {
            found->ghost = both;
        } else {
            // S and P, which only standard attention keeps in HBM, stand before the outputs.
            const auto output = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == "O"; });
            rows.insert(output, {name, {}, {}, both});
        }
    }
    return rows;
}

// A label, the number now, the number of the whole run, and the standard's.
void count_row(Ui& ui, std::string_view label, std::string_view now, std::string_view total, std::string_view standard,
               const float (&columns)[3]) {
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float base = at.y + std::round(ui.px(14));
    draw_text_on(draw, ui.fonts.small, at.x, base, u32(t.quiet), label);
    const std::string_view numbers[] = {now, total, standard};
    for (int k = 0; k < 3; ++k) {
        draw_text_on(draw, ui.fonts.number_small, at.x + columns[k] - text_width(ui.fonts.number_small, numbers[k]), base,
                     u32(k == 0 ? t.text : t.quiet), numbers[k]);
    }
    ImGui::Dummy({ImGui::GetContentRegionAvail().x, std::round(ui.px(19))});
}

// Numbers that stay narrow: 4,456 as it is, 4.46M above a million.
std::string short_count(std::int64_t count) {
    if (count < 1000000) return count_text(count);
    double v = static_cast<double>(count);
    const char* unit = "";
    for (const char* next : {"k", "M", "G", "T", "P"}) {
        if (v < 1000) break;
        v /= 1000, unit = next;
    }
    return short_number(v).text + std::string(unit);
}

}  // namespace

void draw_traffic_panel(AppState& app) {
    Ui& ui = app.ui;
    section_header(ui, ui.tr(Str::traffic), app.run ? ui.tr(Str::algorithmic_hbm_bytes) : "");
    if (!app.run || !app.player) {
        empty_state(ui, ui.tr(Str::empty_trace));
        return;
    }
    const Run& run = *app.run;
    const Trace& trace = run.trace;
    const Theme& t = ui.theme();
    const int step = app.player->step();
    const Traffic &now = trace.steps[step].total, &all = trace.steps[trace.last_step()].total, &standard = run.standard.traffic;
    const char* other = ui.tr(run.algorithm->reads_scores ? Str::safe_softmax : Str::standard_attention);
    const bool is_standard = trace.algorithm == (run.algorithm->reads_scores ? "safe_softmax" : "standard_attention");
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(8), 0));

    const std::vector<Row> rows = rows_of(run, step);
    double full = 1;
    for (const Row& row : rows) full = std::max({full, static_cast<double>(row.total.read + row.total.write), row.ghost});
    for (const Row& row : rows) {
        const std::string number = bytes_text(row.now.read + row.now.write);
        const bool over = bar_row(ui, {.tensor = row.name, .label = {}, .read = static_cast<double>(row.now.read),
                                       .write = static_cast<double>(row.now.write), .ghost = row.ghost, .full = full, .number = number});
        if (!over || !begin_tip(ui)) continue;
        formula(ui, ui.formulas.get(ui, name_to_tex(row.name), 17));
        const auto line = [&](Str label, std::int64_t so_far, std::int64_t total) {
            small_text(ui, ui.tr(label) + std::string("  ") +
                               ui.tr(Str::of_total, {{"now", count_text(so_far)}, {"total", count_text(total) + " B"}}));
        };
        line(Str::read, row.now.read, row.total.read);
        line(Str::write, row.now.write, row.total.write);
        if (row.total.init > 0) line(Str::initialisation, row.now.init, row.total.init);
        small_text(ui, other + std::string("  ") + count_text(static_cast<std::int64_t>(row.ghost)) + " B");
        end_tip();
    }
    small_text(ui, ui.tr(Str::bars_legend) + std::string(ui.language == Language::Chinese ? "；" : "; ") +
                       ui.tr(Str::bars_ghost, {{"name", other}}));
    ImGui::Dummy({1, ui.px(8)});

    // The table: so far, the whole run, standard attention.
    const float width = ImGui::GetContentRegionAvail().x;
    const float columns[3] = {std::round(width - ui.px(132)), std::round(width - ui.px(66)), std::round(width)};
    {
        ImDrawList* draw = ImGui::GetWindowDrawList();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const Str heads[] = {Str::so_far, Str::total, Str::standard_short};
        for (int k = 0; k < 3; ++k) {
            const char* text = ui.tr(k == 2 && run.algorithm->reads_scores ? Str::safe_short : heads[k]);
            draw_text_on(draw, ui.fonts.small, at.x + columns[k] - text_width(ui.fonts.small, text), at.y + ui.px(13), u32(t.quiet), text);
        }
        const float y = std::round(at.y + ui.px(18));
        draw->AddRectFilled({at.x, y}, {at.x + width, y + 1}, u32(t.line));
        ImGui::Dummy({width, ui.px(22)});
    }
    const auto bytes_row = [&](Str label, std::int64_t a, std::int64_t b, std::string_view c) {
        count_row(ui, ui.tr(label), bytes_text(a), bytes_text(b), c, columns);
    };
    const auto ops_row = [&](Str label, std::int64_t a, std::int64_t b, std::int64_t c) {
        count_row(ui, ui.tr(label), short_count(a), short_count(b), short_count(c), columns);
    };
    const std::int64_t hbm = all.hbm_read + all.hbm_write, hbm_standard = standard.hbm_read + standard.hbm_write;
    bytes_row(Str::hbm_total, now.hbm_read + now.hbm_write, hbm, bytes_text(hbm_standard));
    if (all.hbm_init > 0) bytes_row(Str::initialisation, now.hbm_init, all.hbm_init, bytes_text(standard.hbm_init));
    ops_row(Str::flops_matmul, now.flops_matmul, all.flops_matmul, standard.flops_matmul);
    ops_row(Str::flops_other, now.flops_other, all.flops_other, standard.flops_other);
    ops_row(Str::exponentials, now.flops_exp, all.flops_exp, standard.flops_exp);
    const char* unknown = "–";
    if (trace.sram_modelled) {
        const auto of_standard = [&](std::int64_t bytes) { return run.standard.sram_modelled ? bytes_text(bytes) : std::string(unknown); };
        bytes_row(Str::sram_read, now.sram_read, all.sram_read, of_standard(standard.sram_read));
        bytes_row(Str::sram_written, now.sram_write, all.sram_write, of_standard(standard.sram_write));
        const std::int64_t resident = trace.resident(step).empty() ? 0 : trace.steps[step].sram_bytes;
        bytes_row(Str::sram_in_use, resident, trace.sram_peak, of_standard(run.standard.sram_peak));
    } else {
        count_row(ui, ui.tr(Str::sram), "", "", ui.tr(Str::not_modelled), columns);
    }
    const Memory &memory = trace.memory, &extra = run.standard.memory;
    count_row(ui, ui.tr(Str::memory_in_out), "", bytes_text(memory.inputs + memory.outputs), bytes_text(extra.inputs + extra.outputs), columns);
    count_row(ui, ui.tr(Str::extra_memory), "", bytes_text(memory.extra), bytes_text(extra.extra), columns);
    if (!is_standard && hbm_standard > 0) {
        ImGui::Dummy({1, ui.px(6)});
        const std::string factor = factor_text(static_cast<double>(hbm) / static_cast<double>(hbm_standard));
        small_text(ui, ui.tr(Str::hbm_factor, {{"factor", factor}, {"name", other}}));
        if (std::max(run.recipe.problem.n, run.recipe.problem.nk) < 512) small_text(ui, ui.tr(Str::toy_size));
    }
    ImGui::PopStyleVar();
}

}  // namespace flashstep::viz
