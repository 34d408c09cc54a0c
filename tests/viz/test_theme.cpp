// Colours: contrast of everything that is text, and hues that can be told apart.
#include <doctest/doctest.h>

#include <string>

#include "viz/shell/theme.h"

using namespace flashstep;
using namespace flashstep::viz;

namespace {

constexpr ThemeMode kModes[] = {ThemeMode::Dark, ThemeMode::Light};

Rgb from_u32(unsigned c) {
    return {static_cast<float>(c & 255) / 255, static_cast<float>(c >> 8 & 255) / 255,
            static_cast<float>(c >> 16 & 255) / 255};
}

}  // namespace

TEST_CASE("contrast is WCAG's: black on white is 21, a colour on itself 1") {
    CHECK(contrast(rgb(0x000000), rgb(0xFFFFFF)) == doctest::Approx(21));
    CHECK(contrast(rgb(0x56B4E9), rgb(0x56B4E9)) == doctest::Approx(1));
    CHECK(contrast(rgb(0x767676), rgb(0xFFFFFF)) == doctest::Approx(4.54).epsilon(0.002));
}

TEST_CASE("text, quiet text, accent, alarm and every hue's text shade meet 4.5:1 on every ground") {
    for (const ThemeMode mode : kModes) {
        const Theme& t = theme(mode);
        for (const Rgb ground : {t.panel, t.ground, t.raised}) {
            for (const Rgb ink : {t.text, t.quiet, t.accent, t.alarm}) CHECK(contrast(ink, ground) >= 4.5f);
            for (int f = 0; f < kFamilies; ++f) CHECK(contrast(t.text_of(static_cast<Family>(f)), ground) >= 4.5f);
        }
    }
}

TEST_CASE("a text shade moves only where it must") {
    const Theme &dark = theme(ThemeMode::Dark), &light = theme(ThemeMode::Light);
    CHECK(light.text_of(Family::Stat) == rgb(0x0072B2));
    CHECK(light.text_of(Family::S) != rgb(0xF0E442));
    CHECK(dark.text_of(Family::S) == rgb(0xF0E442));
    CHECK(dark.text_of(Family::Stat) != rgb(0x0072B2));
    CHECK(dark.text_of(Family::P) != rgb(0xD55E00));
    CHECK(distance(dark.text_of(Family::P), rgb(0xD55E00)) < 0.15f);
}

TEST_CASE("the number of a cell meets 4.5:1 on every tint, and on a gradient's hatch") {
    for (const ThemeMode mode : kModes) {
        const Theme& t = theme(mode);
        for (int f = 0; f < kFamilies; ++f) {
            for (int k = 0; k <= 200; ++k) {
                const TintLevel& level = t.level(static_cast<Family>(f), static_cast<float>(k - 100) / 100);
                CAPTURE(f);
                CAPTURE(k);
                CHECK(contrast(from_u32(level.text), from_u32(level.ground)) >= 4.5f);
                CHECK(contrast(from_u32(level.text), from_u32(level.hatch)) >= 4.5f);
            }
            const Rgb over_alarm = mix(t.panel, t.alarm, 0.35f);
            CHECK(contrast(t.text_on(over_alarm), over_alarm) >= 4.5f);
        }
    }
}

TEST_CASE("accent and alarm are no tensor's colour, with and without green cones") {
    for (const ThemeMode mode : kModes) {
        const Theme& t = theme(mode);
        for (const Rgb special : {t.accent, t.alarm}) {
            for (int f = 0; f < kFamilies - 1; ++f) {
                CAPTURE(f);
                CHECK(distance(special, t.of(static_cast<Family>(f))) > 0.07f);
                CHECK(distance(special, t.text_of(static_cast<Family>(f))) > 0.07f);
                CHECK(distance(deuteranopia(special), deuteranopia(t.of(static_cast<Family>(f)))) > 0.04f);
            }
        }
        CHECK(distance(t.accent, t.alarm) > 0.15f);
        CHECK(distance(deuteranopia(t.accent), deuteranopia(t.alarm)) > 0.10f);
    }
}

TEST_CASE("the seven hues differ from each other, with and without green cones") {
    for (const ThemeMode mode : kModes) {
        const Theme& t = theme(mode);
        for (int a = 0; a < kFamilies - 1; ++a) {
            for (int b = 0; b < a; ++b) {
                CAPTURE(a);
                CAPTURE(b);
                const Rgb x = t.of(static_cast<Family>(a)), y = t.of(static_cast<Family>(b));
                CHECK(distance(x, y) > 0.08f);
                CHECK(distance(deuteranopia(x), deuteranopia(y)) > 0.04f);
            }
        }
    }
}

TEST_CASE("the tint is the panel at 0, stronger with the value, and grey for negative values") {
    const Theme& t = theme(ThemeMode::Dark);
    CHECK(t.tint(Family::Q, 0) == t.panel);
    CHECK(distance(t.tint(Family::Q, 1), t.of(Family::Q)) < distance(t.tint(Family::Q, 0.3f), t.of(Family::Q)));
    CHECK(t.tint(Family::Q, -1) == t.tint(Family::K, -1));
    CHECK(t.tint(Family::Q, 5) == t.tint(Family::Q, 1));
}

TEST_CASE("a tensor's name gives its family and whether it is a gradient") {
    CHECK(tensor_style("S_ij") == TensorStyle{Family::S, false});
    CHECK(tensor_style("m_old") == TensorStyle{Family::Stat, false});
    CHECK(tensor_style("dK_j") == TensorStyle{Family::K, true});
    CHECK(tensor_style("dP_ij") == TensorStyle{Family::P, true});
    CHECK(tensor_style("O") == TensorStyle{Family::O, false});
    CHECK(tensor_style("L_i") == TensorStyle{Family::Stat, false});
    CHECK(tensor_style("D") == TensorStyle{Family::Stat, false});
    CHECK(tensor_style("X") == TensorStyle{Family::S, false});
    CHECK(tensor_style("x") == TensorStyle{Family::S, false});
    CHECK(tensor_style("p") == TensorStyle{Family::P, false});
    CHECK(tensor_style("M") == TensorStyle{Family::Other, false});
    CHECK(tensor_style("d") == TensorStyle{Family::Other, false});
    CHECK(tensor_style("") == TensorStyle{Family::Other, false});
}
