// A kernel's CUDA source, with marked lines, and how often each ran where that is known.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "gpu/registry.h"
#include "lab/format.h"
#include "viz/panels/code_list.h"
#include "viz/panels/source.h"
#include "viz/text/font.h"
#include "viz/text/kernel_source.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr float kNumbers = 34, kCounts = 52;  // widths of two columns, design pixels

// Where the code starts, in pixels.
float text_start(const Ui& ui, const LineCounts& counts) {
    return ui.px(kNumbers + 10 + (counts.empty() ? 0 : kCounts));
}

void draw_cuda_line(AppState& app, const CudaText& text, int k, ImVec2 at, float width, bool marked) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const LineCounts& counts = line_counts(app);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    ImFont* font = ui.fonts.number_small;
    const float advance = char_advance(font, '0'), base = code_baseline(ui, at);
    if (marked) mark_code_line(ui, at, width);
    draw_code_number(ui, at.x + ui.px(kNumbers), base, std::to_string(k + 1), 0.7f);
    if (const auto count = counts.find(k); count != counts.end())
        draw_code_number(ui, at.x + ui.px(kNumbers + kCounts), base, short_count(count->second.warps), 1);
    float x = at.x + text_start(ui, counts);
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
                const ImVec2 a(x - 1, at.y + 1), b(x + w + 1, base + ui.px(3));
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

std::string_view shown_kernel(const AppState& app) {
    const Recipe& recipe = app.run->recipe;
    if (!recipe.kernel.empty()) return recipe.kernel;
    for (const gpu::KernelInfo& kernel : gpu::kernels())
        if (kernel.algorithm == recipe.algorithm) return kernel.id;
    return {};
}

LineCounts line_counts(const InstructionCounts& counts, std::string_view kernel) {
    const std::string file = fmt::format("{}.cuh", kernel);
    LineCounts lines;
    for (const ExecutedInstruction& instruction : counts.code) {
        if (instruction.file != file) continue;
        LineCount& line = lines[instruction.line - 1];
        ++line.in_text;
        line.warps += instruction.warps;
    }
    return lines;
}

const LineCounts& line_counts(AppState& app) {
    auto& known = run_state<std::optional<LineCounts>>(app);
    const std::optional<KernelRun>& run = app.run->kernel_run;
    if (!known) known = run ? line_counts(run->instructions, run->kernel) : LineCounts();
    return *known;
}

bool read_kernel(CudaPane& pane, std::string_view kernel) {
    const std::string_view source = kernel_source(kernel);
    if (pane.text.source.data() != source.data()) pane = {.text = read_cuda(source)};
    return !source.empty();
}

int draw_cuda_pane(AppState& app, CudaPane& pane, const std::set<int>& marked, ImVec2 size) {
    const Ui& ui = app.ui;
    const float code = char_advance(ui.fonts.number_small, '0') * static_cast<float>(pane.text.longest);
    const CodeList list{.id = "cuda",
                        .size = size,
                        .lines = static_cast<int>(pane.text.lines.size()),
                        .width = text_start(ui, line_counts(app)) + ui.px(4) + code,
                        .first = marked.empty() ? -1 : *marked.begin(),
                        .last = marked.empty() ? -1 : *marked.rbegin()};
    return draw_code_list(ui, list, pane.scrolled_to, [&](int line, ImVec2 at, float width) {
        draw_cuda_line(app, pane.text, line, at, width, marked.contains(line));
    });
}

}  // namespace flashstep::viz
