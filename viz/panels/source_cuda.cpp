// A kernel's CUDA source, with marked lines, and how often each ran where that is known.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpu/registry.h"
#include "lab/format.h"
#include "viz/panels/source.h"
#include "viz/text/font.h"
#include "viz/text/kernel_source.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr float kLine = 17, kNumbers = 34, kCounts = 52;  // design pixels: height of a line, widths of two columns

// Where the code starts, in pixels.
float text_start(const Ui& ui, const CudaMarks& marks) {
    return ui.px(kNumbers + 10 + (marks.counts.empty() ? 0 : kCounts));
}

void draw_cuda_line(AppState& app, const CudaText& text, int k, ImVec2 at, float width, const CudaMarks& marks) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    ImFont* font = ui.fonts.number_small;
    const float height = ui.px(kLine), advance = char_advance(font, '0'), base = at.y + ui.px(13);
    if (marks.lines.contains(k)) {
        draw->AddRectFilled(at, {at.x + width, at.y + height}, u32(t.accent, 0.16f));
        draw->AddRectFilled(at, {at.x + ui.px(3), at.y + height}, u32(t.accent));
    }
    const auto right_aligned = [&](float end, const std::string& number, float strength) {
        draw_text_on(draw, font, end - text_width(font, number), base, u32(mix(t.panel, t.quiet, strength)), number);
    };
    right_aligned(at.x + ui.px(kNumbers), std::to_string(k + 1), 0.7f);
    if (const auto count = marks.counts.find(k); count != marks.counts.end())
        right_aligned(at.x + ui.px(kNumbers + kCounts), short_count(count->second), 1);
    float x = at.x + text_start(ui, marks);
    for (const CudaToken& token : text.lines[k]) {
        // The monospaced face has no Chinese.
        const bool ascii = std::ranges::all_of(token.text, [](char c) { return (c & 0x80) == 0; });
        ImFont* face = ascii ? font : ui.fonts.small;
        const float w = ascii ? advance * static_cast<float>(token.text.size()) : text_width(face, token.text);
        Rgb ink = t.text;
        switch (token.kind) {
            case TokenKind::Comment:
                ink = t.quiet;
                break;
            case TokenKind::Keyword:
                ink = mix(t.text, t.quiet, 0.55f);
                break;
            case TokenKind::Tensor: {
                ink = t.text_of(token.tensor);
                const ImVec2 a(x - 1, at.y + 1), b(x + w + 1, at.y + height - 1);
                if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(a, b)) ui.hot.set(token.tensor);
                if (ui.hot.is(token.tensor))
                    draw->AddRectFilled(a, b, u32(mix(t.panel, t.of(token.tensor), 0.30f)), ui.px(2));
                break;
            }
            default:
                break;
        }
        draw_text_on(draw, face, x, base, u32(ink), token.text);
        x += w;
    }
}

}  // namespace

void scroll_to(float top, float bottom) {
    const float height = ImGui::GetWindowHeight(), now = ImGui::GetScrollY(), margin = height * 0.12f;
    if (top - margin >= now && bottom + margin <= now + height) return;
    ImGui::SetScrollY(std::max(0.0f, (top + bottom - height) / 2));
}

std::string_view shown_kernel(const AppState& app) {
    const Recipe& recipe = app.run->recipe;
    if (!recipe.kernel.empty()) return recipe.kernel;
    for (const gpu::KernelInfo& kernel : gpu::kernels())
        if (kernel.algorithm == recipe.algorithm) return kernel.id;
    return {};
}

std::map<int, std::int64_t> counts_by_line(const InstructionCounts& counts, std::string_view kernel) {
    const std::string file = fmt::format("{}.cuh", kernel);
    std::map<int, std::int64_t> lines;
    for (const ExecutedInstruction& instruction : counts.code)
        if (instruction.file == file) lines[instruction.line - 1] += instruction.warps;
    return lines;
}

bool read_kernel(CudaPane& pane, std::string_view kernel) {
    const std::string_view source = kernel_source(kernel);
    if (pane.text.source.data() != source.data()) pane = {.text = read_cuda(source)};
    return !source.empty();
}

int draw_cuda_pane(AppState& app, CudaPane& pane, const CudaMarks& marks, ImVec2 size) {
    Ui& ui = app.ui;
    ImGui::BeginChild("cuda", size, false, ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_NoNav);
    const float height = ui.px(kLine), advance = char_advance(ui.fonts.number_small, '0');
    const float full = text_start(ui, marks) + ui.px(4) + advance * static_cast<float>(pane.text.longest);
    const float width = std::max(full, ImGui::GetContentRegionAvail().x);
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const int lines = static_cast<int>(pane.text.lines.size());
    const float scroll = ImGui::GetScrollY();
    const int from = std::max(0, static_cast<int>(scroll / height) - 1);
    const int to = std::min(lines, static_cast<int>((scroll + ImGui::GetWindowHeight()) / height) + 2);
    for (int k = from; k < to; ++k)
        draw_cuda_line(app, pane.text, k, {origin.x, std::round(origin.y + static_cast<float>(k) * height)}, width,
                       marks);
    int clicked = -1;
    if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
        const int line = static_cast<int>(std::floor((ImGui::GetMousePos().y - origin.y) / height));
        if (line >= 0 && line < lines) clicked = line;
    }
    ImGui::Dummy({full, static_cast<float>(lines) * height});
    const int first = marks.lines.empty() ? -1 : *marks.lines.begin();
    if (pane.scrolled_to != first) {
        pane.scrolled_to = first;
        if (first >= 0) {
            // The start of the part matters most where all of it does not fit.
            const float most = ImGui::GetWindowHeight() / height * 0.7f;
            const float last = static_cast<float>(*marks.lines.rbegin());
            const float end = std::min(last + 1, static_cast<float>(first) + most);
            scroll_to(static_cast<float>(first) * height, end * height);
        }
    }
    ImGui::EndChild();
    return clicked;
}

}  // namespace flashstep::viz
