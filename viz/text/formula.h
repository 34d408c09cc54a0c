// Typesetter of mini-TeX formulas: layout into positioned boxes without a window, then drawing with live symbols.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/formula_tree.h"

struct ImDrawList;

namespace flashstep::viz {

struct Ui;
enum class MathFace;

// How large characters are; the app measures with baked fonts, tests with made-up numbers. Sizes in design pixels.
class FormulaMetrics {
  public:
    struct Glyph {
        float advance, ascent, descent;  // ascent and descent of the ink, both positive away from the baseline
    };
    virtual ~FormulaMetrics() = default;
    virtual Glyph measure(MathFace face, char32_t c, float size) const = 0;
};

struct FormulaBox {
    enum class Kind { Glyph, Rule, Radical, Delimiter, Accent };
    enum class Tone { Plain, Struck, Put };  // Struck, Put: of a mistake, whatever tensor it names
    Kind kind = Kind::Glyph;
    Tone tone = Tone::Plain;
    float x = 0,
          y = 0;  // Glyph: the pen on its baseline; else the top left corner. y grows downwards, 0 is the baseline
    float w = 0, h = 0;  // of the ink (Glyph: advance, ascent + descent)
    float ascent = 0;    // Glyph: of its ink
    char32_t glyph = 0;  // Glyph, Delimiter and Accent: which
    MathFace face{};
    float size = 0;   // design pixels
    int symbol = -1;  // index into FormulaLayout::symbols; -1: no tensor
};

struct FormulaSymbol {
    std::string name;  // "S_ij"
    float x = 0, y = 0, w = 0, h = 0;
};

struct FormulaLayout {
    std::vector<FormulaBox> boxes;
    std::vector<FormulaSymbol> symbols;  // every place where a tensor is named
    float width = 0, ascent = 0, descent = 0;
    float size = 0;  // design pixels of the base size
    std::string source;
    std::string error;  // empty: none. With an error the boxes hold the source text, upright
};

// `size` is the design size (17, or 20 in lessons). `display` sets fractions and sums large, with limits above and
// below.
enum class FormulaStyle { Inline, Display };
FormulaLayout layout_formula(std::string_view source, const FormulaMetrics& metrics, float size,
                             FormulaStyle style = FormulaStyle::Inline);

// The same with the fonts of `ui`, in design pixels. Lay out once and keep it; layouts survive a change of scale.
FormulaLayout layout_formula(const Ui& ui, std::string_view source, float size,
                             FormulaStyle style = FormulaStyle::Inline);

// Draws with the baseline's left end at (x, y) in screen pixels. Symbols are coloured by tensor; the one under the
// mouse becomes ui.hot, hot ones get a ground. Returns the index of the symbol under the mouse, or -1.
int draw_formula(Ui& ui, ImDrawList* draw, float x, float y, const FormulaLayout& layout);
// With `color` for all that is no tensor (ImU32).
int draw_formula(Ui& ui, ImDrawList* draw, float x, float y, const FormulaLayout& layout, unsigned color);

// As an ImGui item at the cursor: reserves the space, aligns with the text of the line.
int formula(Ui& ui, const FormulaLayout& layout);

// Layouts by source, size and style, so that drawing code may ask for them each frame. Forget them when fonts are built
// again from other files.
class FormulaCache {
  public:
    const FormulaLayout& get(const Ui& ui, std::string_view source, float size,
                             FormulaStyle style = FormulaStyle::Inline);
    void clear() { layouts_.clear(); }

  private:
    std::unordered_map<std::string, FormulaLayout> layouts_;
    std::string key_;
};

// Typeset form of a tensor's name: "S_ij" -> "S_{ij}", "m_old" -> "m_{\mathrm{old}}", "l_i" -> "\ell_i".
std::string name_to_tex(std::string_view tensor);

}  // namespace flashstep::viz
