// Geometry of formulas with made-up glyph sizes: no window, no fonts.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "viz/shell/fonts.h"
#include "viz/shell/headless.h"
#include "viz/text/formula.h"

using namespace flashstep;
using namespace flashstep::viz;

namespace {

// Every glyph is half an em wide, 0.7 em high; letters with a tail go 0.2 em below the baseline.
class Made : public FormulaMetrics {
  public:
    Glyph measure(MathFace, char32_t c, float size) const override {
        const bool tail = c == U'j' || c == U'y' || c == U'(' || c == U')';
        return {0.5f * size, c == U'x' ? 0.45f * size : 0.7f * size, tail ? 0.2f * size : 0.0f};
    }
};

FormulaLayout lay(std::string_view s, FormulaStyle style = FormulaStyle::Inline) {
    return layout_formula(s, Made(), 20, style);
}

const FormulaBox& glyph(const FormulaLayout& f, char32_t c) {
    const auto it = std::find_if(f.boxes.begin(), f.boxes.end(), [&](const FormulaBox& b) {
        return b.kind == FormulaBox::Kind::Glyph && b.glyph == c;
    });
    REQUIRE(it != f.boxes.end());
    return *it;
}

const FormulaBox& of_kind(const FormulaLayout& f, FormulaBox::Kind kind) {
    const auto it = std::find_if(f.boxes.begin(), f.boxes.end(), [&](const FormulaBox& b) { return b.kind == kind; });
    REQUIRE(it != f.boxes.end());
    return *it;
}

std::vector<std::string> names(const FormulaLayout& f) {
    std::vector<std::string> out;
    for (const FormulaSymbol& s : f.symbols) out.push_back(s.name);
    return out;
}

}  // namespace

TEST_CASE("a subscript stands lower than its base, a superscript higher, both smaller and to the right") {
    const FormulaLayout f = lay("S_i^k");
    const FormulaBox &s = glyph(f, U'S'), &i = glyph(f, U'i'), &k = glyph(f, U'k');
    CHECK(s.y == 0);
    CHECK(i.y > 0);
    CHECK(k.y < 0);
    CHECK(i.size == 14);
    CHECK(i.x >= s.x + s.w);
    CHECK(k.x >= i.x);
    CHECK(k.y - k.ascent + k.h <= i.y - i.ascent);  // the two do not touch
    CHECK(f.ascent >= -(k.y - k.ascent) - 0.01f);
    CHECK(f.descent >= i.y);
}

TEST_CASE("scripts of scripts are smaller still") {
    const FormulaLayout f = lay("e^{m_{i}}");
    CHECK(glyph(f, U'm').size == 14);
    CHECK(glyph(f, U'i').size == 10);
    CHECK(glyph(f, U'i').y > glyph(f, U'm').y);
}

TEST_CASE("the bar of a fraction lies between its parts and is as wide as the wider one") {
    for (const FormulaStyle style : {FormulaStyle::Inline, FormulaStyle::Display}) {
        const FormulaLayout f = lay(R"(\frac{a}{bcd})", style);
        const FormulaBox &bar = of_kind(f, FormulaBox::Kind::Rule), &a = glyph(f, U'a'), &b = glyph(f, U'b'),
                         &d = glyph(f, U'd');
        CHECK(a.y <= bar.y);
        CHECK(b.y - b.ascent >= bar.y + bar.h);
        CHECK(bar.x <= b.x);
        CHECK(bar.x + bar.w >= d.x + d.w);
        CHECK(a.x + a.w / 2 == doctest::Approx((b.x + d.x + d.w) / 2).epsilon(0.02));
        CHECK(f.width == doctest::Approx(bar.w));
    }
}

TEST_CASE("widths add up: a row is its glyphs and the spaces between") {
    CHECK(lay("x").width == doctest::Approx(10));
    CHECK(lay("123").width == doctest::Approx(30));
    const float tight = lay("(x)").width;
    CHECK(tight == doctest::Approx(30));
    CHECK(lay("x=y").width > lay("xy").width);
    CHECK(lay("a+b").width > 30);
    CHECK(lay("-a").width == doctest::Approx(lay("(a").width).epsilon(0.1));  // a sign, not an operator
    const FormulaLayout f = lay(R"(\max(a, b))");
    for (std::size_t k = 1; k < f.boxes.size(); ++k) CHECK(f.boxes[k].x >= f.boxes[k - 1].x + f.boxes[k - 1].w - 0.01f);
}

TEST_CASE("the root's sign covers what is under it") {
    const FormulaLayout f = lay(R"(\sqrt{d})");
    const FormulaBox &sign = of_kind(f, FormulaBox::Kind::Radical), &d = glyph(f, U'd');
    CHECK(sign.y <= d.y - d.ascent);
    CHECK(sign.x + sign.w >= d.x + d.w);
    CHECK(sign.y + sign.h >= d.y);
}

TEST_CASE("a displayed sum has its limits below and above, an inline one beside") {
    const FormulaLayout display = lay(R"(\sum_{k=1}^{N} x)", FormulaStyle::Display), line = lay(R"(\sum_{k=1}^{N} x)");
    const FormulaBox &sum = glyph(display, U'∑'), &n = glyph(display, U'N'), &k = glyph(display, U'k');
    CHECK(n.y < sum.y - sum.ascent);
    CHECK(k.y - k.ascent > sum.y);
    CHECK(std::abs(n.x + n.w / 2 - (sum.x + sum.w / 2)) < 1.0f);
    CHECK(glyph(line, U'N').x >= glyph(line, U'∑').x + glyph(line, U'∑').w);
}

TEST_CASE("a fence grows with its content") {
    const FormulaLayout tall = lay(R"(\left( \frac{a}{b} \right))", FormulaStyle::Display),
                        low = lay(R"(\left( a \right))");
    const FormulaBox &big = of_kind(tall, FormulaBox::Kind::Delimiter),
                     &small = of_kind(low, FormulaBox::Kind::Delimiter);
    CHECK(big.h > small.h * 1.3f);
    CHECK(big.y <= glyph(tall, U'a').y - glyph(tall, U'a').ascent);
}

TEST_CASE("an accent sits above its letter") {
    const FormulaLayout f = lay(R"(\tilde{P})");
    const FormulaBox &p = glyph(f, U'P'), &tilde = of_kind(f, FormulaBox::Kind::Accent);
    CHECK(tilde.y + tilde.h <= p.y - p.ascent);
}

TEST_CASE("every tensor of a formula is a symbol with its place; other letters are none") {
    CHECK(names(lay(R"(S_{ij} = \tau Q_i K_j^\top)")) == std::vector<std::string>{"S_ij", "Q_i", "K_j"});
    CHECK(names(lay(R"(\tilde{O}_i + \tilde{P}_{ij} V_j)")) == std::vector<std::string>{"O_i", "P_ij", "V_j"});
    CHECK(names(lay(R"(e^{m_i^{(j-1)} - m_i^{(j)}} \ell_i)")) == std::vector<std::string>{"m_old", "m_i", "l_i"});
    CHECK(names(lay(R"(\mathbf{dQ}_i + dK_j + N B_r)")) == std::vector<std::string>{"dQ_i", "dK_j"});
    const FormulaLayout f = lay(R"(\tau S_{ij})");
    REQUIRE(f.symbols.size() == 1);
    const FormulaSymbol& s = f.symbols[0];
    for (const FormulaBox& b : f.boxes) {
        if (b.symbol != 0) continue;
        CHECK(b.x >= s.x - 0.01f);
        CHECK(b.x + b.w <= s.x + s.w + 0.01f);
    }
    CHECK(glyph(f, U'τ').symbol == -1);
    CHECK(glyph(f, U'j').symbol == 0);
}

TEST_CASE("a formula that does not parse is laid out as its source, with an error") {
    const FormulaLayout f = lay(R"(\foo)");
    CHECK_FALSE(f.error.empty());
    CHECK(f.boxes.size() == 4);
    CHECK(f.symbols.empty());
    CHECK(f.width == doctest::Approx(40));
    CHECK_FALSE(lay("\xff\xfe").error.empty());
    CHECK(lay("").boxes.empty());
    CHECK(lay("").error.empty());
}

TEST_CASE("a tensor's name typesets and names itself again") {
    for (const char* name : {"S_ij", "Q", "m_old", "l_i", "dK_j", "O_i", "L", "D_i"}) {
        const FormulaLayout f = lay(name_to_tex(name));
        CAPTURE(std::string(name));
        CHECK(f.error.empty());
        REQUIRE(f.symbols.size() == 1);
        CHECK(f.symbols[0].name == name);
    }
}

TEST_CASE("l has one spelling, in formulas and as a tile's name; in a word it stays a letter") {
    Headless screen;
    const auto glyphs = [&](std::string_view tex) {
        std::u32string found;
        for (const FormulaBox& box : layout_formula(screen.ui, tex, 17).boxes)
            if (box.kind == FormulaBox::Kind::Glyph) found += box.glyph;
        return found;
    };
    CHECK(glyphs("l_i") == U"ℓi");
    CHECK(glyphs("l_i") == glyphs("\\ell_i"));
    CHECK(glyphs("l_i") == glyphs(name_to_tex("l_i")));
    CHECK(glyphs("m_{old}") == U"mold");
    CHECK(glyphs("\\log(l)") == U"log(ℓ)");
}
