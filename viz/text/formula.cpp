// Layout of formulas after TeX's rules, simplified: spaces by class, scripts, fractions, roots, limits, accents,
// fences.
#include "viz/text/formula.h"

#include <algorithm>
#include <cmath>

#include "viz/shell/fonts.h"

namespace flashstep::viz {
namespace {

using Node = FormulaNode;
using Kind = FormulaNode::Kind;
using Class = FormulaNode::Class;
using BoxKind = FormulaBox::Kind;

// A laid out part: boxes relative to the left end of its baseline.
struct Part {
    std::vector<FormulaBox> boxes;
    std::vector<FormulaSymbol> symbols;
    float width = 0, ascent = 0, descent = 0;
    float slant = 0;  // how far the last letter leans over its advance; superscripts move right by it

    // Puts `other` at (x, y).
    void place(Part other, float x, float y) {
        const int shift = static_cast<int>(symbols.size());
        for (FormulaBox& b : other.boxes) {
            b.x += x;
            b.y += y;
            if (b.symbol >= 0) b.symbol += shift;
            boxes.push_back(b);
        }
        for (FormulaSymbol& s : other.symbols) {
            s.x += x;
            s.y += y;
            symbols.push_back(std::move(s));
        }
        ascent = std::max(ascent, other.ascent - y);
        descent = std::max(descent, other.descent + y);
    }
};

char32_t next_char(std::string_view& s) {
    const auto lead = static_cast<unsigned char>(s[0]);
    const std::size_t n = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (n == 1 || n > s.size()) {
        s.remove_prefix(1);
        return lead;
    }
    char32_t c = lead & (0xFF >> (n + 1));
    for (std::size_t k = 1; k < n; ++k) c = c << 6 | (static_cast<unsigned char>(s[k]) & 0x3F);
    s.remove_prefix(n);
    return c;
}

class Layouter {
  public:
    Layouter(const FormulaMetrics& metrics, float size) : metrics_(metrics), base_(size) {}

    // Level 0: base size; 1: scripts; 2: scripts of scripts.
    Part layout(const Node& n, int level, bool display) {
        Part p;
        switch (n.kind) {
            case Kind::Row:
                p = row(n, level, display);
                break;
            case Kind::Atom:
                p = atom(n, level, display);
                break;
            case Kind::Scripts:
                p = n.limits && (display || n.cls == Class::BigOperator) && level == 0 && display
                        ? limits(n, level, display)
                        : scripts(n, level, display);
                break;
            case Kind::Fraction:
                p = fraction(n, level, display);
                break;
            case Kind::Root:
                p = root(n, level);
                break;
            case Kind::Accent:
                p = accent(n, level);
                break;
            case Kind::Fence:
                p = fence(n, level, display);
                break;
            case Kind::Struck:
            case Kind::Put:
                p = changed(n, level, display);
                break;
            case Kind::Space:
                p.width = n.width * size(level);
                break;
        }
        if (!n.symbol.empty()) name(p, n.symbol);
        return p;
    }

    Part text(std::string_view s, float px, MathFace face) const {
        Part p;
        while (!s.empty()) {
            const char32_t c = next_char(s);
            const FormulaMetrics::Glyph g = metrics_.measure(face, c, px);
            FormulaBox b;
            b.x = p.width;
            b.w = g.advance;
            b.h = g.ascent + g.descent;
            b.ascent = g.ascent;
            b.glyph = c;
            b.face = face;
            b.size = px;
            p.boxes.push_back(b);
            p.width += g.advance;
            p.ascent = std::max(p.ascent, g.ascent);
            p.descent = std::max(p.descent, g.descent);
        }
        return p;
    }

  private:
    // Sizes that fonts are baked at: 20 -> 14 -> 10, 17 -> 12 -> 10.
    float size(int level) const {
        if (level == 0) return base_;
        const float wanted = base_ * (level == 1 ? 0.71f : 0.52f);
        float best = kMathPixels[0];
        for (const float s : kMathPixels) {
            if (std::abs(s - wanted) < std::abs(best - wanted)) best = s;
        }
        return std::min(best, base_);
    }
    float x_height(int level) const { return metrics_.measure(MathFace::Italic, U'x', size(level)).ascent; }
    // Height of the line that fractions and signs are centred on.
    float axis(int level) const { return 0.25f * size(level); }
    float rule(int level) const { return std::max(1.0f, std::round(size(level) / 16)); }

    // An italic letter without scripts: beside another one, as in "old", it is part of a word.
    static bool is_letter(const Node& n) {
        return n.kind == Kind::Atom && n.face == Node::Face::Italic && n.text.size() == 1;
    }

    static void name(Part& p, const std::string& symbol) {
        p.symbols.clear();
        p.symbols.push_back({symbol, 0, -p.ascent, p.width, p.ascent + p.descent});
        for (FormulaBox& b : p.boxes) b.symbol = 0;
    }

    // Space between two atoms in em/18, as TeX's table has it for the classes that we know; scripts take none.
    static float gap(Class a, Class b) {
        if (a == Class::Relation || b == Class::Relation) return a == b ? 0.0f : 5.0f / 18;
        if (a == Class::Binary || b == Class::Binary) return 4.0f / 18;
        if (a == Class::Punctuation) return 3.0f / 18;
        const auto is_op = [](Class c) { return c == Class::Operator || c == Class::BigOperator; };
        if (is_op(a) && b != Class::Open && b != Class::Close && b != Class::Punctuation) return 3.0f / 18;
        if (is_op(b) && a != Class::Open) return 3.0f / 18;
        return 0;
    }

    Part row(const Node& n, int level, bool display) {
        Part p;
        Class previous = Class::Open;  // a sign at the start is no binary operator
        bool first = true;
        for (std::size_t k = 0; k < n.children.size(); ++k) {
            const Node& child = n.children[k];
            if (child.kind == Kind::Space) {
                p.width += child.width * size(level);
                continue;
            }
            Class cls = child.kind == Kind::Atom || child.kind == Kind::Scripts ? child.cls : Class::Ordinary;
            if (cls == Class::Binary && (previous == Class::Open || previous == Class::Relation ||
                                         previous == Class::Binary || previous == Class::Punctuation)) {
                cls = Class::Ordinary;
            }
            // Adjacent names of tensors are factors: "Q_i K_j" gets a hair of space, "S_{ij}" none inside.
            if (!first) {
                float em = level == 0 ? gap(previous, cls) : gap(previous, cls) * 0.35f;
                if (em == 0 && level == 0 && k > 0 && cls == Class::Ordinary && previous == Class::Ordinary)
                    em = 1.5f / 18;
                p.width += em * size(level);
            }
            in_word_ = is_letter(child) && ((k > 0 && is_letter(n.children[k - 1])) ||
                                            (k + 1 < n.children.size() && is_letter(n.children[k + 1])));
            Part c = layout(child, level, display);
            in_word_ = false;
            const float width = c.width, slant = c.slant;
            p.place(std::move(c), p.width, 0);
            p.width += width;
            p.slant = slant;
            previous = cls;
            first = false;
        }
        return p;
    }

    Part atom(const Node& n, int level, bool display) const {
        // One spelling of the statistic, whether it was written "l" or "\ell".
        const bool ell = n.text == "l" && n.face == Node::Face::Italic && !in_word_;
        const bool italic = n.face == Node::Face::Italic && !ell;
        const bool big = n.cls == Class::BigOperator && display && level == 0;
        Part p = text(ell ? std::string_view("ℓ") : std::string_view(n.text), big ? size(level) * 1.4f : size(level),
                      italic ? MathFace::Italic : MathFace::Roman);
        if (big) {  // centred on the axis
            const float shift = (p.ascent - p.descent) / 2 - axis(level);
            for (FormulaBox& b : p.boxes) b.y += shift;
            p.ascent -= shift;
            p.descent += shift;
        }
        if (italic) p.slant = 0.08f * size(level);
        return p;
    }

    Part scripts(const Node& n, int level, bool display) {
        Part base = layout(n.children[0], level, display);
        const int next = std::min(level + 1, 2);
        const bool has_sub = !n.children[1].empty(), has_super = !n.children[2].empty();
        Part sub = layout(n.children[1], next, false), super = layout(n.children[2], next, false);
        const float em = size(level), x = x_height(level);
        const float gap = 0.05f * em;
        float down = std::max({0.18f * em, base.descent * 0.6f, sub.ascent - 0.8f * x});
        float up = std::max({0.40f * em, base.ascent - 0.30f * em, super.descent + 0.25f * x});
        if (has_sub && has_super) {  // at least a hair between the two
            const float between = (up - super.descent) - (sub.ascent - down);
            const float least = 0.12f * em;
            if (between < least) {
                down += (least - between) * 0.6f;
                up += (least - between) * 0.4f;
            }
        }
        Part p;
        const float base_width = base.width, slant = base.slant;
        p.place(std::move(base), 0, 0);
        float right = base_width;
        if (has_sub) {
            const float at = base_width + gap * 0.5f;
            right = std::max(right, at + sub.width);
            p.place(std::move(sub), at, down);
        }
        if (has_super) {
            const float at = base_width + slant + gap * 0.5f;
            right = std::max(right, at + super.width);
            p.place(std::move(super), at, -up);
        }
        p.width = right + gap;
        return p;
    }

    Part limits(const Node& n, int level, bool display) {
        Part base = layout(n.children[0], level, display);
        Part below = layout(n.children[1], level + 1, false), above = layout(n.children[2], level + 1, false);
        const float gap = 0.15f * size(level);
        Part p;
        p.width = std::max({base.width, below.width, above.width});
        const float ascent = base.ascent, descent = base.descent;
        const float x = (p.width - base.width) / 2, x_below = (p.width - below.width) / 2,
                    x_above = (p.width - above.width) / 2;
        const float y_below = descent + gap + below.ascent, y_above = -(ascent + gap + above.descent);
        p.place(std::move(base), x, 0);
        if (!n.children[1].empty()) p.place(std::move(below), x_below, y_below);
        if (!n.children[2].empty()) p.place(std::move(above), x_above, y_above);
        return p;
    }

    Part fraction(const Node& n, int level, bool display) {
        // In a line of text a fraction is set in script size, so that lines keep their distance.
        const int inner = display && level == 0 ? level : std::min(level + 1, 2);
        Part top = layout(n.children[0], inner, false), bottom = layout(n.children[1], inner, false);
        const float em = size(level), pad = 0.10f * em, gap = 0.16f * em, thick = rule(level), middle = axis(level);
        Part p;
        p.width = std::max(top.width, bottom.width) + 2 * pad;
        const float x_top = (p.width - top.width) / 2, x_bottom = (p.width - bottom.width) / 2;
        const float y_top = -(middle + thick / 2 + gap + top.descent),
                    y_bottom = -middle + thick / 2 + gap + bottom.ascent;
        p.place(std::move(top), x_top, y_top);
        p.place(std::move(bottom), x_bottom, y_bottom);
        FormulaBox bar;
        bar.kind = BoxKind::Rule;
        bar.y = -middle - thick / 2;
        bar.w = p.width;
        bar.h = thick;
        bar.size = em;
        p.boxes.push_back(bar);
        return p;
    }

    Part root(const Node& n, int level) {
        Part inside = layout(n.children[0], level, false);
        const float em = size(level), gap = 0.14f * em, thick = rule(level), sign = 0.55f * em;
        Part p;
        const float height = std::max(inside.ascent, x_height(level)) + gap + thick, width = inside.width + 0.08f * em;
        const float depth = std::max(inside.descent, 0.05f * em);
        p.place(std::move(inside), sign + 0.04f * em, 0);
        p.width = sign + 0.04f * em + width;
        FormulaBox b;
        b.kind = BoxKind::Radical;
        b.y = -height;
        b.w = p.width;
        b.h = height + depth;
        b.size = em;
        p.boxes.push_back(b);
        p.ascent = std::max(p.ascent, height);
        p.descent = std::max(p.descent, depth);
        return p;
    }

    Part accent(const Node& n, int level) {
        Part p = layout(n.children[0], level, false);
        const float em = size(level), w = std::min(std::max(p.width * 0.7f, 0.35f * em), p.width + 0.1f * em);
        FormulaBox b;
        b.kind = BoxKind::Accent;
        b.glyph = static_cast<char32_t>(n.text[0]);
        b.w = w;
        b.h = 0.16f * em;
        b.x = (p.width - w) / 2 + p.slant;
        b.y = -(p.ascent + 0.08f * em + b.h);
        b.size = em;
        p.boxes.push_back(b);
        p.ascent = -b.y;
        return p;
    }

    // What is struck has a line through it, with room at its ends.
    Part changed(const Node& n, int level, bool display) {
        Part inside = layout(n.children[0], level, display);
        const float em = size(level), pad = 0.06f * em, thick = rule(level);
        const bool struck = n.kind == Kind::Struck;
        for (FormulaBox& b : inside.boxes)
            if (b.tone == FormulaBox::Tone::Plain) b.tone = struck ? FormulaBox::Tone::Struck : FormulaBox::Tone::Put;
        Part p;
        const float width = inside.width;
        p.place(std::move(inside), pad, 0);
        p.width = width + 2 * pad;
        if (!struck) return p;
        FormulaBox line;
        line.kind = BoxKind::Rule;
        line.tone = FormulaBox::Tone::Put;
        line.y = -axis(level) - thick / 2;
        line.w = p.width;
        line.h = thick;
        line.size = em;
        p.boxes.push_back(line);
        return p;
    }

    Part fence(const Node& n, int level, bool display) {
        Part inside = layout(n.children[0], level, display);
        const float em = size(level), middle = axis(level), pad = 0.06f * em;
        // Symmetric about the axis, as tall as the content.
        const float half = std::max({inside.ascent - middle, inside.descent + middle, 0.45f * em}) + 0.08f * em;
        Part p;
        const auto delimiter = [&](const std::string& text) {
            if (text.empty()) return;
            std::string_view s = text;
            FormulaBox b;
            b.kind = BoxKind::Delimiter;
            b.glyph = next_char(s);
            b.x = p.width;
            b.y = -middle - half;
            b.w = 0.30f * em;
            b.h = 2 * half;
            b.size = em;
            p.boxes.push_back(b);
            p.width += b.w;
        };
        delimiter(n.text);
        const float width = inside.width, x = p.width + pad;
        p.place(std::move(inside), x, 0);
        p.width = x + width + pad;
        delimiter(n.close);
        p.ascent = std::max(p.ascent, middle + half);
        p.descent = std::max(p.descent, half - middle);
        return p;
    }

    const FormulaMetrics& metrics_;
    float base_;
    bool in_word_ = false;  // of the atom that is laid out
};

}  // namespace

FormulaLayout layout_formula(std::string_view source, const FormulaMetrics& metrics, float size, FormulaStyle style) {
    const Formula parsed = parse_formula(source);
    Layouter layouter(metrics, size);
    Part p = parsed.error.empty() ? layouter.layout(parsed.root, 0, style == FormulaStyle::Display)
                                  : layouter.text(source, size, MathFace::Roman);
    FormulaLayout out;
    out.boxes = std::move(p.boxes);
    out.symbols = std::move(p.symbols);
    out.width = p.width;
    out.ascent = p.ascent;
    out.descent = p.descent;
    out.size = size;
    out.source = source;
    out.error = parsed.error;
    return out;
}

std::string name_to_tex(std::string_view tensor) {
    const std::size_t cut = tensor.find('_');
    std::string_view base = tensor.substr(0, cut);
    const bool tilde = base.size() == 2 && base[1] == 't';
    if (tilde) base.remove_suffix(1);
    std::string out = base == "l"       ? "\\ell"
                      : base.size() > 2 ? "\\mathrm{" + std::string(base) + "}"
                                        : std::string(base);
    if (tilde) out = "\\tilde{" + out + "}";
    if (cut == std::string_view::npos) return out;
    const std::string sub(tensor.substr(cut + 1));
    out += sub.size() > 2 ? "_{\\mathrm{" + sub + "}}" : "_{" + sub + "}";
    return out;
}

}  // namespace flashstep::viz
