// The pieces that panels are made of. Sizes that a function takes or returns are screen pixels unless it says design.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "viz/shell/ui.h"

namespace flashstep::viz {

// ---- A matrix drawn to its shape

// How large cells are. `number_px` is the design size of the numbers in them, 15 or 12; 0: heat map.
struct GridFit {
    float cell_w = 0, cell_h = 0;
    float number_px = 0;
};

struct GridRange {
    int row = 0, col = 0, rows = 0, cols = 0;  // rows = 0: nothing
};

struct MatrixGrid {
    const char* id = "";            // of the ImGui item
    std::string_view tensor;        // gives hue and hatch, and is reported to ui.hot
    const double* data = nullptr;   // row-major; null: empty cells (allocated, not written yet)
    const bool* written = nullptr;  // by cell, laid out as `data`: false leaves it empty; null: all are written
    int rows = 0, cols = 0;
    double scale = 1;                  // |value| of the full tint, fixed over the trace
    int row_block = 0;                 // a thicker rule after so many rows; 0: none
    bool block_numbers = false;        // 1, 2, ... in the gutter left of the cells
    GridRange frame;                   // the block that "now" is about, in the accent
    GridRange read;                    // outlined: the current step reads it
    float flash = 0;                   // 1: just written, 0: settled
    float alpha = 1;                   // below 1: fading out
    const bool* spoiled = nullptr;     // by cell, laid out as `data`: a mistake made it wrong; null: none
    int mark_row = -1, mark_col = -1;  // a cell to point out (first difference), in the alarm colour
};

struct GridEvent {
    bool hovered = false, clicked = false;
    int row = -1, col = -1;
};

constexpr float kGridGutter = 20;  // design pixels that block numbers take left of the cells

// The corner that says so, of a cell from `a` to `b`.
void spoiled_corner(const Ui& ui, ImDrawList* draw, ImVec2 a, ImVec2 b, float alpha = 1);

// Draws with the first cell's corner at `at` and takes the mouse. Call inside a window; the cursor is left below the
// grid.
GridEvent matrix_grid(Ui& ui, const MatrixGrid& grid, const GridFit& fit, ImVec2 at);
inline ImVec2 grid_size(const MatrixGrid& grid, const GridFit& fit) {
    return {fit.cell_w * static_cast<float>(grid.cols), fit.cell_h * static_cast<float>(grid.rows)};
}

// ---- Bars

struct CapacityPart {
    std::string_view tensor;
    std::int64_t bytes = 0;
    float alpha = 1;
};
// On-chip memory by tile, full width at `capacity` (0: no limit; then at the largest of peak and sum). What is over the
// capacity is drawn in the alarm colour. Returns the part under the mouse, or -1. Takes the width that is left.
int capacity_bar(Ui& ui, const char* id, std::span<const CapacityPart> parts, std::int64_t capacity, std::int64_t peak);

struct BarRow {
    std::string_view tensor;  // label, typeset; hue of the bar
    std::string_view label;   // plain text instead of the tensor's name
    double read = 0, write = 0;
    double ghost = -1;        // the same of standard attention, as an outline; < 0: none
    double full = 1;          // value of the full length, the same for all rows of a table
    std::string_view number;  // at the right end
};
// One row. Returns whether the mouse is over it.
bool bar_row(Ui& ui, const BarRow& row);

// ---- Controls

// Returns true when the choice changed.
bool segmented(Ui& ui, const char* id, std::span<const char* const> labels, int& current);

enum class Icon {
    First,
    PreviousRow,
    PreviousTile,
    PreviousLine,
    Play,
    Pause,
    NextLine,
    NextTile,
    NextRow,
    Last,
    Bookmark,
    BookmarkFilled,
    Close,
    Help,
    Check,
    Cross,
    Warning
};
void draw_icon(ImDrawList* draw, Icon icon, ImVec2 center, float size, unsigned color);
// A 32 x 32 design pixel button; `tip` is shown on hover.
enum class Enabled { No, Yes };
bool icon_button(Ui& ui, const char* id, Icon icon, const char* tip, Enabled enabled = Enabled::Yes);

// Title of a panel or of a part of one, with quiet text at the right end.
void section_header(Ui& ui, std::string_view title, std::string_view right = {});

enum class BadgeKind { Ok, Differs, Neutral };
void badge(Ui& ui, BadgeKind kind, std::string_view text);

// One sentence in the middle of what is left of the panel.
void empty_state(Ui& ui, std::string_view text);

// A quiet label and, aligned at the right end of the line, a number in the monospaced face.
void value_row(Ui& ui, std::string_view label, std::string_view number);

// Quiet or small text at the cursor.
void small_text(Ui& ui, std::string_view text);
// The same on one line: a tooltip is as wide as its lines, so that none may wrap.
void tip_text(Ui& ui, std::string_view text);
// Sentences in a tooltip: wrapped at 520 design pixels.
void wrapped_tip_text(Ui& ui, std::string_view text);

// Tooltip with our padding: if (begin_tip(ui)) { ...; end_tip(); }
bool begin_tip(Ui& ui);
void end_tip();

// ---- Drawing

// Diagonal lines that say "gradient", clipped to the rectangle.
void hatch(ImDrawList* draw, ImVec2 min, ImVec2 max, unsigned color, float spacing, float thickness = 1);

// A typeset tensor name with its baseline at `at`; live. Returns its width.
float tensor_name(Ui& ui, ImDrawList* draw, ImVec2 at, std::string_view tensor, float design_px = 17);

// 0..1 -> 0..1, fast first.
float ease_out(float t);

}  // namespace flashstep::viz
