// Colours: contrast after WCAG 2, shades moved in Oklab so that a hue stays itself, tints of cells.
#include "viz/shell/theme.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace flashstep::viz {
namespace {

float to_linear(float c) { return c <= 0.04045f ? c / 12.92f : std::pow((c + 0.055f) / 1.055f, 2.4f); }

float to_srgb(float c) {
    c = std::clamp(c, 0.0f, 1.0f);
    return c <= 0.0031308f ? c * 12.92f : 1.055f * std::pow(c, 1 / 2.4f) - 0.055f;
}

struct Lab {
    float l, a, b;
};

// Oklab (B. Ottosson, 2020).
Lab oklab(Rgb c) {
    const float r = to_linear(c.r), g = to_linear(c.g), b = to_linear(c.b);
    const float l = std::cbrt(0.4122214708f * r + 0.5363325363f * g + 0.0514459929f * b);
    const float m = std::cbrt(0.2119034982f * r + 0.6806995451f * g + 0.1073969566f * b);
    const float s = std::cbrt(0.0883024619f * r + 0.2817188376f * g + 0.6299787005f * b);
    return {0.2104542553f * l + 0.7936177850f * m - 0.0040720468f * s,
            1.9779984951f * l - 2.4285922050f * m + 0.4505937099f * s,
            0.0259040371f * l + 0.7827717662f * m - 0.8086757660f * s};
}

Rgb from_oklab(Lab c) {
    const float l = std::pow(c.l + 0.3963377774f * c.a + 0.2158037573f * c.b, 3.0f);
    const float m = std::pow(c.l - 0.1055613458f * c.a - 0.0638541728f * c.b, 3.0f);
    const float s = std::pow(c.l - 0.0894841775f * c.a - 1.2914855480f * c.b, 3.0f);
    return {to_srgb(4.0767416621f * l - 3.3077115913f * m + 0.2309699292f * s),
            to_srgb(-1.2684380046f * l + 2.6097574011f * m - 0.3413193965f * s),
            to_srgb(-0.0041960863f * l - 0.7034186147f * m + 1.7076147010f * s)};
}

// Rounds to the 8 bits that reach the screen, so that what is tested is what is seen.
Rgb to_8_bit(Rgb c) {
    const auto q = [](float x) { return std::round(x * 255.0f) / 255.0f; };
    return {q(c.r), q(c.g), q(c.b)};
}

constexpr std::array<Rgb, kFamilies - 1> kHues = {rgb(0x56B4E9), rgb(0xE69F00), rgb(0x009E73), rgb(0xF0E442),
                                                  rgb(0xD55E00), rgb(0xCC79A7), rgb(0x0072B2)};

Theme make_theme(ThemeMode mode) {
    Theme t;
    t.mode = mode;
    const bool dark = mode == ThemeMode::Dark;
    t.ground = rgb(dark ? 0x14161A : 0xF6F7F9);
    t.panel = rgb(dark ? 0x1B1E24 : 0xFFFFFF);
    t.raised = rgb(dark ? 0x242830 : 0xEEF0F3);
    t.line = rgb(dark ? 0x343A45 : 0xD5D9E0);
    t.text = rgb(dark ? 0xE6E8EB : 0x1A1D23);
    t.quiet = rgb(dark ? 0x9AA3AF : 0x5B6470);
    // Chosen in Oklab as far from the seven hues as the contrast allows, for normal vision and for deuteranopia.
    t.accent = rgb(dark ? 0xA578FF : 0x6A1FF0);
    t.alarm = rgb(dark ? 0xFF5A69 : 0xB00044);
    t.negative = rgb(dark ? 0x8A919C : 0x8C939E);
    const Rgb grounds[] = {t.panel, t.ground, t.raised};
    for (int i = 0; i < kFamilies - 1; ++i) {
        t.text_hue[i] = shade(kHues[i], grounds, 3, 4.5f);
        t.hue[i] = kHues[i];
    }
    const int stat = static_cast<int>(Family::Stat), other = static_cast<int>(Family::Other);
    if (dark) t.hue[stat] = t.text_hue[stat];
    t.hue[other] = t.quiet;
    t.text_hue[other] = t.text;
    for (int f = 0; f < kFamilies; ++f) {
        for (int k = 0; k < kTintLevels; ++k) {
            const float at = static_cast<float>(k) / (kTintLevels - 1) * 2 - 1;
            const Rgb cell = to_8_bit(t.tint(static_cast<Family>(f), at));
            t.levels[f][k] = {u32(cell), u32(t.text_on(cell)), u32(t.hatch_on(cell))};
        }
    }
    return t;
}

ImVec4 vec4(Rgb c, float alpha = 1) { return {c.r, c.g, c.b, alpha}; }

}  // namespace

float luminance(Rgb c) { return 0.2126f * to_linear(c.r) + 0.7152f * to_linear(c.g) + 0.0722f * to_linear(c.b); }

float contrast(Rgb a, Rgb b) {
    const float x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05f) / (std::min(x, y) + 0.05f);
}

float distance(Rgb a, Rgb b) {
    const Lab x = oklab(a), y = oklab(b);
    return std::hypot(x.l - y.l, x.a - y.a, x.b - y.b);
}

Rgb mix(Rgb a, Rgb b, float t) { return {a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t}; }

unsigned u32(Rgb c, float alpha) {
    const auto q = [](float x) { return static_cast<unsigned>(std::clamp(x, 0.0f, 1.0f) * 255.0f + 0.5f); };
    return q(c.r) << IM_COL32_R_SHIFT | q(c.g) << IM_COL32_G_SHIFT | q(c.b) << IM_COL32_B_SHIFT |
           q(alpha) << IM_COL32_A_SHIFT;
}

Rgb shade(Rgb c, const Rgb* grounds, int count, float ratio) {
    const auto meets = [&](Rgb x) {
        return std::all_of(grounds, grounds + count, [&](Rgb g) { return contrast(x, g) >= ratio; });
    };
    if (meets(c)) return c;
    Lab lab = oklab(c);
    const float step = luminance(grounds[0]) < 0.18f ? 0.004f : -0.004f;
    while (lab.l > 0 && lab.l < 1) {
        lab.l += step;
        const Rgb x = to_8_bit(from_oklab(lab));
        if (meets(x)) return x;
    }
    return step > 0 ? rgb(0xFFFFFF) : rgb(0x000000);
}

Rgb deuteranopia(Rgb c) {
    const float r = to_linear(c.r), g = to_linear(c.g), b = to_linear(c.b);
    return {to_srgb(0.367322f * r + 0.860646f * g - 0.227968f * b),
            to_srgb(0.280085f * r + 0.672501f * g + 0.047413f * b),
            to_srgb(-0.011820f * r + 0.042940f * g + 0.968881f * b)};
}

TensorStyle tensor_style(std::string_view name) {
    TensorStyle style;
    name = name.substr(0, name.find('_'));
    if (name.size() >= 2 && name[0] == 'd' && name[1] >= 'A' && name[1] <= 'Z') {
        style.gradient = true;
        name.remove_prefix(1);
    }
    if (name == "max") style.family = Family::Stat;  // a warp's maxima before it hands them on
    if (name.size() != 1) return style.family == Family::Stat ? style : TensorStyle{};
    switch (name[0]) {
        case 'Q':
            style.family = Family::Q;
            break;
        case 'K':
            style.family = Family::K;
            break;
        case 'V':
            style.family = Family::V;
            break;
        case 'S':
        case 'X':  // a score matrix that is given, and one of its elements
        case 'x':
            style.family = Family::S;
            break;
        case 'P':
        case 'p':
            style.family = Family::P;
            break;
        case 'O':
            style.family = Family::O;
            break;
        case 'm':
        case 'l':
        case 'L':
        case 'D':
            style.family = Family::Stat;
            break;
        default:
            return {};
    }
    return style;
}

Rgb Theme::tint(Family f, float t) const {
    if (!(t >= -1)) t = -1;  // also NaN, which callers draw in the alarm colour
    if (t > 1) t = 1;
    // The square root lets small values be seen; the end of the scale keeps a little of the panel, so that the framed
    // block and the crosshair stand out from it.
    const float strength = std::sqrt(std::abs(t)) * (mode == ThemeMode::Dark ? 0.72f : 0.80f);
    return mix(panel, t < 0 ? negative : of(f), strength);
}

Rgb Theme::text_on(Rgb cell) const {
    if (contrast(text, cell) >= 4.5f) return text;
    return contrast(rgb(0x000000), cell) >= contrast(rgb(0xFFFFFF), cell) ? rgb(0x000000) : rgb(0xFFFFFF);
}

Rgb Theme::hatch_on(Rgb cell) const {
    // Away from the text, so that the lines never cost it contrast.
    const bool dark_text = luminance(text_on(cell)) < luminance(cell);
    return to_8_bit(mix(cell, rgb(dark_text ? 0xFFFFFF : 0x000000), 0.35f));
}

const Theme& theme(ThemeMode mode) {
    static const Theme dark = make_theme(ThemeMode::Dark), light = make_theme(ThemeMode::Light);
    return mode == ThemeMode::Dark ? dark : light;
}

void apply_style(const Theme& t, float scale) {
    ImGuiStyle s;
    s.WindowPadding = {12, 12};
    s.FramePadding = {8, 4};
    s.CellPadding = {8, 4};
    s.ItemSpacing = {8, 8};
    s.ItemInnerSpacing = {8, 4};
    s.IndentSpacing = 16;
    s.ScrollbarSize = 10;
    s.GrabMinSize = 12;
    s.WindowBorderSize = 0;
    s.ChildBorderSize = 0;
    s.PopupBorderSize = 1;
    s.FrameBorderSize = 0;
    s.TabBorderSize = 0;
    s.WindowRounding = s.ChildRounding = s.FrameRounding = s.PopupRounding = s.GrabRounding = s.TabRounding = 4;
    s.ScrollbarRounding = 4;
    s.WindowTitleAlign = {0, 0.5f};
    s.SelectableTextAlign = {0, 0.5f};
    s.WindowMenuButtonPosition = ImGuiDir_None;
    s.WindowMinSize = {16, 16};
    s.ScaleAllSizes(scale);
    s.AntiAliasedLinesUseTex = false;  // lines of any width stay crisp without the baked line texture

    const Rgb hover = mix(t.raised, t.text, 0.08f), held = mix(t.raised, t.text, 0.16f);
    ImVec4* c = s.Colors;
    c[ImGuiCol_Text] = vec4(t.text);
    c[ImGuiCol_TextDisabled] = vec4(t.quiet);
    c[ImGuiCol_WindowBg] = vec4(t.panel);
    c[ImGuiCol_ChildBg] = vec4(t.panel, 0);
    c[ImGuiCol_PopupBg] = vec4(t.raised);
    c[ImGuiCol_Border] = vec4(t.line);
    c[ImGuiCol_BorderShadow] = vec4(t.line, 0);
    c[ImGuiCol_FrameBg] = vec4(t.raised);
    c[ImGuiCol_FrameBgHovered] = vec4(hover);
    c[ImGuiCol_FrameBgActive] = vec4(held);
    c[ImGuiCol_TitleBg] = c[ImGuiCol_TitleBgActive] = c[ImGuiCol_TitleBgCollapsed] = vec4(t.raised);
    c[ImGuiCol_MenuBarBg] = vec4(t.panel);
    c[ImGuiCol_ScrollbarBg] = vec4(t.panel, 0);
    c[ImGuiCol_ScrollbarGrab] = vec4(t.line);
    c[ImGuiCol_ScrollbarGrabHovered] = c[ImGuiCol_ScrollbarGrabActive] = vec4(t.quiet);
    c[ImGuiCol_CheckMark] = vec4(t.text);
    c[ImGuiCol_SliderGrab] = vec4(t.quiet);
    c[ImGuiCol_SliderGrabActive] = vec4(t.text);
    c[ImGuiCol_Button] = vec4(t.raised);
    c[ImGuiCol_ButtonHovered] = vec4(hover);
    c[ImGuiCol_ButtonActive] = vec4(held);
    c[ImGuiCol_Header] = vec4(t.raised);
    c[ImGuiCol_HeaderHovered] = vec4(hover);
    c[ImGuiCol_HeaderActive] = vec4(held);
    c[ImGuiCol_Separator] = vec4(t.line);
    c[ImGuiCol_SeparatorHovered] = c[ImGuiCol_SeparatorActive] = vec4(t.quiet);
    c[ImGuiCol_ResizeGrip] = vec4(t.line, 0);
    c[ImGuiCol_ResizeGripHovered] = c[ImGuiCol_ResizeGripActive] = vec4(t.line);
    c[ImGuiCol_Tab] = c[ImGuiCol_TabUnfocused] = vec4(t.panel);
    c[ImGuiCol_TabHovered] = vec4(hover);
    c[ImGuiCol_TabActive] = c[ImGuiCol_TabUnfocusedActive] = vec4(t.raised);
    c[ImGuiCol_PlotLines] = c[ImGuiCol_PlotHistogram] = vec4(t.quiet);
    c[ImGuiCol_PlotLinesHovered] = c[ImGuiCol_PlotHistogramHovered] = vec4(t.text);
    c[ImGuiCol_TableHeaderBg] = vec4(t.raised);
    c[ImGuiCol_TableBorderStrong] = c[ImGuiCol_TableBorderLight] = vec4(t.line);
    c[ImGuiCol_TableRowBg] = c[ImGuiCol_TableRowBgAlt] = vec4(t.panel, 0);
    c[ImGuiCol_TextSelectedBg] = vec4(mix(t.panel, t.quiet, 0.45f));
    c[ImGuiCol_DragDropTarget] = c[ImGuiCol_NavHighlight] = vec4(t.text);
    c[ImGuiCol_NavWindowingHighlight] = vec4(t.text);
    c[ImGuiCol_NavWindowingDimBg] = c[ImGuiCol_ModalWindowDimBg] = vec4(t.ground, 0.6f);
    ImGui::GetStyle() = s;
}

}  // namespace flashstep::viz
