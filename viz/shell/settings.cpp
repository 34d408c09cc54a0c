// Settings: their text, their file, and the state of the app that they stand for.
#include "viz/shell/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include "core/error.h"
#include "lessons/toml.h"
#include "viz/panels/tour.h"
#include "viz/shell/frame.h"

namespace flashstep::viz {
namespace {

constexpr float kLeastZoom = 0.5f, kMostZoom = 3;
constexpr std::string_view kOfLesson = "lessons.";  // before the id, in a header

constexpr Text kUnreadable{"Your settings could not be read and are set aside as {file}: {why}",
                           "无法读取设置，原文件已改名为 {file}：{why}"};
constexpr Text kUnwritable{"Where you are cannot be remembered: {file} cannot be written.",
                           "无法保存当前进度：{file} 写不进去。"};

template <class Value>
Value value_of(const TomlEntry& entry, const SourceFile& file, const char* wanted) {
    if (const Value* value = std::get_if<Value>(&entry.value)) return *value;
    file.fail(entry.line, fmt::format("{} has to be {}", entry.key, wanted));
}

// A beat, from 1 in the file.
int beat_of(const TomlEntry& entry, const SourceFile& file) {
    const auto beat = value_of<std::int64_t>(entry, file, "a number");
    return static_cast<int>(std::clamp<std::int64_t>(beat, 1, 100'000)) - 1;
}

std::vector<int> beats_of(const TomlEntry& entry, const SourceFile& file) {
    std::vector<int> beats;
    for (const std::string& text : value_of<std::vector<std::string>>(entry, file, "a list of beats")) {
        int beat = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), beat);
        if (error != std::errc{} || end != text.data() + text.size() || beat < 1)
            file.fail(entry.line, fmt::format("{} is no beat", text));
        beats.push_back(beat - 1);
    }
    return beats;
}

float zoom_of(const TomlEntry& entry, const SourceFile& file) {
    const std::int64_t* whole = std::get_if<std::int64_t>(&entry.value);
    const double zoom = whole ? static_cast<double>(*whole) : value_of<double>(entry, file, "a number");
    return std::isfinite(zoom) ? std::clamp(static_cast<float>(zoom), kLeastZoom, kMostZoom) : 1;
}

void take_general(const TomlSection& section, const SourceFile& file, Settings& settings) {
    const auto text = [&](const TomlEntry& entry) { return value_of<std::string>(entry, file, "a text"); };
    for (const TomlEntry& entry : section.entries) {
        if (entry.key == "lesson") settings.lesson = text(entry);
        if (entry.key == "preset") settings.preset = text(entry);
        if (entry.key == "layout") settings.layout = text(entry);
        if (entry.key == "theme") settings.theme = text(entry) == "light" ? ThemeMode::Light : ThemeMode::Dark;
        if (entry.key == "language") settings.language = text(entry) == "zh" ? Language::Chinese : Language::English;
        if (entry.key == "zoom") settings.zoom = zoom_of(entry, file);
        if (entry.key == "toured") settings.toured = value_of<bool>(entry, file, "true or false");
    }
}

LessonProgress progress_from(const TomlSection& section, const SourceFile& file) {
    LessonProgress progress;
    for (const TomlEntry& entry : section.entries) {
        if (entry.key == "beat") progress.beat = beat_of(entry, file);
        if (entry.key == "reached") progress.reached = beat_of(entry, file);
        if (entry.key == "done") progress.done = beats_of(entry, file);
    }
    return progress;
}

std::string quoted_list(const std::vector<int>& beats) {
    std::string list;
    for (const int beat : beats) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", beat + 1);
    return "[" + list + "]";
}

// Whole or not at all: a start must not find half of it.
bool write_whole(const std::filesystem::path& path, const std::string& text) {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    const std::filesystem::path fresh = path.string() + ".new";
    {
        std::ofstream file(fresh, std::ios::binary);
        file << text;
        if (!file.flush()) return false;
    }
    std::filesystem::rename(fresh, path, error);
    return !error;
}

}  // namespace

std::string settings_text(const Settings& settings) {
    std::string text = fmt::format(
        "# Where you left flashstep. It may be deleted: then it starts as on the first day.\n"
        "lesson = \"{}\"\npreset = \"{}\"\nlayout = \"{}\"\ntheme = \"{}\"\nlanguage = \"{}\"\nzoom = {:.3f}\n"
        "toured = {}\n",
        settings.lesson, settings.preset, settings.layout, settings.theme == ThemeMode::Light ? "light" : "dark",
        settings.language == Language::Chinese ? "zh" : "en", settings.zoom, settings.toured);
    for (const auto& [id, progress] : settings.progress)
        text += fmt::format("\n[{}{}]\nbeat = {}\nreached = {}\ndone = {}\n", kOfLesson, id, progress.beat + 1,
                            progress.reached + 1, quoted_list(progress.done));
    return text;
}

Settings parse_settings(std::string_view text, const std::string& name) {
    const SourceFile file{name};
    Settings settings;
    for (const TomlSection& section : parse_toml(text, 1, file)) {
        if (section.name.empty()) {
            take_general(section, file, settings);
        } else if (section.name.starts_with(kOfLesson)) {
            const std::string id = section.name.substr(kOfLesson.size());
            if (find_lesson(id)) settings.progress[id] = progress_from(section, file);
        }
    }
    if (!settings.lesson.empty() && !find_lesson(settings.lesson)) settings.lesson = Settings{}.lesson;
    if (!find_preset(settings.preset)) settings.preset = Settings{}.preset;
    if (std::ranges::find(kLayoutIds, settings.layout) == kLayoutIds.end()) settings.layout = Settings{}.layout;
    return settings;
}

std::filesystem::path settings_file() {
    const auto folder = [](const char* variable) {
        const char* value = std::getenv(variable);
        return std::filesystem::path(value ? value : "");
    };
    if (const auto config = folder("XDG_CONFIG_HOME"); config.is_absolute())
        return config / "flashstep" / "settings.toml";
    if (const auto home = folder("HOME"); home.is_absolute()) return home / ".config" / "flashstep" / "settings.toml";
    return {};
}

Settings settings_of(AppState& app) {
    return {.lesson = app.lesson ? app.lesson->id : std::string(),
            .preset = std::string(app.preset ? app.preset->id : Settings{}.preset),
            .layout = std::string(frame_state(app).layout->id),
            .theme = app.ui.mode,
            .language = app.ui.language,
            .zoom = app.zoom,
            .toured = !tour_runs(app),
            .progress = course_progress(app)};
}

void open_settings(AppState& app, const Settings& settings) {
    app.ui.mode = settings.theme;
    app.ui.language = settings.language;
    app.zoom = settings.zoom;
    open_layout(app, settings.layout);
    set_course_progress(app, settings.progress);
    const Lesson* lesson = find_lesson(settings.lesson);
    const Preset* preset = find_preset(settings.preset);
    if (lesson)
        app.open_lesson(*lesson);
    else if (preset)
        app.open_preset(*preset);
    if (!settings.toured) start_tour(app);
}

std::optional<Settings> SettingsKeeper::read(AppState& app) {
    std::ifstream file(file_, std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    try {
        written_ = parse_settings(text.str(), file_.filename().string());
    } catch (const Error& error) {
        const std::filesystem::path aside = file_.string() + ".unread";
        std::error_code ignored;
        std::filesystem::rename(file_, aside, ignored);
        const auto said = [&](Language language) {
            return fill(kUnreadable.in(language), {{"file", aside.string()}, {"why", error.whole().in(language)}});
        };
        app.notice = {said(Language::English), said(Language::Chinese)};
        return std::nullopt;
    }
    return written_;
}

void SettingsKeeper::keep(AppState& app) {
    if (file_.empty() || failed_) return;
    const Settings now = settings_of(app);
    if (written_ == now) return;
    if (write_whole(file_, settings_text(now))) {
        written_ = now;
        return;
    }
    failed_ = true;
    const auto said = [&](Language language) { return fill(kUnwritable.in(language), {{"file", file_.string()}}); };
    app.notice = {said(Language::English), said(Language::Chinese)};
}

}  // namespace flashstep::viz
