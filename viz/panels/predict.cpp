// The panel of a prediction: which line is next, the tile that it writes with its values hidden, and the answer.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>

#include "lab/format.h"
#include "viz/panels/panels.h"
#include "viz/shell/predict.h"
#include "viz/text/markdown.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kHowToPredict{"Press P: before a line runs, you say what it will write.",
                             "按 P：在一行执行之前，先猜它会写出什么。"};
constexpr Text kNothingLeft{"No further line computes anything. Home goes back to the inputs.",
                            "后面没有要计算的行了。按 Home 回到初始输入。"};
constexpr Text kNextLine{"line {line} is next", "接下来是第 {line} 行"};
constexpr Text kWillWrite{"What will it write into this cell?", "它会往这个格子里写什么？"};
constexpr Text kOtherCell{"Click another cell to be asked for that one.", "点别的格子，就改问那一格。"};
constexpr Text kPick{"or pick one", "或者选一个"};
constexpr Text kTypeNumber{"a number", "输入一个数"};
constexpr Text kJudge{"Check it", "核对"};
constexpr Text kReveal{"Show it", "直接看结果"};
constexpr Text kYes{"That is it.", "猜对了。"};
constexpr Text kNo{"No. Look at what the line reads.", "不对。看看这一行读的是什么。"};
constexpr Text kOld{"No. That is what it holds now; the line changes it.", "不对。那是现在的值，这一行会改它。"};
constexpr Text kMoreDigits{"Nearly. Two digits that count, please.", "差不多了，请写两位有效数字。"};
constexpr Text kUnread{"That is no number. Write 0.5 or -inf.", "这不是数。请写成 0.5 或 -inf 这样。"};
constexpr Text kExplained{"Explain shows how it was made. Click its other cells, too.",
                          "“算式”面板写着它怎么来的，其他格子也可以点。"};
constexpr Text kOnward{"Next line (P)", "下一行（P）"};
constexpr Text kStop{"Stop (Esc)", "结束（Esc）"};

constexpr float kMostTile = 150;  // design pixels, height

struct LineText {
    const PseudoLine* line = nullptr;
    Language language = Language::English;
    MarkdownView view;
};

// The line of the pseudo-code that is asked about.
void draw_line(AppState& app, int number) {
    Ui& ui = app.ui;
    LineText& kept = own_state<LineText>(app);
    const auto found = std::ranges::find(app.run->algorithm->lines, number, &PseudoLine::number);
    if (found == app.run->algorithm->lines.end()) return;
    if (kept.line != &*found || kept.language != ui.language) {
        kept.line = &*found, kept.language = ui.language;
        kept.view.set(ui.tr(found->tex()));
    }
    kept.view.draw(ui, {});
}

std::string cell_tex(const Trace& trace, const Prediction& p) {
    const Version& version = trace.versions[p.version];
    std::string tex = name_to_tex(trace.tensors[version.tensor].name) + "[" + std::to_string(p.row + 1);
    if (version.cols > 1) tex += "," + std::to_string(p.col + 1);
    return tex + "]";
}

// The names of what the line writes; a click asks for a cell of that.
void draw_names(AppState& app, const Prediction& p) {
    if (p.versions.size() < 2) return;
    Ui& ui = app.ui;
    const Trace& trace = p.run->trace;
    float x = ImGui::GetCursorScreenPos().x;
    const float y = ImGui::GetCursorScreenPos().y;
    for (const int v : p.versions) {
        const FormulaLayout& name = ui.formulas.get(ui, name_to_tex(trace.tensors[trace.versions[v].tensor].name), 17);
        const float width = std::round(name.width * ui.scale + ui.px(16)), height = std::round(ui.px(28));
        ImGui::SetCursorScreenPos({x, y});
        ImGui::PushID(v);
        const bool clicked = ImGui::InvisibleButton("name", {width, height});
        ImGui::PopID();
        ImDrawList* draw = ImGui::GetWindowDrawList();
        if (v == p.version || ImGui::IsItemHovered())
            draw->AddRectFilled({x, y}, {x + width, y + height}, u32(ui.theme().raised), ui.px(4));
        draw_formula(ui, draw, x + ui.px(8), y + ui.px(19), name);
        if (clicked) ask_for(app, v, 0, 0);
        x += width + ui.px(4);
    }
    ImGui::SetCursorScreenPos({x, y});
    ImGui::NewLine();
}

void draw_tile(AppState& app, const Prediction& p) {
    Ui& ui = app.ui;
    const Trace& trace = p.run->trace;
    const Version& version = trace.versions[p.version];
    const auto values = trace.value(version);
    const std::vector<double> shown(values.data(), values.data() + values.size());
    MatrixGrid grid;
    grid.id = "predicted", grid.tensor = trace.tensors[version.tensor].name;
    grid.rows = version.rows, grid.cols = version.cols;
    grid.scale = p.run->tensor_scale[static_cast<std::size_t>(version.tensor)];
    if (p.revealed) grid.data = shown.data();
    const float room = ImGui::GetContentRegionAvail().x, number = ui.px(54);
    GridFit fit;
    fit.cell_w = std::floor(std::min(room / static_cast<float>(grid.cols), number));
    fit.cell_h = std::floor(std::min(ui.px(kMostTile) / static_cast<float>(grid.rows), ui.px(26)));
    fit.number_px = fit.cell_w >= ui.px(46) && fit.cell_h >= ui.px(18) ? (fit.cell_w >= number ? 15.0f : 12.0f) : 0;
    fit.cell_w = std::max(fit.cell_w, 2.0f), fit.cell_h = std::max(fit.cell_h, 2.0f);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const GridEvent event = matrix_grid(ui, grid, fit, at);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const ImVec2 a(at.x + fit.cell_w * static_cast<float>(p.col), at.y + fit.cell_h * static_cast<float>(p.row));
    const ImVec2 b(a.x + fit.cell_w, a.y + fit.cell_h);
    draw->AddRect(a, b, u32(ui.theme().text), ui.px(2), 0, ui.px(2));
    if (!p.revealed && fit.cell_w > ui.px(14))
        draw_text(draw, ui.fonts.bold,
                  {(a.x + b.x - text_width(ui.fonts.bold, "?")) / 2, (a.y + b.y - ui.fonts.bold->FontSize) / 2},
                  u32(ui.theme().text), "?");
    if (event.clicked) ask_for(app, p.version, event.row, event.col);
}

void wrapped_text(const char* text) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(text);
    ImGui::PopTextWrapPos();
}

void draw_reply(Ui& ui, const Prediction& p) {
    if (!p.last) return;
    switch (*p.last) {
        case Answer::Right:
            return wrapped_text(ui.tr(kYes));
        case Answer::Wrong:
            return wrapped_text(ui.tr(p.was_old ? kOld : kNo));
        case Answer::TooRough:
            return wrapped_text(ui.tr(kMoreDigits));
        case Answer::Unreadable:
            return wrapped_text(ui.tr(kUnread));
    }
}

void draw_answer(AppState& app, Prediction& p) {
    Ui& ui = app.ui;
    ImGui::SetNextItemWidth(ui.px(120));
    const bool entered =
        ImGui::InputTextWithHint("##value", ui.tr(kTypeNumber), &p.typed, ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::SameLine(0, ui.px(8));
    if (ImGui::Button(ui.tr(kJudge)) || entered) answer_prediction(app);
    if (p.options.size() > 1 && !p.revealed) {
        small_text(ui, ui.tr(kPick));
        ImGui::PushFont(ui.fonts.number);
        const std::vector<double> options = p.options;
        for (std::size_t k = 0; k < options.size(); ++k) {
            if (k > 0) ImGui::SameLine(0, ui.px(4));
            ImGui::PushID(static_cast<int>(k));
            const bool clicked = ImGui::Button(short_number(options[k]).text);
            ImGui::PopID();
            if (clicked) answer_prediction(app, options[k]);
        }
        ImGui::PopFont();
    }
}

}  // namespace

void draw_predict_panel(AppState& app) {
    Ui& ui = app.ui;
    Prediction& p = prediction(app);
    const bool asks = p.on && p.run && p.step >= 0;
    section_header(
        ui, panel_title(ui, "predict"),
        asks ? ui.tr(kNextLine, {{"line", std::to_string(p.run->trace.steps[p.step].line)}}) : std::string());
    if (!asks) {
        empty_state(ui, ui.tr(p.on ? kNothingLeft : kHowToPredict));
        return;
    }
    draw_line(app, p.run->trace.steps[p.step].line);
    draw_names(app, p);
    const Trace& trace = p.run->trace;
    const std::string value =
        p.revealed ? short_number(trace.value(trace.versions[p.version])(p.row, p.col)).text : std::string("?");
    formula(ui, ui.formulas.get(ui, cell_tex(trace, p) + " = " + (p.revealed ? "" : "?"), 20));
    if (p.revealed) {
        ImGui::SameLine(0, ui.px(6));
        ImGui::PushFont(ui.fonts.number);
        ImGui::TextUnformatted(value.c_str());
        ImGui::PopFont();
    } else {
        wrapped_text(ui.tr(kWillWrite));
    }
    draw_tile(app, p);
    if (!p.revealed) {
        small_text(ui, ui.tr(kOtherCell));
        draw_answer(app, p);
    }
    draw_reply(ui, p);
    if (p.revealed) small_text(ui, ui.tr(kExplained));
    ImGui::Dummy({0, ui.px(4)});
    const bool revealed = p.revealed;
    if (ImGui::Button(ui.tr(revealed ? kOnward : kReveal))) revealed ? predict_key(app) : reveal_prediction(app);
    ImGui::SameLine(0, ui.px(8));
    if (ImGui::Button(ui.tr(kStop))) stop_predicting(app);
}

}  // namespace flashstep::viz
