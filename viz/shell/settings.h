// What the app remembers between two starts: where you left, how it looked, and what was read and answered. A small
// TOML file; shots and tests leave it alone.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "viz/shell/app_state.h"
#include "viz/shell/lesson_walk.h"

namespace flashstep::viz {

struct Settings {
    std::string lesson = "fa2_forward";  // id; empty: none was open
    std::string preset = "n4d3";         // what was shown without a lesson
    std::string layout = "lesson";
    ThemeMode theme = ThemeMode::Dark;
    Language language = Language::English;
    float zoom = 1;
    bool toured = false;  // the hints of the first start were seen
    CourseProgress progress;
    bool operator==(const Settings&) const = default;
};

std::string settings_text(const Settings& settings);
// What names nothing that there is (a lesson of another version) is left out. Throws Error with file and line.
Settings parse_settings(std::string_view text, const std::string& file);

// $XDG_CONFIG_HOME/flashstep/settings.toml, or in ~/.config; empty where neither variable is set.
std::filesystem::path settings_file();

Settings settings_of(AppState& app);
// Opens the app where it was left.
void open_settings(AppState& app, const Settings& settings);

// Reads the file once, and writes it when something has changed.
class SettingsKeeper {
  public:
    explicit SettingsKeeper(std::filesystem::path file) : file_(std::move(file)) {}

    // Nothing: there is no file yet. One that cannot be read is said in app.notice, and set aside under another name.
    std::optional<Settings> read(AppState& app);
    // Once per frame: what has changed was done by a hand, which is seldom. What cannot be written is said once.
    void keep(AppState& app);

  private:
    std::filesystem::path file_;
    std::optional<Settings> written_;
    bool failed_ = false;
};

}  // namespace flashstep::viz
