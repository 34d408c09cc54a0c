// Breaking the lines of a pseudo-code table.
#include "viz/text/pseudo_layout.h"

#include <imgui.h>

#include <algorithm>

#include "viz/text/text.h"

namespace flashstep::viz {
namespace {

constexpr float kIndent = 14;

const ImFont* text_font(const Ui& ui, float size) { return size > 16 ? ui.fonts.body : ui.fonts.small; }

// Words and formulas of a line, with what stands tight after them (punctuation after a formula) joined.
struct Unit {
    std::vector<PseudoPiece> pieces;  // x from the unit's left
    float width = 0, ascent = 0, descent = 0;
    bool space_before = false;
};

// The formula in pieces that each stand alone, cut before the plus signs outside all braces and where a mistake changes
// it; a parenthesis may stay open across a line.
std::vector<std::string_view> breakable(std::string_view formula) {
    std::vector<std::string_view> pieces;
    int depth = 0;
    std::size_t from = 0;
    for (std::size_t k = 0; k < formula.size(); ++k) {
        const char c = formula[k];
        if (c == '{') ++depth;
        if (c == '}') --depth;
        const std::string_view rest = formula.substr(k);
        const bool cut = c == '+' || rest.starts_with("\\struck") || rest.starts_with("\\put");
        if (!cut || depth != 0 || k == from) continue;
        pieces.push_back(formula.substr(from, k - from));
        from = k;
    }
    pieces.push_back(formula.substr(from));
    return pieces;
}

// Whether a byte is part of a character beyond ASCII; in pseudo-code these are Chinese ones, of three bytes.
bool is_wide(char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; }

// The end of what must not be broken: a word without spaces, or one Chinese character and the punctuation behind it.
std::size_t word_end(std::string_view text, std::size_t at) {
    const auto closes = [&](std::size_t k) {
        static constexpr std::string_view kClosing[] = {"，", "。", "、", "；", "：", "）"};
        return std::ranges::any_of(kClosing, [&](std::string_view mark) { return text.substr(k).starts_with(mark); });
    };
    const auto opens = [&](std::size_t k) { return text.substr(k).starts_with("（"); };
    std::size_t end = at;
    while (end < text.size() && opens(end)) end += 3;
    if (end < text.size() && is_wide(text[end]))
        end += 3;
    else
        while (end < text.size() && text[end] != ' ' && !is_wide(text[end])) ++end;
    while (end < text.size() && closes(end)) end += 3;
    return end;
}

// `room`: what a formula may take before it is broken, design pixels.
std::vector<Unit> units_of(Ui& ui, std::string_view tex, float size, float room) {
    std::vector<Unit> units;
    const ImFont* font = text_font(ui, size);
    bool space = false, fresh = true;  // a space since the last piece; the next piece starts a unit
    const auto piece = [&](std::string_view text, bool formula, float width, float ascent, float descent) {
        if (fresh || units.empty()) {
            units.push_back({});
            units.back().space_before = space;
        }
        Unit& unit = units.back();
        unit.pieces.push_back({std::string(text), formula, unit.width, 0});
        unit.width += width;
        unit.ascent = std::max(unit.ascent, ascent);
        unit.descent = std::max(unit.descent, descent);
        fresh = space = false;
    };
    for (const TexPart& part : split_tex(tex)) {
        if (part.formula) {
            const bool whole = ui.formulas.get(ui, part.text, size).width <= room;
            for (const std::string_view text : whole ? std::vector{part.text} : breakable(part.text)) {
                const FormulaLayout& f = ui.formulas.get(ui, text, size);
                piece(text, true, f.width, f.ascent, f.descent);
                if (!whole) space = fresh = true;
            }
            if (!whole) space = fresh = false;
            continue;
        }
        std::size_t at = 0;
        while (at < part.text.size()) {
            const std::size_t word = part.text.find_first_not_of(' ', at);
            if (word != at) space = fresh = true;
            if (word == std::string_view::npos) break;
            const std::size_t end = word_end(part.text, word);
            const std::string_view text = part.text.substr(word, end - word);
            piece(text, false, text_width(font, text) / ui.scale, size * 0.75f, size * 0.22f);
            fresh = is_wide(text.back());  // Chinese breaks after every character
            at = end;
        }
    }
    return units;
}

void place(PseudoRow& row, const std::vector<Unit>& units, float width, float size) {
    const float space = size * 0.26f, least = size * 1.5f;
    std::size_t k = 0;
    float top = 0;
    bool first = true;
    while (k < units.size()) {
        const float start = first ? 0 : kIndent;  // what is continued stands further in
        float x = start, ascent = size * 0.8f, descent = size * 0.3f;
        const std::size_t begin = k;
        while (k < units.size()) {
            const float before = k > begin && units[k].space_before ? space : 0;
            if (k > begin && x + before + units[k].width > width) break;
            x += before + units[k].width;
            ascent = std::max(ascent, units[k].ascent);
            descent = std::max(descent, units[k].descent);
            ++k;
        }
        const float height = std::max(ascent + descent + 4, least);
        const float base = top + (height - ascent - descent) / 2 + ascent;
        x = start;
        for (std::size_t u = begin; u < k; ++u) {
            if (u > begin && units[u].space_before) x += space;
            for (const PseudoPiece& p : units[u].pieces)
                row.pieces.push_back({p.text, p.formula, row.indent + x + p.x, base});
            x += units[u].width;
        }
        top += height;
        first = false;
    }
    row.height = std::max(top, least) + 2;
}

}  // namespace

std::vector<TexPart> split_tex(std::string_view tex) {
    std::vector<TexPart> parts;
    while (!tex.empty()) {
        const std::size_t open = tex.find('$'), close = open == tex.npos ? tex.npos : tex.find('$', open + 1);
        if (close == tex.npos) {
            parts.push_back({tex, false});
            break;
        }
        if (open > 0) parts.push_back({tex.substr(0, open), false});
        parts.push_back({tex.substr(open + 1, close - open - 1), true});
        tex.remove_prefix(close + 1);
    }
    return parts;
}

PseudoLayout layout_pseudo(Ui& ui, const Algorithm& algorithm, const Fault* fault, float width, float margin) {
    PseudoLayout layout;
    layout.algorithm = &algorithm, layout.fault = fault;
    const auto mistaken = [&](const PseudoLine& line) {
        return fault && fault->algorithm == algorithm.id && fault->line == line.number;
    };
    const auto text_of = [&](const PseudoLine& line) {
        const std::string_view text = line.tex().in(ui.language);
        return mistaken(line) ? with_mistake(text, *fault, ui.language) : std::string(text);
    };
    layout.language = ui.language;
    layout.width = width;
    for (const float size : {17.0f, 14.0f, 12.0f}) {
        layout.size = size;
        bool fits = true;
        for (const PseudoLine& line : algorithm.lines) {
            const float room = width - kPseudoGutter - kIndent * static_cast<float>(line.indent) - kIndent;
            // As without a mistake, so that the type stays as it is; what the mistake adds is broken where it must be.
            for (const Unit& unit : units_of(ui, line.tex().in(ui.language), size, 1e9f))
                fits = fits && unit.width <= room;
            if (!mistaken(line)) continue;
            for (const Unit& unit : units_of(ui, text_of(line), size, room)) fits = fits && unit.width <= room;
        }
        if (fits) break;
    }
    for (const PseudoLine& line : algorithm.lines) {
        PseudoRow row;
        row.line = &line;
        row.indent = kPseudoGutter + kIndent * static_cast<float>(line.indent);
        row.y = layout.height;
        const float keep = line.kind == LineKind::Loop ? margin : 0;
        const float room = width - row.indent - keep;
        place(row, units_of(ui, text_of(line), layout.size, room - kIndent), room, layout.size);
        layout.height += row.height;
        layout.rows.push_back(std::move(row));
    }
    return layout;
}

}  // namespace flashstep::viz
