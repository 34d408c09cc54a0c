// A list of lines of code in the monospaced face, which scrolls: what CUDA source and PTX share.
#pragma once

#include <imgui.h>

#include <functional>
#include <string>

#include "viz/shell/ui.h"

namespace flashstep::viz {

// Keeps [top, bottom] (screen pixels from the content's top) in the middle part of the window that scrolls.
void scroll_to(float top, float bottom);

struct CodeList {
    const char* id;
    ImVec2 size;
    int lines = 0;
    float width = 0;           // of the longest, in pixels
    int first = -1, last = 0;  // lines to be seen; -1: none
};

// Draws those in the window, each from its upper left corner. When the first line to be seen is another than
// `scrolled_to`, scrolls to it. Returns the line that was clicked, or -1.
int draw_code_list(const Ui& ui, const CodeList& list, int& scrolled_to,
                   const std::function<void(int line, ImVec2 at, float width)>& draw_line);

// ---- For a line that is drawn.

float code_baseline(const Ui& ui, ImVec2 at);
void mark_code_line(const Ui& ui, ImVec2 at, float width);
// A quiet number that ends at `end`; strength 0 to 1.
void draw_code_number(const Ui& ui, float end, float baseline, const std::string& number, float strength);

}  // namespace flashstep::viz
