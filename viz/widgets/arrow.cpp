// Draws a route as a polyline, cut where it has come to.
#include "viz/widgets/arrow.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "viz/text/text.h"
#include "viz/widgets/measures.h"

namespace flashstep::viz {
namespace {

// Design pixels.
constexpr float kBend = 6;                         // radius of a corner
constexpr float kHead = 7, kHalfHeadWidth = 0.6f;  // length; of it, to each side
constexpr float kHeadOverlap = 0.8f;               // of the head's length, where the line ends
constexpr float kHalo = 3;                         // how much wider the line below is
constexpr float kStartDot = 1.4f;                  // radius, of the line's width
constexpr int kBendPieces = 5;
constexpr float kShort = 0.5f, kNoLength = 0.01f;  // screen pixels: no bend, no piece

float length(ImVec2 a, ImVec2 b) { return std::hypot(b.x - a.x, b.y - a.y); }
ImVec2 between(ImVec2 a, ImVec2 b, float t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; }

// The route with every corner replaced by a few points of a curve.
std::vector<ImVec2> rounded(std::span<const ImVec2> points, float radius) {
    std::vector<ImVec2> out = {points.front()};
    for (std::size_t k = 1; k + 1 < points.size(); ++k) {
        const ImVec2 a = points[k - 1], b = points[k], c = points[k + 1];
        const float before = length(a, b), after = length(b, c), r = std::min({radius, before / 2, after / 2});
        if (r < kShort) continue;
        const ImVec2 from = between(b, a, r / before), to = between(b, c, r / after);
        for (int s = 0; s <= kBendPieces; ++s) {
            const float t = static_cast<float>(s) / kBendPieces;
            out.push_back(between(between(from, b, t), between(b, to, t), t));
        }
    }
    out.push_back(points.back());
    return out;
}

}  // namespace

void route_arrow(Ui& ui, ImDrawList* draw, std::span<const ImVec2> points, Rgb color, float progress) {
    if (points.size() < 2) return;
    const Theme& t = ui.theme();
    const std::vector<ImVec2> route = rounded(points, ui.px(kBend));
    float total = 0;
    for (std::size_t k = 1; k < route.size(); ++k) total += length(route[k - 1], route[k]);
    const float head = ui.px(kHead), width = std::max(kThinStroke, ui.px(kStroke));
    float rest = std::clamp(progress, 0.0f, 1.0f) * total;
    ImVec2 tip = route.front(), toward = {0, 1};
    // Under the line a wider one in the ground's colour, so that it stands off from what it passes.
    std::vector<ImVec2> travelled = {route.front()};
    for (std::size_t k = 1; k < route.size() && rest > 0; ++k) {
        const float piece = length(route[k - 1], route[k]);
        if (piece < kNoLength) continue;
        toward = {(route[k].x - route[k - 1].x) / piece, (route[k].y - route[k - 1].y) / piece};
        tip = piece <= rest ? route[k] : between(route[k - 1], route[k], rest / piece);
        travelled.push_back(tip);
        rest -= piece;
    }
    if (travelled.size() > 1) {
        const ImVec2 end = travelled.back();
        travelled.back() = {end.x - toward.x * head * kHeadOverlap, end.y - toward.y * head * kHeadOverlap};
        const int count = static_cast<int>(travelled.size());
        draw->AddPolyline(travelled.data(), count, u32(t.panel), 0, width + ui.px(kHalo));
        draw->AddPolyline(travelled.data(), count, u32(color), 0, width);
        const ImVec2 side(-toward.y * head * kHalfHeadWidth, toward.x * head * kHalfHeadWidth),
            back(tip.x - toward.x * head, tip.y - toward.y * head);
        draw->AddTriangleFilled(tip, {back.x + side.x, back.y + side.y}, {back.x - side.x, back.y - side.y},
                                u32(color));
    }
    draw->AddCircleFilled(route.front(), width * kStartDot, u32(color));
}

void draw_arrow_label(Ui& ui, ImDrawList* draw, const ArrowLabel& label, float left, float right) {
    const Theme& t = ui.theme();
    ImFont* font = ui.fonts.number_small;
    const ImVec2 size = text_size(font, label.text),
                 pad(std::round(ui.px(kSmallGap)), std::round(ui.px(kSmallGap / 2)));
    const float x =
        std::clamp(label.middle.x - size.x / 2, left + pad.x, std::max(left + pad.x, right - size.x - pad.x));
    const ImVec2 at(std::round(x), std::round(label.middle.y - size.y / 2));
    const ImVec2 a(at.x - pad.x, at.y - pad.y), b(at.x + size.x + pad.x, at.y + size.y + pad.y);
    draw->AddRectFilled(a, b, u32(t.raised), ui.px(kCorner));
    draw->AddRect(a, b, u32(label.color), ui.px(kCorner));
    draw_text(draw, font, at, u32(t.text), label.text);
}

}  // namespace flashstep::viz
