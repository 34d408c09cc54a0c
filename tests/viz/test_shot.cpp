// flashstep shot, as it is typed where there is no display: the pictures' size and contents.
#include <doctest/doctest.h>
#include <stb/stb_image.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/program.h"
#include "viz/shell/theme.h"

using namespace flashstep;
using flashstep::testing::run_program;
using flashstep::testing::TemporaryFolder;

namespace {

struct Picture {
    int width = 0, height = 0;
    std::shared_ptr<unsigned char> rgb;

    // How many pixels have a colour, up to rounding, left of `right` and below `top`.
    int count(viz::Rgb color, int right, int top) const {
        int found = 0;
        for (int y = top; y < height; ++y)
            for (int x = 0; x < right; ++x) {
                const unsigned char* p = rgb.get() + 3 * (y * width + x);
                const float wanted[] = {color.r * 255, color.g * 255, color.b * 255};
                bool same = true;
                for (int c = 0; c < 3; ++c) same = same && std::abs(static_cast<float>(p[c]) - wanted[c]) <= 1;
                found += same;
            }
        return found;
    }
};

// Exit status 77: xvfb-run is not installed.
int shot(const std::vector<std::string>& options, Picture& picture) {
    const TemporaryFolder folder;
    const std::string file = folder.file("shot.png");
    std::vector<std::string> words = {"shot", "--out", file};
    words.insert(words.end(), options.begin(), options.end());
    // The graphics driver leaks at exit, from modules that are unloaded by then, so that no suppression can name them.
    const auto output = run_program(words, {"ASAN_OPTIONS=detect_leaks=0"});
    CAPTURE(output.err);
    CHECK((output.status == 0 || output.status == 77));
    if (output.status != 0) return output.status;
    int channels = 0;
    picture.rgb = {stbi_load(file.c_str(), &picture.width, &picture.height, &channels, 3), stbi_image_free};
    CHECK(picture.rgb != nullptr);
    return picture.rgb ? 0 : 1;
}

int differing_pixels(const Picture& a, const Picture& b) {
    int different = 0;
    for (int k = 0; k < a.width * a.height; ++k)
        different += std::memcmp(a.rgb.get() + 3 * k, b.rgb.get() + 3 * k, 3) != 0;
    return different;
}

}  // namespace

TEST_CASE("shot draws the step, theme and size that were asked for, without a display") {
    Picture dark, again, later, light;
    if (shot({"--lesson", "fa2_forward", "--step", "10", "--size", "1280x720"}, dark) == 77) {
        MESSAGE("skipped: xvfb-run is not installed");
        std::exit(77);  // ctest: skipped
    }
    CHECK(dark.width == 1280);
    CHECK(dark.height == 720);
    const viz::Theme& theme = viz::theme(ThemeMode::Dark);
    CHECK(dark.count(theme.accent, 1280, 0) > 200);  // the current line, the playhead, the framed blocks
    CHECK(dark.count(theme.accent, 320, 320) > 20);  // of them the marker in the pseudo-code
    CHECK(dark.count(theme.panel, 1280, 0) > 1280 * 720 / 4);

    REQUIRE(shot({"--lesson", "fa2_forward", "--step", "10", "--size", "1280x720"}, again) == 0);
    CHECK(differing_pixels(dark, again) == 0);
    REQUIRE(shot({"--lesson", "fa2_forward", "--step", "13", "--size", "1280x720"}, later) == 0);
    CHECK(differing_pixels(dark, later) > 2000);
    REQUIRE(shot({"--lesson", "fa2_forward", "--step", "10", "--size", "1280x720", "--theme", "light"}, light) == 0);
    CHECK(light.count(viz::theme(ThemeMode::Light).panel, 1280, 0) > 1280 * 720 / 4);

    // A part of the lesson's text is shown at its place; so is a mistake at a step.
    Picture beat, next, wrong, right;
    REQUIRE(shot({"--lesson", "fa2_forward", "--beat", "5", "--layout", "lesson"}, beat) == 0);
    REQUIRE(shot({"--lesson", "fa2_forward", "--beat", "6", "--layout", "lesson"}, next) == 0);
    CHECK(differing_pixels(beat, next) > 2000);
    REQUIRE(shot({"--preset", "n4d3", "--step", "18"}, right) == 0);
    REQUIRE(shot({"--preset", "n4d3", "--step", "18", "--fault", "no-rescale"}, wrong) == 0);
    CHECK(wrong.count(theme.alarm, 1280, 0) > right.count(theme.alarm, 1280, 0) + 100);
}
