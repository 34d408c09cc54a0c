// Why the selected cell holds its number: the formula with symbols, with numbers, and what the kernel has.
#include "viz/panels/explain.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "lab/format.h"
#include "viz/panels/cells.h"
#include "viz/panels/panels.h"
#include "viz/text/text.h"
#include "viz/widgets/measures.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kNotMaterialised{"not materialised by this kernel", "该 kernel 不产生这个中间值"};
constexpr Text kEmptyExplain{"Click a cell to see how its number was made.", "点击一个单元格，查看它的数值从何而来。"};
constexpr Text kCellNotOnChip{"This tile is not on chip at this step. Step to where it is, or click another cell.",
                              "这一步该 tile 不在片上。请换一步，或点击其他单元格。"};
constexpr Text kCellNotWritten{"This cell is not written yet. Step forward, or click another cell.",
                               "这个单元格尚未写入。请前进几步，或点击其他单元格。"};
constexpr Text kCellMoved{"moved here, not computed", "搬运而来，未做计算"};

// The formula, broken at its outermost plus signs and commas where it is wider than the panel.
void wrapped_formula(Ui& ui, const std::string& tex, float size) {
    const float width = ImGui::GetContentRegionAvail().x;
    const FormulaLayout& whole = ui.formulas.get(ui, tex, size);
    if (whole.width * ui.scale <= width) {
        formula(ui, whole);
        return;
    }
    // Pieces that stand alone as formulas: cut at depth 0 of braces (parentheses may stay open across a line).
    std::vector<std::string> pieces(1);
    int depth = 0;
    for (std::size_t k = 0; k < tex.size(); ++k) {
        if (tex[k] == '{') ++depth;
        if (tex[k] == '}') --depth;
        const bool plus = tex.compare(k, 3, " + ") == 0, comma = tex.compare(k, 2, ", ") == 0,
                   dot = tex.compare(k, 7, " \\cdot ") == 0;
        if (depth == 0 &&
            (plus || comma || (dot && ui.formulas.get(ui, pieces.back(), size).width * ui.scale > width * 0.5f))) {
            if (comma) pieces.back() += ',';
            pieces.emplace_back();
            if (comma)
                ++k;
            else if (plus)
                pieces.back() = "+ ", k += 2;
            else
                pieces.back() = "\\cdot ", k += 6;
            continue;
        }
        pieces.back() += tex[k];
    }
    std::string line;
    for (const std::string& piece : pieces) {
        const std::string longer = line.empty() ? piece : line + " " + piece;
        if (!line.empty() && ui.formulas.get(ui, longer, size).width * ui.scale > width) {
            formula(ui, ui.formulas.get(ui, line, size));
            line = piece;
        } else {
            line = longer;
        }
    }
    if (!line.empty()) formula(ui, ui.formulas.get(ui, line, size));
}

// Names of the operands; a click goes to the first cell of that operand.
void operand_names(AppState& app, const std::vector<int>& operands) {
    if (operands.empty()) return;
    Ui& ui = app.ui;
    const Trace& trace = app.run->trace;
    small_text(ui, ui.tr(kOperands));
    for (std::size_t k = 0; k < operands.size(); ++k) {
        const Version& v = trace.versions[operands[k]];
        const FormulaLayout& name = ui.formulas.get(ui, name_to_tex(trace.tensors[v.tensor].name), 17);
        ImGui::SameLine(0, ui.px(12));
        const ImVec2 at = ImGui::GetCursorScreenPos();
        formula(ui, name);
        ImGui::SetCursorScreenPos(at);
        ImGui::PushID(static_cast<int>(k));
        if (ImGui::InvisibleButton("operand",
                                   {std::max(ui.px(16), name.width * ui.scale), ImGui::GetTextLineHeight()})) {
            const Trace::Range range =
                trace.tensors[v.tensor].space == Space::Hbm ? trace.block_range(v.tensor, v.block) : Trace::Range{};
            app.selected = CellRef{v.tensor, range.row0, range.col0};
        }
        if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        ImGui::PopID();
    }
}

// Behind the number, on its baseline, where there is room; else below it.
void small_text_beside(Ui& ui, const std::string& text, unsigned ink) {
    ImFont* font = ui.fonts.small;
    const float left = ImGui::GetItemRectMax().x + ui.px(kWideGap);
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const ImVec2 size = text_size(font, text);
    if (left + size.x <= right) ImGui::SameLine(0, ui.px(kWideGap));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    draw_text_on(ImGui::GetWindowDrawList(), font, at.x, at.y + font_ascent(ui.fonts.number), ink, text);
    ImGui::Dummy({size.x, font_height(ui.fonts.number)});
}

void kernel_lines(AppState& app, const CellVersion& shown, double value) {
    Ui& ui = app.ui;
    const Run& run = *app.run;
    if (!run.comparison) return;
    const std::optional<double> kernel = kernel_cell(app, shown);
    if (!kernel) {
        small_text_beside(ui, ui.tr(kNotMaterialised), u32(ui.theme().quiet));
        return;
    }
    small_text_beside(ui,
                      ui.tr(kKernelValue) + std::string(" ") + exact_number(*kernel) + "    " + ui.tr(kDifference) +
                          " " + error_text(*kernel == value ? 0 : std::abs(*kernel - value)),
                      u32(ui.theme().quiet));
    const std::optional<Difference>& first = run.comparison->first;
    if (!first || first->step != run.trace.versions[shown.version].step || first->row != shown.row ||
        first->col != shown.col)
        return;
    if (first->tensor != run.trace.tensors[run.trace.versions[shown.version].tensor].name) return;
    value_row(ui, ui.tr(kTolerance), error_text(first->tolerance));
    badge(ui, BadgeKind::Differs, ui.tr(kMatchDiffers));
}

enum class Told { Computed, Moved };

// Of what a step computed (or moved), the cell that changed most.
std::optional<CellRef> telling_cell_of(const AppState& app, int s, Told told) {
    const Trace& trace = app.run->trace;
    const Step& step = trace.steps[s];
    std::optional<CellRef> found;
    double most = -1;
    for (int v = step.version_begin; v < step.version_end; ++v) {
        const Version& version = trace.versions[v];
        const Op op = trace.exprs[version.expr].op;
        const bool moved = op == Op::Leaf || op == Op::Input || op == Op::Fill;
        if (moved != (told == Told::Moved)) continue;
        const Trace::Range at = trace.tensors[version.tensor].space == Space::Hbm
                                    ? trace.block_range(version.tensor, version.block)
                                    : Trace::Range{};
        const int before = trace.version_at(version.tensor, s - 1, version.copy, version.block);
        const auto now = trace.value(version);
        for (int r = 0; r < version.rows; ++r)
            for (int c = 0; c < version.cols; ++c) {
                double change = std::isfinite(now(r, c)) ? std::abs(now(r, c)) : 0;
                if (before >= 0 && trace.versions[before].rows > r && trace.versions[before].cols > c) {
                    const double old = trace.value(trace.versions[before])(r, c);
                    if (std::isfinite(old) && std::isfinite(now(r, c))) change = std::abs(now(r, c) - old);
                }
                if (change < most || (change == most && version.tensor == found->tensor)) continue;
                most = change;
                found = CellRef{version.tensor, at.row0 + r, at.col0 + c};
            }
    }
    return found;
}

// Where nothing is selected: what the current step computed or moved; at a step that does neither (a loop, a barrier),
// the last of it that is still there.
std::optional<CellRef> telling_cell(const AppState& app) {
    constexpr int kBack = 64;
    const int now = app.player->step(), first = app.player->step_at(1);
    for (int s = now; s > std::max(now - kBack, first - 1) && s > 0; --s)
        for (const Told told : {Told::Computed, Told::Moved})
            if (const auto cell = telling_cell_of(app, s, told); cell && version_of(app, *cell).version >= 0)
                return cell;
    return std::nullopt;
}

}  // namespace

void draw_explain_panel(AppState& app) {
    Ui& ui = app.ui;
    const auto empty = [&](const Text& why) {
        section_header(ui, panel_title(ui, "explain"));
        empty_state(ui, ui.tr(why));
    };
    if (!app.run || !app.player) return empty(kEmptyTrace);
    const Trace& trace = app.run->trace;
    Explained& kept = run_state<Explained>(app);
    if (kept.telling_step != app.player->step()) {
        kept.telling = telling_cell(app);
        kept.telling_step = app.player->step();
    }
    const bool selected = app.selected && app.selected->tensor < static_cast<int>(trace.tensors.size());
    if (!selected && !kept.telling) return empty(kEmptyExplain);
    const CellRef cell = selected ? *app.selected : *kept.telling;
    const CellVersion shown = version_of(app, cell);
    if (shown.version < 0) {
        return empty(trace.tensors[cell.tensor].space == Space::Hbm ? kCellNotWritten : kCellNotOnChip);
    }
    if (kept.version != shown.version || kept.row != shown.row || kept.col != shown.col ||
        kept.language != ui.language) {
        kept.explanation = explain(trace, shown.version, shown.row, shown.col, ui.language);
        kept.version = shown.version, kept.row = shown.row, kept.col = shown.col, kept.language = ui.language;
    }
    const Explanation& e = kept.explanation;
    const std::string where =
        e.step == 0
            ? std::string(ui.tr(kCellGiven))
            : ui.tr(kWrittenAt, {{"step", std::to_string(position_of(app, e.step))}, {"line", std::to_string(e.line)}});
    section_header(ui, panel_title(ui, "explain"), where);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(8), ui.px(4)));
    const Op op = trace.exprs[trace.versions[shown.version].expr].op;
    if (op == Op::Input) {
        wrapped_formula(ui, e.cell, 20);
    } else {
        wrapped_formula(ui, e.cell + " = " + e.symbols, 20);
        if (op == Op::Leaf) small_text(ui, ui.tr(kCellMoved));
        if (!e.numbers.empty()) wrapped_formula(ui, "= " + e.numbers, 17);
    }
    ImGui::PushFont(ui.fonts.number);
    ImGui::TextUnformatted(("= " + exact_number(e.value)).c_str());
    ImGui::PopFont();
    if (const std::string right = right_value_text(app, shown); !right.empty())
        small_text_beside(ui, right, u32(ui.theme().alarm));
    kernel_lines(app, shown, e.value);
    operand_names(app, e.operands);
    // Where nothing has to scroll for it.
    if (!selected && ImGui::GetContentRegionAvail().y >= font_height(ui.fonts.small))
        small_text(ui, ui.tr(kEmptyExplain));
    ImGui::PopStyleVar();
}

}  // namespace flashstep::viz
