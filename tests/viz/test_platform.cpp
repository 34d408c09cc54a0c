// The window, off screen: frames become images, zoom rebuilds the fonts. Skipped where no window can be opened.
#include <doctest/doctest.h>
#include <imgui.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "viz/text/font.h"
#include "viz/shell/platform.h"

using namespace flashstep;
using namespace flashstep::viz;

TEST_CASE("a captured frame holds what was drawn, in the size asked for") {
    if (!Window::available()) {
        MESSAGE("skipped: no display, and no xvfb-run to make one");
        std::exit(77);  // ctest: skipped
    }
    WindowOptions options;
    options.visible = Visible::No;
    options.scale = 1;
    Window window(options);
    const auto draw = [](Ui& ui) {
        ImGui::GetBackgroundDrawList()->AddRectFilled({10, 20}, {30, 40}, u32(ui.theme().accent));
    };
    const Image image = window.capture(200, 100, 3, draw);
    REQUIRE(image.rgb.size() == 200u * 100 * 3);
    const Rgb accent = window.ui.theme().accent, ground = window.ui.theme().ground;
    CHECK(image.at(20, 30)[0] == static_cast<int>(accent.r * 255 + 0.5f));
    CHECK(image.at(20, 30)[2] == static_cast<int>(accent.b * 255 + 0.5f));
    CHECK(image.at(100, 80)[0] == static_cast<int>(ground.r * 255 + 0.5f));

    const float before = font_height(window.ui.fonts.body);
    window.set_zoom(2);
    window.ui.mode = ThemeMode::Light;
    const Image light = window.capture(64, 64, 2, draw);
    CHECK(light.at(50, 60)[0] == static_cast<int>(theme(ThemeMode::Light).ground.r * 255 + 0.5f));
    CHECK(window.ui.scale == 2);
    CHECK(font_height(window.ui.fonts.body) > before * 1.8f);

    const auto path =
        std::filesystem::temp_directory_path() / ("flashstep_test_platform_" + std::to_string(::getpid()) + ".png");
    write_png(path.string(), image);
    std::ifstream in(path, std::ios::binary);
    char signature[4] = {};
    in.read(signature, 4);
    CHECK(std::string(signature + 1, 3) == "PNG");
    std::filesystem::remove(path);
}

TEST_CASE("a PNG that cannot be written is an error that names the file") {
    CHECK_THROWS_AS(write_png("/nonexistent/folder/x.png", Image{1, 1, {0, 0, 0}}), Error);
}
