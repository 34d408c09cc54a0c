// How the window is divided: the bars above and below, the bar with an error, and between them the panels.
#include <algorithm>
#include <cmath>

#include "viz/shell/frame.h"

namespace flashstep::viz {
namespace {

constexpr float kTopBar = 56, kTransport = 120, kLeastPanels = 80;  // heights, design pixels

}  // namespace

FrameLayout frame_layout(ImVec2 window, float scale, float notice, const Area& arrangement, const Occasion& occasion) {
    FrameLayout l;
    const auto px = [scale](float design) { return std::round(design * scale); };
    l.too_small = window.x < px(kLeastWidth) || window.y < px(kLeastHeight);
    l.top = {0, 0, window.x, px(kTopBar)};
    l.transport = {0, window.y - px(kTransport), window.x, px(kTransport)};
    const float line = separator(scale), top = l.top.bottom() + line + notice;
    const float height = std::max(px(kLeastPanels), l.transport.y - line - top);
    l.panels = arrange(arrangement, {0, top, window.x, height}, scale, occasion);
    return l;
}

}  // namespace flashstep::viz
