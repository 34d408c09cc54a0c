// Widgets and lesson texts in a context without window: the mouse finds cells, symbols, links and buttons.
#include <doctest/doctest.h>
#include <imgui.h>

#include <limits>
#include <string>
#include <vector>

#include "lab/format.h"
#include "viz/shell/headless.h"
#include "viz/text/font.h"
#include "viz/text/markdown.h"
#include "viz/widgets/widgets.h"

using namespace flashstep;
using namespace flashstep::viz;

namespace {

const std::vector<double> kValues = {1, -0.25, 0.333333, 2, 0, -1.5, 0.125, 3, -2, 0.5, 1, 1};

constexpr GridFit kNumbers{.cell_w = 60, .cell_h = 24, .number_px = 15}, kTiny{.cell_w = 0.25f, .cell_h = 0.25f};

MatrixGrid grid_of(const std::vector<double>& values, int rows, int cols) {
    MatrixGrid g;
    g.id = "grid";
    g.tensor = "Q";
    g.data = values.data();
    g.rows = rows;
    g.cols = cols;
    g.scale = 3;
    return g;
}

}  // namespace

TEST_CASE("fonts are complete or say what is missing, and every size is there") {
    Headless h;
    const Fonts& f = h.ui.fonts;
    for (ImFont* font : {f.body, f.bold, f.small, f.heading, f.number, f.number_small}) {
        REQUIRE(font != nullptr);
        CHECK(glyph_of(font, 'A') != nullptr);
    }
    for (const auto& face : f.math) {
        for (ImFont* font : face) CHECK(font != nullptr);
    }
    if (!f.message.empty()) return;
    for (const char32_t c : {U'−', U'∞', U'×', U'←', U'≤'}) {
        CHECK(glyph_of(f.number, static_cast<ImWchar>(c)) != nullptr);
        CHECK(glyph_of(f.math[0][4], static_cast<ImWchar>(c)) != nullptr);
    }
    CHECK(glyph_of(f.body, static_cast<ImWchar>(U'课')) != nullptr);
    // Figures of one width: columns align.
    for (char c = '0'; c <= '9'; ++c)
        CHECK(char_advance(f.number, static_cast<ImWchar>(c)) == char_advance(f.number, '0'));
    CHECK(char_advance(f.number, static_cast<ImWchar>(U'−')) == char_advance(f.number, '0'));
}

TEST_CASE("without any font file text is still drawn, and one message says why") {
    Headless h;
    ImFontAtlas atlas;
    const Fonts f = build_fonts(atlas, 1, FontFiles{});
    REQUIRE(f.body != nullptr);
    CHECK(glyph_of(f.body, 'A') != nullptr);
    CHECK(f.math[1][0] != nullptr);
    CHECK(f.message.find("fonts-noto-cjk") != std::string::npos);
    atlas.Clear();
}

TEST_CASE("the mouse finds the cell it is over, clicks it, and makes the tensor hot") {
    Headless h;
    const MatrixGrid g = grid_of(kValues, 4, 3);
    const GridFit fit = kNumbers;
    GridEvent event;
    bool clicked = false;
    const auto draw = [&](Ui& ui) {
        event = matrix_grid(ui, g, fit, {100, 50});
        clicked = clicked || event.clicked;
    };
    h.frame(draw);
    CHECK_FALSE(event.hovered);
    h.move(100 + 2.5f * fit.cell_w, 50 + 1.5f * fit.cell_h, draw);
    CHECK(event.hovered);
    CHECK(event.row == 1);
    CHECK(event.col == 2);
    CHECK(h.ui.hot.is("Q"));
    CHECK_FALSE(clicked);
    h.click(100 + 0.5f * fit.cell_w, 50 + 3.5f * fit.cell_h, draw);
    CHECK(clicked);
    h.move(5, 5, draw);
    CHECK_FALSE(event.hovered);
    CHECK_FALSE(h.ui.hot.is("Q"));
}

TEST_CASE("odd grids draw without harm: empty, not written, tiny cells, NaN and infinities, a zero scale") {
    Headless h;
    std::vector<double> odd(12, std::numeric_limits<double>::quiet_NaN());
    odd[1] = std::numeric_limits<double>::infinity();
    odd[2] = -odd[1];
    odd[3] = 1e308;
    std::vector<double> big(512 * 512, 0.5);
    h.frame([&](Ui& ui) {
        MatrixGrid g = grid_of(odd, 4, 3);
        g.scale = 0;
        g.flash = 1;
        g.alpha = 0.3f;
        g.block_numbers = true;
        g.row_block = 2;
        g.frame = {2, 2, 2, 1};
        g.read = {0, 0, 4, 3};
        g.mark_row = g.mark_col = 0;
        matrix_grid(ui, g, kNumbers, {40, 40});
        g.id = "null";
        g.data = nullptr;
        matrix_grid(ui, g, kNumbers, {40, 300});
        g.id = "none";
        g.rows = 0;
        matrix_grid(ui, g, kNumbers, {40, 300});
        MatrixGrid b = grid_of(big, 512, 512);
        b.id = "big";
        b.tensor = "dS";
        matrix_grid(ui, b, kTiny, {600, 40});
    });
    CHECK(ImGui::GetDrawData()->TotalVtxCount > 0);
}

TEST_CASE("hovering a symbol of a formula lights up the same tensor in a grid and in a bar") {
    Headless h;
    const MatrixGrid g = grid_of(kValues, 4, 3);
    bool bar_hot = false;
    float x = 0, y = 0;
    const auto draw = [&](Ui& ui) {
        const FormulaLayout& f = ui.formulas.get(ui, "O = Q K^\\top", 17);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        formula(ui, f);
        REQUIRE(f.symbols.size() == 3);
        x = at.x + f.symbols[1].x + f.symbols[1].w / 2;
        y = at.y + 14;
        matrix_grid(ui, g, kNumbers, {200, 200});
        bar_hot = ui.hot.is("Q");
    };
    h.frame(draw);
    h.move(x, y, draw);
    CHECK(bar_hot);
    CHECK(h.ui.hot.current() == "Q");
}

TEST_CASE("buttons answer to clicks, disabled ones do not, a segmented control changes once") {
    Headless h;
    int pressed = 0, choice = 0, changes = 0;
    ImVec2 on, off, second;
    const char* const labels[] = {"Pseudo-code", "CUDA"};
    const auto draw = [&](Ui& ui) {
        on = ImGui::GetCursorScreenPos();
        pressed += icon_button(ui, "on", Icon::Play, "Play");
        off = ImGui::GetCursorScreenPos();
        pressed += icon_button(ui, "off", Icon::Last, "Last", Enabled::No);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        changes += segmented(ui, "view", labels, choice);
        second = {ImGui::GetItemRectMax().x - 10, at.y + 10};
        badge(ui, BadgeKind::Differs, "differs");
        section_header(ui, "Traffic", "bytes");
        value_row(ui, "total", "12");
        empty_state(ui, "Nothing here.");
    };
    h.frame(draw);
    h.click(on.x + 16, on.y + 16, draw);
    CHECK(pressed == 1);
    h.click(off.x + 16, off.y + 16, draw);
    CHECK(pressed == 1);
    h.click(second.x, second.y, draw);
    CHECK(changes == 1);
    CHECK(choice == 1);
    h.click(second.x, second.y, draw);
    CHECK(changes == 1);
}

TEST_CASE("the capacity bar names the tile under the mouse") {
    Headless h;
    const CapacityPart parts[] = {{"Q_i", 256}, {"K_j", 256}, {"dP_ij", 512}};
    int over = -1;
    ImVec2 at;
    float width = 0;
    const auto draw = [&](Ui& ui) {
        at = ImGui::GetCursorScreenPos();
        width = ImGui::GetContentRegionAvail().x;
        over = capacity_bar(ui, "bar", parts, 768, 900);
    };
    h.frame(draw);
    CHECK(over == -1);
    h.move(at.x + width * 0.4f, at.y + 8, draw);
    CHECK(over == 1);
    CHECK(h.ui.hot.is("K_j"));
}

TEST_CASE("keys need exactly their modifiers") {
    Headless h;
    int plain = 0, shifted = 0, quick = 0;
    const auto draw = [&](Ui&) {
        plain += key_pressed(Key::Right);
        shifted += key_pressed(Key::Right, {.shift = true});
        quick += key_pressed(Key::P, {.ctrl = true});
    };
    h.frame(draw);
    h.press(Key::Right, {}, draw);
    CHECK(plain == 1);
    CHECK(shifted == 0);
    h.press(Key::Right, {.shift = true}, draw);
    CHECK(plain == 1);
    CHECK(shifted == 1);
    h.press(Key::P, {.ctrl = true}, draw);
    h.press(Key::P, {}, draw);
    CHECK(quick == 1);
}
