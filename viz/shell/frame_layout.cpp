// How the window is divided: left lesson above source, middle memory above map and explanation, right traffic above the
// comparison. What a larger window has to give goes to the middle first.
#include <algorithm>
#include <cmath>

#include "viz/shell/frame.h"

namespace flashstep::viz {

FrameLayout frame_layout(ImVec2 window, float scale, float notice, bool has_lesson, std::optional<Panel> focus) {
    FrameLayout l;
    const auto px = [scale](float design) { return std::round(design * scale); };
    l.too_small = window.x < px(kLeastWidth) || window.y < px(kLeastHeight);
    l.top = {0, 0, window.x, px(56)};
    const float strip = px(120);
    l.transport = {0, window.y - strip, window.x, strip};
    const float line = std::max(1.0f, std::round(scale));  // the separators
    const float top = l.top.bottom() + line + notice;
    const float height = std::max(px(80), window.y - strip - line - top);

    if (focus) {
        Box all{0, top, window.x, height};
        if (*focus == Panel::Explain) {  // the map and the explanation belong together
            const float map = std::round(std::min(window.x * 0.5f, height));
            l.score_map = {0, top, map, height};
            all.x = map + line;
            all.w = window.x - all.x;
        }
        l.panel[static_cast<int>(*focus)] = all;
        return l;
    }

    const float left = std::round(std::clamp(window.x * 0.25f, px(316), px(560)));
    const float right = std::round(std::clamp(window.x * 0.21f, px(284), px(460)));
    const float middle = window.x - left - right - 2 * line;
    // The pseudo-code of FA2 needs some 430 pixels; where there are more, the lesson has them.
    const float source =
        has_lesson ? std::round(std::clamp(height * 0.53f, px(220), std::max(px(220), px(560)))) : height - px(96);
    l.panel[static_cast<int>(Panel::Lesson)] = {0, top, left, height - source - line};
    l.panel[static_cast<int>(Panel::Source)] = {0, top + height - source, left, source};

    const float below = std::round(std::clamp(height * 0.36f, px(196), px(420)));
    const float map = std::round(std::clamp(middle * 0.34f, std::min(px(216), middle * 0.45f), below + px(40)));
    l.panel[static_cast<int>(Panel::Memory)] = {left + line, top, middle, height - below - line};
    l.score_map = {left + line, top + height - below, map, below};
    l.panel[static_cast<int>(Panel::Explain)] = {left + 2 * line + map, top + height - below, middle - map - line,
                                                 below};

    const float x = left + middle + 2 * line, compare = std::round(std::clamp(height * 0.42f, px(200), px(520)));
    l.panel[static_cast<int>(Panel::Traffic)] = {x, top, right, height - compare - line};
    l.panel[static_cast<int>(Panel::Compare)] = {x, top + height - compare, right, compare};
    return l;
}

}  // namespace flashstep::viz
