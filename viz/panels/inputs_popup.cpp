// The inputs: sizes, blocks, scale, seed, masks, format, and the cells of Q, K, V, dO and the additive mask.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "viz/panels/inputs_draft.h"
#include "viz/panels/inputs_edit.h"
#include "viz/shell/frame.h"
#include "viz/text/text.h"
#include "viz/widgets/overlay.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kSizeN{"queries N", "query 行数 N"};
constexpr Text kSizeNk{"keys Nk", "key 行数 Nk"};
constexpr Text kSizeD{"head dimension d", "head 维度 d"};
constexpr Text kSizeBr{"row block B_r", "行块 B_r"};
constexpr Text kSizeBc{"column block B_c", "列块 B_c"};
constexpr Text kScaleTau{"scale τ", "缩放系数 τ"};
constexpr Text kCausalMask{"causal mask", "因果掩码"};
constexpr Text kHeadsCount{"heads", "head 数"};
constexpr Text kDtype{"number format", "数据类型"};
constexpr Text kSramCapacity{"SRAM capacity", "SRAM 容量"};
constexpr Text kSeed{"seed", "随机种子"};
constexpr Text kWarningNonFinite{"{tensor} holds NaN or infinity. Results may too.",
                                 "{tensor} 含有 NaN 或无穷大，结果中可能也会出现。"};
constexpr Text kInputs{"Inputs", "输入"};
constexpr Text kSizeDv{"value dimension d_v", "value 维度 d_v"};
constexpr Text kBatchCount{"batch", "batch 大小"};
constexpr Text kKvHeadsCount{"K, V heads", "K、V 的 head 数"};
constexpr Text kScaleDefault{"1/√d", "1/√d"};
constexpr Text kNoLimit{"0: no limit", "0：不限"};
constexpr Text kResetTo{"Reset to {name}", "恢复为 {name}"};
constexpr Text kCellsMany{"{tensor} has {rows} × {cols} cells, too many to edit by hand. Load a file instead.",
                          "{tensor} 有 {rows} × {cols} 个元素，不便逐个编辑，请载入文件。"};
constexpr Text kCellsOf{"Cells of {tensor}, {rows} × {cols}", "{tensor} 的元素，{rows} × {cols}"};
constexpr Text kFilePath{"path of a .npy or .csv file", ".npy 或 .csv 文件的路径"};
constexpr Text kLoad{"Load", "载入"};
constexpr Text kInputsHint{"A change runs at once. Ctrl+Z takes it back.", "改动立即生效并重新运行，Ctrl+Z 可撤销。"};
constexpr Text kBase2Tip{"2ˣ with log2(e) folded into the scale. L stays the natural log-sum-exp.",
                         "用 2ˣ 计算，log2(e) 并入缩放系数；L 仍为自然对数。"};
constexpr Text kMaskAdded{"additive mask", "加性掩码"};
constexpr Text kMaskKeys{"keys", "按 key"};
constexpr Text kMaskScores{"scores", "按分数"};
constexpr Text kMaskEmpty{"There is no additive mask. Choose one of keys or scores, or load a file that fits.",
                          "没有加性掩码。请选择“按 key”或“按分数”，或载入尺寸相符的文件。"};
constexpr Text kMaskHint{"−inf hides a key", "−inf 表示屏蔽"};
constexpr Text kBackwardOnly{"read by backward passes only", "仅反向传播读取"};

constexpr int kMostCells = 1024;  // more are not edited by hand

void alarm_text(Ui& ui, const std::string& text) {
    ImGui::PushStyleColor(ImGuiCol_Text, u32(ui.theme().alarm));
    ImGui::PushFont(ui.fonts.small);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopFont();
    ImGui::PopStyleColor();
}

// Does something that may be refused; what was typed stays then, with the reason.
template <class Apply>
void attempt(AppState& app, const std::string& id, const std::string& text, Apply apply) {
    InputsDraft& draft = own_state<InputsDraft>(app);
    draft.field = draft.text = "";
    draft.error = {};
    try {
        apply();
    } catch (const Error& error) { draft.field = id, draft.text = text, draft.error = error.whole(); }
}

// A text field over `value`. Calls apply(text) when it is left or Enter is pressed with another text in it.
template <class Apply>
void edit_text(AppState& app, const std::string& id, const std::string& value, float width, Apply apply) {
    InputsDraft& draft = own_state<InputsDraft>(app);
    const bool refused = draft.field == id;
    std::string text = draft.active == id ? draft.live : refused ? draft.text : value;
    ImGui::SetNextItemWidth(width);
    if (refused) {
        ImGui::PushStyleColor(ImGuiCol_Border, u32(app.ui.theme().alarm));
        ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, std::max(1.0f, app.ui.scale));
    }
    ImGui::PushFont(app.ui.fonts.number);
    const bool changed = ImGui::InputText(("##" + id).c_str(), &text, ImGuiInputTextFlags_AutoSelectAll);
    ImGui::PopFont();
    if (refused) {
        ImGui::PopStyleVar();
        ImGui::PopStyleColor();
    }
    if (ImGui::IsItemActive() || changed) draft.active = id, draft.live = text;
    if (!ImGui::IsItemDeactivated() || draft.active != id) return;
    const std::string typed = draft.live;
    draft.active.clear();
    if (typed != (refused ? draft.text : value)) attempt(app, id, typed, [&] { apply(typed); });
}

void field_row(AppState& app, Field field, const Text& label, const Text& note = {}) {
    Ui& ui = app.ui;
    const std::string id = "field" + std::to_string(static_cast<int>(field));
    const Problem problem = app.session.recipe().problem;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, box = ui.px(104);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float base = at.y + ui.px(19);
    draw_text_on(draw, ui.fonts.body, at.x, base, u32(ui.theme().text), ui.tr(label));
    if (!note.en.empty()) {
        const float x = at.x + text_width(ui.fonts.body, ui.tr(label)) + ui.px(8);
        draw_text_on(draw, ui.fonts.small, x, base, u32(ui.theme().quiet), ui.tr(note));
    }
    ImGui::SetCursorScreenPos({at.x + width - box, at.y});
    edit_text(app, id, field_text(problem, field), box,
              [&](const std::string& text) { app.session.resize(with_field(problem, field, text)); });
    if (own_state<InputsDraft>(app).field == id) alarm_text(ui, ui.tr(own_state<InputsDraft>(app).error));
}

// Changes that need no text.
void edit_problem(AppState& app, const std::string& id, const std::function<void(Problem&)>& change) {
    Problem problem = app.session.recipe().problem;
    change(problem);
    attempt(app, id, {}, [&] {
        validate(problem);
        app.session.edit([&](Recipe& recipe) { recipe.problem = problem; });
    });
}

void draw_fields(AppState& app) {
    Ui& ui = app.ui;
    const Problem problem = app.session.recipe().problem;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(8), ui.px(4)));
    field_row(app, Field::N, kSizeN);
    field_row(app, Field::Nk, kSizeNk);
    field_row(app, Field::D, kSizeD);
    field_row(app, Field::Dv, kSizeDv);
    field_row(app, Field::Br, kSizeBr);
    field_row(app, Field::Bc, kSizeBc);
    field_row(app, Field::Scale, kScaleTau);
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    if (!default_scale(problem)) {
        ImGui::SetCursorScreenPos({right - ui.px(104), ImGui::GetCursorScreenPos().y});
        if (ImGui::Button(ui.tr(kScaleDefault), {ui.px(104), 0}))
            edit_problem(app, "scale", [](Problem& p) { p.scale = 1 / std::sqrt(static_cast<double>(p.d)); });
    }
    bool causal = problem.causal, base2 = problem.base2;
    if (ImGui::Checkbox(ui.tr(kCausalMask), &causal))
        edit_problem(app, "causal", [&](Problem& p) { p.causal = causal; });
    const Algorithm* algorithm = find_algorithm(app.session.recipe().algorithm);
    if (algorithm && algorithm->base2) {
        ImGui::SameLine(0, ui.px(16));
        if (ImGui::Checkbox(ui.tr(kBase2), &base2)) choose_base2(app, base2);
        if (ImGui::IsItemHovered() && begin_tip(ui)) {
            tip_text(ui, ui.tr(kBase2Tip));
            end_tip();
        }
    }
    const char* masks[] = {ui.tr(kNone), ui.tr(kMaskKeys), ui.tr(kMaskScores)};
    int mask = static_cast<int>(problem.mask);
    small_text(ui, ui.tr(kMaskAdded));
    if (segmented(ui, "mask", masks, mask)) {
        Problem changed = problem;
        changed.mask = static_cast<MaskShape>(mask);
        attempt(app, "mask", {}, [&] { app.session.resize(changed); });
        if (changed.mask != MaskShape::None) own_state<InputsDraft>(app).matrix = static_cast<int>(InputMatrix::M);
    }
    const char* formats[] = {"exact", "fp32", "fp16", "bf16"};
    int format = static_cast<int>(problem.dtype);
    small_text(ui, ui.tr(kDtype));
    if (segmented(ui, "dtype", formats, format))
        edit_problem(app, "dtype", [&](Problem& p) { p.dtype = static_cast<DType>(format); });
    if (own_state<InputsDraft>(app).field == "dtype") alarm_text(ui, ui.tr(own_state<InputsDraft>(app).error));
    field_row(app, Field::Batch, kBatchCount);
    field_row(app, Field::Heads, kHeadsCount);
    field_row(app, Field::KvHeads, kKvHeadsCount);
    field_row(app, Field::Sram, kSramCapacity, kNoLimit);
    field_row(app, Field::Seed, kSeed);
    ImGui::PopStyleVar();
}

void draw_cells(AppState& app, InputMatrix which) {
    Ui& ui = app.ui;
    const Recipe& recipe = app.session.recipe();
    const int head = app.player ? std::min(app.player->head(), recipe.problem.total_heads() - 1) : 0;
    const Matrix* found = input_matrix(recipe, which, head);
    if (!found) {
        small_text(ui, ui.tr(kMaskEmpty));
        ImGui::Dummy({1, std::max(1.0f, ImGui::GetContentRegionAvail().y - ui.px(76))});
        return;
    }
    const Matrix values = *found;  // a copy: an edit replaces the recipe
    const std::string rows = std::to_string(values.rows()), cols = std::to_string(values.cols()),
                      tensor(name_of(which));
    if (values.size() > kMostCells) {
        small_text(ui, ui.tr(kCellsMany, {{"tensor", tensor}, {"rows", rows}, {"cols", cols}}));
        return;
    }
    std::string title = ui.tr(kCellsOf, {{"tensor", tensor}, {"rows", rows}, {"cols", cols}});
    if (which == InputMatrix::M) title += std::string("   ") + ui.tr(kMaskHint);
    if (which == InputMatrix::dO) title += std::string("   ") + ui.tr(kBackwardOnly);
    small_text(ui, title);
    std::size_t longest = 1;
    for (const double v : values.reshaped()) longest = std::max(longest, cell_text(v).size());
    const float advance = char_advance(ui.fonts.number, '0');
    const float width = std::clamp(advance * static_cast<float>(longest) + ui.px(18), ui.px(52), ui.px(112));

    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(4), ui.px(4)));
    ImGui::BeginChild("cells", {0, -ui.px(76)}, false, ImGuiWindowFlags_HorizontalScrollbar);
    ImGui::PushStyleColor(ImGuiCol_FrameBg, u32(ui.theme().panel));
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(values.rows()), ImGui::GetFrameHeight() + ui.px(4));
    while (clipper.Step()) {
        for (int r = clipper.DisplayStart; r < clipper.DisplayEnd; ++r) {
            for (int c = 0; c < values.cols(); ++c) {
                if (c > 0) ImGui::SameLine();
                edit_text(
                    app, fmt::format("{}{},{}", tensor, r, c), cell_text(values(r, c)), width,
                    [&](const std::string& text) { app.session.set_cell(which, head, r, c, parse_number(text)); });
            }
        }
    }
    ImGui::PopStyleColor();
    ImGui::EndChild();
    ImGui::PopStyleVar();
}

void draw_file(AppState& app, InputMatrix which) {
    Ui& ui = app.ui;
    InputsDraft& draft = own_state<InputsDraft>(app);
    ImGui::SetNextItemWidth(-ui.px(88));
    const bool enter =
        ImGui::InputTextWithHint("##path", ui.tr(kFilePath), &draft.path, ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::SameLine();
    const bool load = ImGui::Button(ui.tr(kLoad), {-1, 0});
    if ((enter || load) && !draft.path.empty())
        attempt(app, "file", draft.path, [&] { load_matrix(app.session, which, draft.path); });
}

}  // namespace

void draw_inputs_popup(AppState& app) {
    Ui& ui = app.ui;
    InputsDraft& draft = own_state<InputsDraft>(app);
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const ImVec2 size(std::min(ui.px(880), screen.x - ui.px(48)), std::min(ui.px(600), screen.y - ui.px(80)));
    if (!begin_overlay(app, "inputs", app.inputs_open, {(screen.x - size.x) / 2, ui.px(64)}, size)) {
        draft = {};
        return;
    }
    ImGui::PushStyleColor(ImGuiCol_FrameBg, u32(ui.theme().panel));
    ImGui::PushStyleColor(ImGuiCol_Button, u32(mix(ui.theme().raised, ui.theme().text, 0.08f)));
    overlay_title(app, ui.tr(kInputs), app.inputs_open);
    const float fields = ui.px(328);
    ImGui::BeginChild("fields", {fields, 0}, false);
    draw_fields(app);
    ImGui::EndChild();
    ImGui::SameLine(0, ui.px(28));
    ImGui::BeginChild("right", {0, 0}, false);
    const char* names[kInputMatrices];
    for (int k = 0; k < kInputMatrices; ++k) names[k] = name_of(static_cast<InputMatrix>(k)).data();
    segmented(ui, "matrix", names, draft.matrix);
    const auto which = static_cast<InputMatrix>(draft.matrix);
    if (app.preset) {
        ImGui::SameLine();
        const std::string text = ui.tr(kResetTo, {{"name", app.preset->id}});
        const float w = text_width(ui.fonts.body, text) + ui.px(20);
        ImGui::SetCursorPosX(ImGui::GetWindowWidth() - w);
        if (ImGui::Button(text.c_str(), {w, ui.px(28)})) {
            draft = {
                .field = {}, .text = {}, .error = {}, .active = {}, .live = {}, .path = {}, .matrix = draft.matrix};
            app.open_preset(*app.preset);
        }
    }
    draw_cells(app, which);
    draw_file(app, which);
    // What was refused in a cell or a file, and what the last run says, below the cells.
    const bool in_cell = !draft.error.empty() && !draft.field.starts_with("field") && draft.field != "dtype";
    if (in_cell)
        alarm_text(ui, ui.tr(draft.error));
    else if (!app.session.error().empty())
        alarm_text(ui, ui.tr(app.session.error()));
    else if (app.session.warn_non_finite())
        alarm_text(ui, ui.tr(kWarningNonFinite, {{"tensor", "Q, K, V"}}));
    else
        small_text(ui, ui.tr(kInputsHint));
    ImGui::EndChild();
    ImGui::PopStyleColor(2);
    end_overlay();
}

}  // namespace flashstep::viz
