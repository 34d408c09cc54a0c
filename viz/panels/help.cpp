// The help page: keys, and the conventions that the numbers follow.
#include "viz/panels/help.h"

#include <imgui.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "viz/panels/panels.h"
#include "viz/shell/frame.h"
#include "viz/text/text.h"
#include "viz/widgets/overlay.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kTimeline{"Timeline", "时间轴"};
constexpr Text kKeysText{"Keys", "快捷键"};
constexpr Text kConventionsText{"Conventions", "约定"};
constexpr Text kKeyLine{"one line back, one line forward", "后退、前进一行"};
constexpr Text kKeyTile{"one tile back, forward", "后退、前进一个 tile"};
constexpr Text kKeyBlock{"one row block back, forward", "后退、前进一个行块"};
constexpr Text kKeySpace{"the lesson goes on; without a lesson: play, pause", "课程继续；没有打开课程时播放、暂停"};
constexpr Text kKeyBeatBack{"back to the part of the lesson before", "回到课程的上一段"};
constexpr Text kKeyShelf{"the shelf: all lessons and problems", "书架：全部课程和问题"};
constexpr Text kKeyWorkbench{"from the lesson to the workbench and back", "在课程和工作台之间切换"};
constexpr Text kKeyPredict{"predict what the next line writes", "猜下一行会写出什么"};
constexpr Text kKeyPlay{"play, pause", "播放、暂停"};
constexpr Text kKeyEnds{"to the inputs, to the last step", "回到初始输入、跳到最后一步"};
constexpr Text kKeyPanels{"show one panel large; again: all of them", "放大某个面板，再按一次还原"};
constexpr Text kKeyHelp{"this page", "本页"};
constexpr Text kKeyPicker{"find a lesson, preset, algorithm, kernel, or where it runs",
                          "查找课程、预设、算法、kernel 或运行位置"};
constexpr Text kKeyUndo{"undo, redo a change of the inputs", "撤销、重做对输入的改动"};
constexpr Text kKeyZoom{"everything larger, smaller, as it was", "放大、缩小、恢复大小"};
constexpr Text kKeyBookmark{"add or remove a bookmark", "添加或删除书签"};
constexpr Text kKeyEscape{"close what is open; back to all panels", "关闭当前弹窗，回到全部面板"};
constexpr Text kConventionAttention{
    "Attention is O = softmax(τ Q Kᵀ + mask) V. τ is 1/√d unless you set it; the first lesson sets 1.",
    "注意力定义为 O = softmax(τ Q Kᵀ + mask) V。τ 默认为 1/√d，可自行设置；第一课取 1。"};
constexpr Text kConventionCausal{
    "A causal mask is bottom-right: query r sees key c if c ≤ r + Nk − N. A row that sees no key gives O = 0 and L = "
    "−∞.",
    "因果掩码按右下角对齐：c ≤ r + Nk − N 时 query r 能看到 key c。看不到任何 key 的行 O = 0，L = −∞。"};
constexpr Text kConventionMask{
    "Masked scores are −∞, never a large finite number. A tile that the mask hides wholly is skipped.",
    "被掩码屏蔽的分数取 −∞，而不是绝对值很大的有限负数。整块被屏蔽的 tile 直接跳过。"};
constexpr Text kConventionCount{"Rows, columns, blocks and steps count from 1. Step 0 holds the inputs.",
                                "行、列、块和步骤都从 1 数起，第 0 步是初始输入。"};
constexpr Text kConventionBytes{
    "HBM bytes are what the algorithm moves, not what a device measured. A matrix element has the size of the number "
    "format, a statistic (m, l, L, D) 4 bytes.",
    "HBM 字节数是算法搬运的量，不是设备实测值。矩阵元素按数据类型的大小计，统计量（m、l、L、D）每个 4 字节。"};
constexpr Text kConventionFlops{
    "A matmul of m × n × k counts 2mnk FLOPs. Max, exp, log, add, subtract, multiply and divide count one each per "
    "element.",
    "m × n × k 的矩阵乘计 2mnk FLOPs；max、exp、log 和加减乘除，每个元素各计 1 次。"};
constexpr Text kConventionLogsum{"L is the natural log-sum-exp, m + log l.",
                                 "L 是自然对数的 log-sum-exp，即 m + log l。"};
constexpr Text kConventionEqual{
    "A kernel agrees if every element is within 32 ε of fp32 of the CPU's value, scaled by the terms it sums.",
    "kernel 每个元素与 CPU 值之差不超过 fp32 的 32 ε（按求和各项的量级缩放），才算一致。"};

// "1 … 6": the number keys of all panels in one row, a letter in a row of its own.
void add_panel_keys(const Ui& ui, std::vector<KeyRow>& rows) {
    std::vector<Key> numbers;
    std::vector<KeyRow> letters;
    for (const Panel& panel : panels()) {
        if (panel.key && is_number(*panel.key))
            numbers.push_back(*panel.key);
        else if (panel.key)
            letters.push_back({key_text(*panel.key), panel.title.in(ui.language)});
        if (panel.letter) letters.push_back({key_text(*panel.letter), panel.letter_help.in(ui.language)});
    }
    if (!numbers.empty()) {
        const auto [first, last] = std::ranges::minmax(numbers);
        rows.push_back({key_text(first) + " … " + key_text(last), ui.tr(kKeyPanels)});
    }
    rows.insert(rows.end(), letters.begin(), letters.end());
}

constexpr Text kConventions[] = {kConventionAttention, kConventionCausal, kConventionMask,   kConventionCount,
                                 kConventionBytes,     kConventionFlops,  kConventionLogsum, kConventionEqual};

void heading(Ui& ui, const char* text) {
    ImGui::PushFont(ui.fonts.bold);
    ImGui::TextUnformatted(text);
    ImGui::PopFont();
}

}  // namespace

std::vector<KeyRow> key_rows(const Ui& ui) {
    std::vector<KeyRow> rows = {
        {"← →", ui.tr(kKeyLine)},      {"Shift ← →", ui.tr(kKeyTile)},     {"Ctrl ← →", ui.tr(kKeyBlock)},
        {"Space", ui.tr(kKeySpace)},   {"Backspace", ui.tr(kKeyBeatBack)}, {"S", ui.tr(kKeyShelf)},
        {"W", ui.tr(kKeyWorkbench)},   {"P", ui.tr(kKeyPredict)},          {"K", ui.tr(kKeyPlay)},
        {"Home End", ui.tr(kKeyEnds)}, {"B", ui.tr(kKeyBookmark)}};
    add_panel_keys(ui, rows);
    const KeyRow rest[] = {{"Esc", ui.tr(kKeyEscape)},     {"Ctrl P", ui.tr(kKeyPicker)},
                           {"Ctrl Z, Y", ui.tr(kKeyUndo)}, {"Ctrl +, -, 0", ui.tr(kKeyZoom)},
                           {"L", ui.tr(kKeyLanguage)},     {"T", ui.tr(kKeyTheme)},
                           {"F1", ui.tr(kKeyHelp)},        {ui.tr(kTimeline), ui.tr(kKeyTimeline)}};
    rows.insert(rows.end(), std::begin(rest), std::end(rest));
    return rows;
}

void draw_help(AppState& app) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const ImVec2 size(std::min(ui.px(1040), screen.x - ui.px(48)), std::min(ui.px(560), screen.y - ui.px(48)));
    if (!begin_overlay(app, "help", app.help_open, {(screen.x - size.x) / 2, (screen.y - size.y) / 2}, size)) return;
    overlay_title(app, ui.tr(kHelp), app.help_open);
    const float half = (ImGui::GetContentRegionAvail().x - ui.px(32)) / 2;

    ImGui::BeginChild("keys", {half, 0}, false);
    heading(ui, ui.tr(kKeysText));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui.px(8), ui.px(4)));
    for (const auto& [keys, what] : key_rows(ui)) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float label = ui.px(120), wrap = half - label;
        const char* end = what.data() + what.size();
        const float height = ImGui::CalcTextSize(what.data(), end, false, wrap).y;
        ImDrawList* draw = ImGui::GetWindowDrawList();
        draw_text(draw, ui.fonts.body, at, u32(t.text), keys);
        draw->AddText(ui.fonts.body, font_height(ui.fonts.body), {at.x + label, at.y}, u32(t.quiet), what.data(), end,
                      wrap);
        ImGui::Dummy({half, height});
    }
    ImGui::PopStyleVar();
    ImGui::EndChild();
    ImGui::SameLine(0, ui.px(32));
    ImGui::BeginChild("conventions", {half, 0}, false);
    heading(ui, ui.tr(kConventionsText));
    ImGui::PushStyleColor(ImGuiCol_Text, u32(t.quiet));
    ImGui::PushTextWrapPos(0);
    for (const Text& key : kConventions) ImGui::TextUnformatted(ui.tr(key));
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
    ImGui::EndChild();
    end_overlay();
}

}  // namespace flashstep::viz
