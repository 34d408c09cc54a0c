// Colours of the two themes, the hue of every tensor, and the Dear ImGui style of flashstep.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "lab/start.h"

namespace flashstep::viz {

struct Rgb {
    float r = 0, g = 0, b = 0;  // sRGB, 0..1
    bool operator==(const Rgb&) const = default;
};

constexpr Rgb rgb(unsigned hex) {
    return {static_cast<float>(hex >> 16 & 255) / 255.0f, static_cast<float>(hex >> 8 & 255) / 255.0f,
            static_cast<float>(hex & 255) / 255.0f};
}

float luminance(Rgb c);                // relative luminance of WCAG, 0..1
float contrast(Rgb a, Rgb b);          // 1..21
float distance(Rgb a, Rgb b);          // Euclidean in Oklab; about 0.02 is the least that an eye tells apart
Rgb mix(Rgb a, Rgb b, float t);        // t = 0: a, t = 1: b
unsigned u32(Rgb c, float alpha = 1);  // as ImDrawList takes it (the value of an ImU32)
// `c` with its luminance moved away from the ground, as little as needed, until it meets `ratio` on every ground.
Rgb shade(Rgb c, const Rgb* grounds, int count, float ratio);
Rgb deuteranopia(Rgb c);  // how a person without green cones sees it (Machado et al. 2009)

// Each family has one hue everywhere. Stat: m, l, L, D. Other: names that are no tensor of the papers (shown as text).
enum class Family { Q, K, V, S, P, O, Stat, Other };
constexpr int kFamilies = 8;

// A gradient has its tensor's hue on a hatched ground.
struct TensorStyle {
    Family family = Family::Other;
    bool gradient = false;
    bool operator==(const TensorStyle&) const = default;
};

// "S_ij" -> S, "dK_j" -> K with a gradient's hatch, "m_old", "L_i" -> Stat; X and x are scores, p a probability. What
// follows the first underscore does not matter.
TensorStyle tensor_style(std::string_view name);

// Ground and text of a cell as ImU32; the text meets 4.5:1 on the ground, and on the ground with a hatch line over it.
struct TintLevel {
    unsigned ground = 0, text = 0, hatch = 0;
};
constexpr int kTintLevels = 129;

struct Theme {
    ThemeMode mode = ThemeMode::Dark;
    Rgb ground, panel, raised, line, text, quiet;
    Rgb accent;                           // "now": the current line, the playhead, the framed block; nothing else
    Rgb alarm;                            // divergence, overflow, NaN and inf; nothing else
    std::array<Rgb, kFamilies> hue;       // for cells, bars and dots
    std::array<Rgb, kFamilies> text_hue;  // the shade for text and symbols: 4.5:1 on ground, panel and raised
    Rgb negative;                         // tint of negative cells at full scale
    std::array<std::array<TintLevel, kTintLevels>, kFamilies> levels;

    Rgb of(Family f) const { return hue[static_cast<int>(f)]; }
    Rgb text_of(Family f) const { return text_hue[static_cast<int>(f)]; }
    Rgb of(std::string_view tensor) const { return of(tensor_style(tensor).family); }
    Rgb text_of(std::string_view tensor) const { return text_of(tensor_style(tensor).family); }
    // Ground of a cell: `t` in -1..1 is value / scale; the panel at 0, the hue at 1, a neutral grey at -1.
    Rgb tint(Family f, float t) const;
    // The same rounded to one of kTintLevels steps, computed once: cheap enough for every cell of a big grid.
    const TintLevel& level(Family f, float t) const {
        const float clamped = t >= -1 ? (t > 1 ? 1.0f : t) : -1.0f;
        return levels[static_cast<int>(f)][static_cast<int>((clamped + 1) * 0.5f * (kTintLevels - 1) + 0.5f)];
    }
    // The theme's text colour if it meets 4.5:1 on `ground`, else black or white, whichever does.
    Rgb text_on(Rgb ground) const;
    Rgb hatch_on(Rgb ground) const;  // of the lines over a gradient's cells
};

const Theme& theme(ThemeMode mode);  // computed once

// Sets ImGui::GetStyle() of the current context: 4 px grid, padding 12, gaps 8, corners 4, all times `scale`
// (content scale x zoom). Call again when theme or scale changes.
void apply_style(const Theme& theme, float scale);

}  // namespace flashstep::viz
