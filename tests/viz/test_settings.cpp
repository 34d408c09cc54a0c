// What the app remembers between two starts: its text, a damaged file, and the state that comes back.
#include <doctest/doctest.h>

#include <filesystem>

#include "core/error.h"
#include "tests/program.h"
#include "tests/viz/stage.h"
#include "viz/panels/tour.h"
#include "viz/shell/settings.h"

using namespace flashstep;
using namespace flashstep::viz;
using flashstep::testing::Stage;
using flashstep::testing::TemporaryFolder;

TEST_CASE("settings come back from their text as they were") {
    Settings settings;
    settings.lesson = "";
    settings.preset = "n64";
    settings.layout = "workbench";
    settings.theme = ThemeMode::Light;
    settings.language = Language::Chinese;
    settings.zoom = 1.25f;
    settings.toured = true;
    settings.progress["fa2_forward"] = {4, 7, {6, 7}};
    CHECK(parse_settings(settings_text(settings), "settings.toml") == settings);
    CHECK(parse_settings(settings_text({}), "settings.toml") == Settings{});
    CHECK(parse_settings("", "settings.toml") == Settings{});
}

TEST_CASE("settings of another version lose what there is not, and a damaged file is refused with its line") {
    const Settings settings = parse_settings(
        "lesson = \"gone\"\npreset = \"gone\"\nlayout = \"gone\"\nzoom = 99\nlater = 3\n[lessons.gone]\nbeat = 2\n"
        "[lessons.fa2_forward]\nbeat = 999999999\n[other]\nx = 1\n",
        "settings.toml");
    Settings expected;
    expected.zoom = 3;
    expected.progress["fa2_forward"] = {99'999, 0, {}};
    CHECK(settings == expected);
    for (const char* bad : {"lesson = 3", "\n[lessons.fa2_forward]\ndone = [\"x\"]", "beat ="}) {
        CAPTURE(bad);
        CHECK_THROWS_WITH(parse_settings(bad, "settings.toml"), doctest::Contains("settings.toml:"));
    }
}

TEST_CASE("the app opens where it was left: lesson, beat, layout, answers, looks") {
    Settings left;
    {
        Stage s;
        open_layout(s.app, "lesson");
        go_to_beat(s.app, 5);
        s.settle();
        lesson_walk(s.app)->progress[3].done = true;
        toggle_theme(s.app);
        toggle_language(s.app);
        s.app.zoom = 1.5f;
        left = settings_of(s.app);
    }
    Stage s;
    open_settings(s.app, left);
    s.settle();
    CHECK(settings_of(s.app) == left);
    const LessonWalk& walk = *lesson_walk(s.app);
    CHECK(walk.beat == 5);
    CHECK(walk.reached == 5);
    CHECK(walk.progress[3].done);
    CHECK(shows_beat(s.app));
    CHECK(s.app.player->step() == step_at(s.app.run->trace, walk.marked().at));
    CHECK(frame_state(s.app).layout->id == "lesson");
    CHECK(s.app.ui.mode == ThemeMode::Light);
    CHECK_FALSE(tour_runs(s.app));
    // A lesson that has lost beats since.
    left.progress["fa2_forward"] = {500, 900, {1, 700}};
    open_settings(s.app, left);
    s.settle();
    CHECK(lesson_walk(s.app)->beat + 1 == static_cast<int>(lesson_walk(s.app)->lesson.beats.size()));
    // Without a lesson.
    left.lesson.clear(), left.preset = "n64", left.layout = "workbench";
    open_settings(s.app, left);
    s.settle();
    CHECK(s.problem().n == 64);
}

TEST_CASE("a settings file is written when something changes, and one that cannot be read is set aside and said") {
    const TemporaryFolder folder;
    const std::string file = folder.file("deep/down/settings.toml");
    Stage s;
    SettingsKeeper keeper(file);
    CHECK_FALSE(keeper.read(s.app));
    CHECK(s.app.notice.empty());
    keeper.keep(s.app);
    const std::string first = flashstep::testing::text_of(file);
    CHECK(parse_settings(first, "x") == settings_of(s.app));
    const auto time = std::filesystem::last_write_time(file);
    keeper.keep(s.app);
    CHECK(std::filesystem::last_write_time(file) == time);
    s.press(Key::Space);
    s.settle();
    keeper.keep(s.app);
    CHECK(flashstep::testing::text_of(file) != first);
    CHECK(SettingsKeeper(file).read(s.app) == settings_of(s.app));

    flashstep::testing::write_text(file, "lesson = [");
    CHECK_FALSE(SettingsKeeper(file).read(s.app));
    CHECK(s.app.notice.en.find("set aside as " + file + ".unread") != std::string::npos);
    CHECK(std::filesystem::exists(file + ".unread"));
    CHECK_FALSE(std::filesystem::exists(file));
    s.press(Key::Escape);
    CHECK(s.app.notice.empty());
    // A folder stands where the file should.
    SettingsKeeper blocked(folder.path() + "/deep");
    blocked.keep(s.app);
    CHECK(s.app.notice.en.find("cannot be written") != std::string::npos);
    s.app.notice = {};
    blocked.keep(s.app);
    CHECK(s.app.notice.empty());
}
