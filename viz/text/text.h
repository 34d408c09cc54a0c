// Text at a place: what panels that lay themselves out need beside ImGui's own items. Screen pixels.
#pragma once

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "viz/text/font.h"

namespace flashstep::viz {

// Dear ImGui takes a null end for "up to the terminating zero": an empty view, whose pointers may be null, never
// reaches it.
inline ImVec2 text_size(const ImFont* font, std::string_view text) {
    if (text.empty()) return {0, font_height(font)};
    return measured(font, text.data(), text.data() + text.size());
}

inline float text_width(const ImFont* font, std::string_view text) { return text_size(font, text).x; }

// With its top left corner at `at`, on whole pixels.
inline void draw_text(ImDrawList* draw, ImFont* font, ImVec2 at, unsigned color, std::string_view text) {
    if (text.empty()) return;
    draw->AddText(font, font_height(font), {std::round(at.x), std::round(at.y)}, color, text.data(),
                  text.data() + text.size());
}

// With its baseline at y, so that texts of different sizes stand on one line.
inline void draw_text_on(ImDrawList* draw, ImFont* font, float x, float y, unsigned color, std::string_view text) {
    draw_text(draw, font, {x, y - font_ascent(font)}, color, text);
}

// `text` cut at the end, with an ellipsis, where it is wider than `width`.
inline std::string fitted(const ImFont* font, std::string_view text, float width) {
    if (text_width(font, text) <= width) return std::string(text);
    if (text.empty()) return {};
    const float rest = width - text_width(font, "…");
    const char* end = text.data();
    measured(font, text.data(), text.data() + text.size(), 0, std::max(rest, 1.0f), &end);
    std::string cut(text.data(), end);
    while (!cut.empty() && cut.back() == ' ') cut.pop_back();
    return cut + "…";
}

}  // namespace flashstep::viz
