// Drawing of formulas: glyphs from the baked math faces, rules, roots and fences as vector shapes; symbols are live.
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "viz/shell/ui.h"
#include "viz/text/font.h"
#include "viz/text/formula.h"
#include "viz/text/math_glyphs.h"

namespace flashstep::viz {
namespace {

// A Chinese character or mark: the math faces have none.
bool is_wide(char32_t c) { return c >= 0x2E80 && c < 0x10000; }

class FontMetrics : public FormulaMetrics {
  public:
    explicit FontMetrics(const Fonts& fonts) : fonts_(fonts) {}
    Glyph measure(MathFace face, char32_t c, float size) const override {
        if (is_wide(c)) return {size, 0.85f * size, 0.12f * size};
        if (!fonts_.glyphs) return {0.55f * size, 0.7f * size, 0.1f * size};
        const EmGlyph g = fonts_.glyphs->get(face == MathFace::Italic, c);
        return {g.advance * size, g.ascent * size, g.descent * size};
    }

  private:
    const Fonts& fonts_;
};

void draw_glyph(const Ui& ui, ImDrawList* draw, ImVec2 pen, const FormulaBox& b, ImU32 color) {
    const int k = Fonts::math_size(b.size);
    ImFont* font = is_wide(b.glyph) ? ui.fonts.body : ui.fonts.math[static_cast<int>(b.face)][k];
    const float baked = is_wide(b.glyph) ? kBodyPixels : kMathPixels[k];
    // The size that the font was baked at is used as it is; others are scaled from it.
    const float zoom = std::abs(b.size - baked) < 0.01f ? 1.0f : b.size / baked;
    char utf8[5] = {};
    ImTextCharToUtf8(utf8, static_cast<unsigned>(b.glyph));
    const ImVec2 at(std::round(pen.x), std::round(pen.y) - std::round(font_ascent(font) * zoom));
    draw->AddText(font, font_height(font) * zoom, at, color, utf8);
}

// A tilde, hat or bar of width w and height h.
void draw_accent(ImDrawList* draw, ImVec2 a, ImVec2 size, char32_t which, ImU32 color, float thick) {
    if (which == U'^') {
        const ImVec2 points[] = {{a.x, a.y + size.y}, {a.x + size.x / 2, a.y}, {a.x + size.x, a.y + size.y}};
        draw->AddPolyline(points, 3, color, 0, thick);
    } else if (which == U'-') {
        draw->AddLine({a.x, a.y + size.y / 2}, {a.x + size.x, a.y + size.y / 2}, color, thick);
    } else {
        draw->AddBezierCubic({a.x, a.y + size.y}, {a.x + size.x * 0.35f, a.y - size.y * 0.9f},
                             {a.x + size.x * 0.65f, a.y + size.y * 1.9f}, {a.x + size.x, a.y}, color, thick);
    }
}

void draw_delimiter(ImDrawList* draw, ImVec2 a, ImVec2 size, char32_t which, ImU32 color, float thick) {
    const float l = a.x + size.x * 0.25f, r = a.x + size.x * 0.80f, t = a.y, b = a.y + size.y, m = (t + b) / 2;
    const auto line = [&](std::initializer_list<ImVec2> p) {
        draw->AddPolyline(p.begin(), static_cast<int>(p.size()), color, 0, thick);
    };
    switch (which) {
        case U'(':
            draw->AddBezierCubic({r, t}, {l - size.x * 0.1f, t + size.y * 0.25f},
                                 {l - size.x * 0.1f, b - size.y * 0.25f}, {r, b}, color, thick);
            break;
        case U')':
            draw->AddBezierCubic({l, t}, {r + size.x * 0.1f, t + size.y * 0.25f},
                                 {r + size.x * 0.1f, b - size.y * 0.25f}, {l, b}, color, thick);
            break;
        case U'[':
            line({{r, t}, {l, t}, {l, b}, {r, b}});
            break;
        case U']':
            line({{l, t}, {r, t}, {r, b}, {l, b}});
            break;
        case U'⌈':
            line({{r, t}, {l, t}, {l, b}});
            break;
        case U'⌉':
            line({{l, t}, {r, t}, {r, b}});
            break;
        case U'⌊':
            line({{l, t}, {l, b}, {r, b}});
            break;
        case U'⌋':
            line({{r, t}, {r, b}, {l, b}});
            break;
        case U'⟨':
            line({{r, t}, {l, m}, {r, b}});
            break;
        case U'⟩':
            line({{l, t}, {r, m}, {l, b}});
            break;
        case U'‖':
            line({{l, t}, {l, b}}), line({{r, t}, {r, b}});
            break;
        case U'{':
            draw->AddBezierCubic({r, t}, {l, t}, {r, m}, {l, m}, color, thick);
            draw->AddBezierCubic({l, m}, {r, m}, {l, b}, {r, b}, color, thick);
            break;
        case U'}':
            draw->AddBezierCubic({l, t}, {r, t}, {l, m}, {r, m}, color, thick);
            draw->AddBezierCubic({r, m}, {l, m}, {r, b}, {l, b}, color, thick);
            break;
        default:
            line({{(l + r) / 2, t}, {(l + r) / 2, b}});
            break;
    }
}

}  // namespace

FormulaLayout layout_formula(const Ui& ui, std::string_view source, float size, FormulaStyle style) {
    return layout_formula(source, FontMetrics(ui.fonts), size, style);
}

int draw_formula(Ui& ui, ImDrawList* draw, float x, float y, const FormulaLayout& layout) {
    const Theme& t = ui.theme();
    return draw_formula(ui, draw, x, y, layout, u32(layout.error.empty() ? t.text : t.alarm));
}

int draw_formula(Ui& ui, ImDrawList* draw, float x, float y, const FormulaLayout& layout, unsigned color) {
    const Theme& t = ui.theme();
    const float s = ui.scale;
    y = std::round(y);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const bool in_window = ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
    int hovered = -1;
    for (std::size_t k = 0; k < layout.symbols.size(); ++k) {
        const FormulaSymbol& symbol = layout.symbols[k];
        const float pad = 0.08f * layout.size * s;
        const ImVec2 a(x + symbol.x * s - pad, y + symbol.y * s - pad);
        const ImVec2 b(x + (symbol.x + symbol.w) * s + pad, y + (symbol.y + symbol.h) * s + pad);
        if (in_window && mouse.x >= a.x && mouse.x < b.x && mouse.y >= a.y && mouse.y < b.y &&
            ImGui::IsMouseHoveringRect(a, b)) {
            hovered = static_cast<int>(k);
            ui.hot.set(symbol.name);
        }
        if (ui.hot.is(symbol.name)) { draw->AddRectFilled(a, b, u32(t.text_of(symbol.name), 0.22f), ui.px(3)); }
    }
    for (const FormulaBox& b : layout.boxes) {
        const ImU32 ink = b.tone == FormulaBox::Tone::Put      ? u32(t.alarm)
                          : b.tone == FormulaBox::Tone::Struck ? u32(t.quiet)
                          : b.symbol < 0                       ? color
                                         : u32(t.text_of(layout.symbols[static_cast<std::size_t>(b.symbol)].name));
        const ImVec2 at(x + b.x * s, y + b.y * s), size(b.w * s, b.h * s);
        const float thick = std::max(1.0f, b.size * s / 15);
        switch (b.kind) {
            case FormulaBox::Kind::Glyph:
                draw_glyph(ui, draw, at, b, ink);
                break;
            case FormulaBox::Kind::Rule: {
                const float top = std::round(at.y), left = std::round(at.x);
                draw->AddRectFilled({left, top}, {std::round(at.x + size.x), top + std::max(1.0f, std::round(size.y))},
                                    ink);
                break;
            }
            case FormulaBox::Kind::Radical: {
                const float em = b.size * s, top = std::round(at.y) + 0.5f, bottom = at.y + size.y;
                const ImVec2 points[] = {{at.x + 0.04f * em, bottom - 0.38f * em},
                                         {at.x + 0.14f * em, bottom - 0.46f * em},
                                         {at.x + 0.30f * em, bottom},
                                         {at.x + 0.55f * em, top},
                                         {at.x + size.x, top}};
                draw->AddPolyline(points, 5, ink, 0, thick);
                break;
            }
            case FormulaBox::Kind::Delimiter:
                draw_delimiter(draw, at, size, b.glyph, ink, thick);
                break;
            case FormulaBox::Kind::Accent:
                draw_accent(draw, at, size, b.glyph, ink, thick);
                break;
        }
    }
    return hovered;
}

int formula(Ui& ui, const FormulaLayout& layout) {
    // On the baseline of the text beside it, and never lower than the line's own height.
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImFont* font = ImGui::GetFont();
    const float zoom = ImGui::GetFontSize() / font_height(font);
    const float baseline = std::max(std::round(font_ascent(font) * zoom), std::ceil(layout.ascent * ui.scale));
    const float height = std::max(ImGui::GetTextLineHeight(), baseline + std::ceil(layout.descent * ui.scale));
    const int hovered = draw_formula(ui, ImGui::GetWindowDrawList(), at.x, at.y + baseline, layout);
    ImGui::Dummy({std::ceil(layout.width * ui.scale), height});
    return hovered;
}

const FormulaLayout& FormulaCache::get(const Ui& ui, std::string_view source, float size, FormulaStyle style) {
    key_.assign(source);
    key_ += '\x01';
    key_ += std::to_string(static_cast<int>(size * 8));
    key_ += style == FormulaStyle::Display ? 'd' : 'i';
    auto it = layouts_.find(key_);
    if (it == layouts_.end()) it = layouts_.emplace(key_, layout_formula(ui, source, size, style)).first;
    return it->second;
}

}  // namespace flashstep::viz
