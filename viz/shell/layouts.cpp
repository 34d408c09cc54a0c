// The layouts that there are, and how a tree of splits divides a box.
#include "viz/shell/layouts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"

namespace flashstep::viz {
namespace {

Area panel(std::string_view id, std::optional<Length> length = {}, float folded = 0) {
    return {.panel = id, .length = length, .folded = folded};
}
Area across(std::optional<Length> length, std::vector<Area> parts) {
    return {.length = length, .direction = Direction::Across, .parts = std::move(parts)};
}
Area down(std::optional<Length> length, std::vector<Area> parts) {
    return {.length = length, .direction = Direction::Down, .parts = std::move(parts)};
}
Area joining(Length length) { return {.length = length, .joins = Joins::Here}; }

constexpr std::nullopt_t kRest = std::nullopt;

// Left the text above the source, in the middle the memory above map and explanation, right the counts above the
// comparison. What a larger window has to give goes to the middle first. The pseudo-code of FA2 needs some 430
// pixels; it scrolls to the line that runs, so that a beat of the lesson with its question has the room.
// clang-format off
Area workbench() {
    return across(
        kRest,
        {
            down(Length{.share = 0.25f, .least = 316, .most = 560},
                 {joining(Length{.share = 0.42f, .least = 220, .most = 420}), panel("lesson", kRest, 96),
                  panel("source", Length{.share = 0.38f, .least = 190, .most = 430})}),
            down(kRest,
                 {panel("memory"),
                  across(Length{.share = 0.31f, .least = 168, .most = 420},
                         {panel("map", Length{.share = 0.34f, .least = 216, .least_share = 0.45f, .beyond_square = 40}),
                          panel("explain")})}),
            down(Length{.share = 0.21f, .least = 284, .most = 460},
                 {panel("traffic"), panel("compare", Length{.share = 0.42f, .least = 200, .most = 520})}),
        });
}

// What is read, what it is about, and the number that it explains; nothing else until a part of the text calls it.
Area lesson() {
    return across(
        kRest,
        {
            panel("lesson", Length{.share = 0.29f, .least = 340, .most = 620}),
            down(kRest, {panel("memory"), panel("explain", Length{.share = 0.34f, .least = 176, .most = 380})}),
            joining(Length{.share = 0.22f, .least = 284, .most = 460}),
        });
}

// The map and the explanation belong together.
Area explain_alone() {
    return across(kRest, {panel("map", Length{.share = 0.5f, .beyond_square = 0}), panel("explain")});
}
// clang-format on

bool stands_in(const Area& area, std::string_view id) {
    return area.panel == id || std::ranges::any_of(area.parts, [&](const Area& part) { return stands_in(part, id); });
}

// The tree with the panels that join it, without those that have a place in it already.
Area with_joined(Area area, std::span<const std::string_view> joined) {
    std::erase_if(area.parts, [&](const Area& part) { return part.joins == Joins::Here && joined.empty(); });
    for (Area& part : area.parts) {
        part = with_joined(std::move(part), joined);
        if (part.joins == Joins::No) continue;
        for (const std::string_view id : joined)
            part.parts.push_back(panel(id, Length{.share = 1 / static_cast<float>(joined.size())}));
    }
    return area;
}

// One walk over the tree.
struct Divider {
    float scale;
    std::span<const std::string_view> folded;
    Arrangement out = {};

    float px(float design) const { return std::round(design * scale); }

    // Screen pixels that an area asks for; nothing: it takes the rest.
    std::optional<float> wanted(const Area& area, float length, float thickness) const {
        if (area.folded > 0 && std::ranges::find(folded, area.panel) != folded.end())
            return px(area.folded) - separator(scale);
        if (!area.length) return std::nullopt;
        const Length& l = *area.length;
        const float least = std::min(px(l.least), length * l.least_share);
        const float most = std::min(px(l.most), thickness + px(l.beyond_square));
        return std::round(std::clamp(length * l.share, least, std::max(least, most)));
    }

    void divide(const Area& area, const Box& box) {
        if (area.parts.empty()) {
            out.panels.push_back({area.panel, box});
            return;
        }
        const bool across = area.direction == Direction::Across;
        const float length = across ? box.w : box.h, thickness = across ? box.h : box.w, line = separator(scale);
        std::vector<std::optional<float>> sizes;
        for (const Area& child : area.parts) sizes.push_back(wanted(child, length, thickness));
        if (std::ranges::all_of(sizes, [](const auto& size) { return size.has_value(); })) sizes.back().reset();
        float rest = length - line * static_cast<float>(sizes.size() - 1);
        for (const auto& size : sizes) rest -= size.value_or(0);
        float at = across ? box.x : box.y;
        for (std::size_t k = 0; k < sizes.size(); ++k) {
            const auto piece = [&](float size) {
                const float from = std::exchange(at, at + size);
                return across ? Box{from, box.y, size, box.h} : Box{box.x, from, box.w, size};
            };
            if (k > 0) out.separators.push_back(piece(line));
            divide(area.parts[k], piece(sizes[k].value_or(rest)));
        }
    }
};

}  // namespace

std::span<const Layout> layouts() {
    static const std::array table = {
        Layout{"lesson", lesson()},
        Layout{"workbench", workbench()},
    };
    return table;
}

const Layout& layout_named(std::string_view id) {
    std::string known;
    for (const Layout& layout : layouts()) {
        if (layout.id == id) return layout;
        known += (known.empty() ? "" : ", ") + std::string(layout.id);
    }
    throw Error("there is no layout called " + std::string(id) + "; there are: " + known);
}

Area alone(std::string_view id) {
    static const std::array with_company = {
        Layout{"explain", explain_alone()},
    };
    const auto found = std::ranges::find(with_company, id, &Layout::id);
    return found == with_company.end() ? panel(id) : found->whole;
}

Box Arrangement::box(std::string_view panel) const {
    const auto found = std::ranges::find(panels, panel, &Place::panel);
    return found == panels.end() ? Box{} : found->box;
}

float separator(float scale) { return std::max(1.0f, std::round(scale)); }

Arrangement arrange(const Area& whole, const Box& box, float scale, const Occasion& occasion) {
    std::vector<std::string_view> joined;
    for (const std::string_view id : occasion.joined)
        if (!stands_in(whole, id) && std::ranges::find(joined, id) == joined.end()) joined.push_back(id);
    Divider divider{scale, occasion.folded};
    divider.divide(with_joined(whole, joined), box);
    return std::move(divider.out);
}

}  // namespace flashstep::viz
