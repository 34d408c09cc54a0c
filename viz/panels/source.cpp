// The source panel: the paper's pseudo-code with live formulas and the current line, the CUDA kernel with the lines
// that do the same work, or the kernel beside what nvcc made of it.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viz/panels/code_list.h"
#include "viz/panels/source.h"
#include "viz/shell/frame.h"
#include "viz/text/pseudo_layout.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kPseudoCode{"Pseudo-code", "伪代码"};
constexpr Text kCudaSource{"CUDA", "CUDA"};
constexpr Text kPtxSource{"PTX", "PTX"};
constexpr Text kGotoNext{"Go to its next run", "跳到下一次执行"};
constexpr Text kLineMakesNoStep{"This line makes no step.", "这一行不产生步骤。"};
constexpr Text kSourceLineOf{"marked: line {line} of the pseudo-code", "标出的是伪代码第 {line} 行"};
constexpr Text kSourceNoLine{"No part of this kernel does line {line} alone.",
                             "这个 kernel 没有单独对应第 {line} 行的代码。"};

struct SourcePanel {
    PseudoLayout pseudo;
    CudaPane cuda;
    int scrolled_step = -1;  // the step for which the pseudo-code was last scrolled
};

// True where the current line is the loop line itself or stands in the loop's body.
bool inside_loop(const PseudoLayout& layout, const PseudoRow& loop, int line) {
    if (loop.line->number == line) return true;
    bool after = false;
    for (const PseudoRow& row : layout.rows) {
        if (&row == &loop) {
            after = true;
            continue;
        }
        if (!after) continue;
        if (row.line->indent <= loop.line->indent) return false;
        if (row.line->number == line) return true;
    }
    return false;
}

// "i=1", or "w=2" for the warps, beside a loop line while the loop runs; empty elsewhere.
std::string loop_index(const AppState& app, const PseudoLayout& layout, const PseudoRow& row) {
    const Step& now = app.player->current();
    if (row.line->kind != LineKind::Loop || !inside_loop(layout, row, now.line)) return {};
    // Which index counts this loop, the last start of an iteration says.
    int start = app.player->step();
    while (start > 0 && app.run->trace.steps[start].line != row.line->number) --start;
    if (app.run->trace.steps[start].w >= 0) return now.w < 0 ? std::string() : fmt::format("w={}", now.w + 1);
    const bool by_row = now.rows_outer == (row.line->indent == 0);
    const int index = by_row ? now.i : now.j;
    return index < 0 ? std::string() : fmt::format("{}={}", by_row ? 'i' : 'j', index + 1);
}

void draw_row(AppState& app, const PseudoLayout& layout, const PseudoRow& row, ImVec2 origin, float width) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const Step& now = app.player->current();
    const bool current = now.line == row.line->number, text_only = row.line->kind == LineKind::Text;
    const ImVec2 at(origin.x, std::round(origin.y + ui.px(row.y)));
    const float height = ui.px(row.height);

    ImGui::SetCursorScreenPos(at);
    ImGui::PushID(row.line->number);
    const bool clicked = ImGui::InvisibleButton("line", {width, height}), over = ImGui::IsItemHovered();
    ImGui::PopID();
    const Fault* fault = app.run->fault;
    const bool mistaken = fault && fault->line == row.line->number;
    if (mistaken) {
        draw->AddRectFilled(at, {at.x + width, at.y + height}, u32(t.alarm, 0.14f), ui.px(4));
        draw->AddRect(at, {at.x + width, at.y + height}, u32(t.alarm), ui.px(4));
    }
    if (current) {
        if (!mistaken) draw->AddRectFilled(at, {at.x + width, at.y + height}, u32(t.accent, 0.16f), ui.px(4));
        draw->AddRectFilled(at, {at.x + ui.px(3), at.y + height}, u32(t.accent), ui.px(1));
    } else if (over && !text_only) {
        draw->AddRectFilled(at, {at.x + width, at.y + height}, u32(t.raised), ui.px(4));
    }
    const unsigned ink = u32(text_only ? t.quiet : t.text);
    const float base = row.pieces.empty() ? ui.px(16) : ui.px(row.pieces.front().y);
    const std::string number = std::to_string(row.line->number);
    ImFont* digits = ui.fonts.number_small;
    draw_text_on(draw, digits, at.x + ui.px(kPseudoGutter - 12) - text_width(digits, number), at.y + base,
                 u32(mistaken  ? t.alarm
                     : current ? t.text
                               : t.quiet),
                 number);
    ImFont* words = layout.size > 16 ? ui.fonts.body : ui.fonts.small;
    for (const PseudoPiece& piece : row.pieces) {
        const float x = at.x + ui.px(piece.x), y = at.y + std::round(ui.px(piece.y));
        if (piece.formula)
            draw_formula(ui, draw, x, y, ui.formulas.get(ui, piece.text, layout.size), ink);
        else
            draw_text_on(draw, words, x, y, ink, piece.text);
    }
    if (const std::string index = loop_index(app, layout, row); !index.empty())
        draw_text_on(draw, digits, at.x + width - ui.px(6) - text_width(digits, index), at.y + base,
                     u32(current ? t.text : t.quiet), index);

    if (over && ui.hot.current().empty() && begin_tip(ui)) {
        if (mistaken)
            tip_text(ui, ui.tr(kFaultOn, {{"line", std::to_string(fault->line)}, {"title", ui.tr(fault->title)}}));
        ImGui::TextUnformatted(ui.tr(text_only ? kLineMakesNoStep : kGotoNext));
        end_tip();
    }
    if (!clicked || text_only) return;
    if (const int step = next_run_of_line(*app.player, row.line->number); step >= 0) {
        app.player->set_playing(false);
        app.seek(step);
    }
}

void draw_pseudo(AppState& app) {
    Ui& ui = app.ui;
    SourcePanel& state = own_state<SourcePanel>(app);
    const Algorithm& algorithm = *app.run->algorithm;
    small_text(ui, algorithm.source);
    ImGui::BeginChild("pseudo", {0, 0}, false, ImGuiWindowFlags_NoNav);
    const float width = ImGui::GetContentRegionAvail().x;
    const float design = std::floor(width / ui.scale);
    if (state.pseudo.algorithm != &algorithm || state.pseudo.fault != app.run->fault || state.pseudo.width != design ||
        state.pseudo.language != ui.language)
        state.pseudo = layout_pseudo(ui, algorithm, app.run->fault, design, 32), state.scrolled_step = -1;

    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const float content_top = ImGui::GetCursorPosY();
    for (const PseudoRow& row : state.pseudo.rows) draw_row(app, state.pseudo, row, origin, width);
    ImGui::SetCursorScreenPos({origin.x, origin.y});
    ImGui::Dummy({width, ui.px(state.pseudo.height)});
    if (state.scrolled_step != app.player->step()) {
        state.scrolled_step = app.player->step();
        if (app.player->position() == 0) ImGui::SetScrollY(0);
        for (const PseudoRow& row : state.pseudo.rows)
            if (row.line->number == app.player->current().line)
                scroll_to(content_top + ui.px(row.y), content_top + ui.px(row.y + row.height));
    }
    ImGui::EndChild();
}

void draw_cuda(AppState& app) {
    Ui& ui = app.ui;
    SourcePanel& state = own_state<SourcePanel>(app);
    const std::string_view kernel = shown_kernel(app);
    if (!read_kernel(state.cuda, kernel)) {
        empty_state(ui, ui.tr(kEmptySource));
        return;
    }
    const int line = app.player->current().line;
    const std::set<int> marked = lines_for(state.cuda.text, line);
    std::string caption(kernel);
    if (line > 0) {
        caption += ui.tr(kColon);
        caption += ui.tr(marked.empty() ? kSourceNoLine : kSourceLineOf, {{"line", std::to_string(line)}});
    }
    small_text(ui, caption);
    const int clicked = draw_cuda_pane(app, state.cuda, marked, {0, 0});
    if (clicked < 0 || state.cuda.text.paper[static_cast<std::size_t>(clicked)].empty()) return;
    const int paper = state.cuda.text.paper[static_cast<std::size_t>(clicked)].front();
    if (const int step = next_run_of_line(*app.player, paper); step >= 0) {
        app.player->set_playing(false);
        app.seek(step);
    }
}

}  // namespace

void draw_source_panel(AppState& app) {
    Ui& ui = app.ui;
    const char* labels[] = {ui.tr(kPseudoCode), ui.tr(kCudaSource), ui.tr(kPtxSource)};
    int view = static_cast<int>(app.source_view);
    if (segmented(ui, "view", labels, view)) {
        app.source_view = static_cast<SourceView>(view);
        own_state<SourcePanel>(app) = {};
    }
    if (!app.player) {
        empty_state(ui, ui.tr(kEmptyTrace));
        return;
    }
    switch (app.source_view) {
        case SourceView::PseudoCode:
            draw_pseudo(app);
            break;
        case SourceView::Cuda:
            draw_cuda(app);
            break;
        case SourceView::Ptx:
            draw_ptx(app);
            break;
    }
}

}  // namespace flashstep::viz
