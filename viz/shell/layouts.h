// Layouts: how panels divide the window, as data. A layout is a tree of splits with a panel's id at each leaf.
#pragma once

#include <imgui.h>

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace flashstep::viz {

struct Box {
    float x = 0, y = 0, w = 0, h = 0;
    float right() const { return x + w; }
    float bottom() const { return y + h; }
};

// What an area takes of the split that it stands in. Limits are design pixels.
struct Length {
    static constexpr float kEndless = std::numeric_limits<float>::infinity();
    float share = 0;  // of the split's length
    float least = 0, most = kEndless;
    float least_share = 1;           // `least` gives way where it would be more than this share
    float beyond_square = kEndless;  // no longer than the split is thick and this much more
};

enum class Direction { Across, Down };  // side by side, one below another
enum class Joins { No, Here };          // Here: the panels that join stand in it; while there are none it is not there

struct Area {
    std::string_view panel = {};        // id; empty: a split
    std::optional<Length> length = {};  // none: what the other parts leave. Where none leaves it, the last part does
    float folded = 0;                   // what it takes, with its separator, while its panel has nothing to show
    Direction direction = Direction::Down;
    std::vector<Area> parts = {};
    Joins joins = Joins::No;
};

struct Layout {
    std::string_view id;
    Area whole;
};

// By kLayoutIds of lab/start.h.
std::span<const Layout> layouts();
const Layout& layout_named(std::string_view id);  // throws Error naming those that there are
// A panel that is shown alone, with what belongs beside it.
Area alone(std::string_view panel);

// Where everything stands, in screen pixels.
struct Arrangement {
    struct Place {
        std::string_view panel;
        Box box;
    };
    std::vector<Place> panels;
    std::vector<Box> separators;
    // Empty where the panel is not shown.
    Box box(std::string_view panel) const;
};

// What is there besides the layout's own panels, and what of them is not needed.
struct Occasion {
    std::vector<std::string_view> folded = {};  // panels with nothing to show
    std::vector<std::string_view> joined = {};  // panels that are called in, in their order
};

// Divides `box`.
Arrangement arrange(const Area& whole, const Box& box, float scale, const Occasion& occasion = {});

// Thickness of a separator.
float separator(float scale);

}  // namespace flashstep::viz
