// flashstep shot: a picture of the app's window, also where there is no display.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/names.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "core/io/file.h"
#include "lab/presets.h"

namespace flashstep::cli {
namespace {

constexpr std::array<std::string_view, 2> kThemes = {"light", "dark"};
constexpr int kMostSide = 8192;
constexpr const char* kUnderXvfb = "FLASHSTEP_UNDER_XVFB";  // set for the second start, so that there is no third

struct State {
    std::string lesson, beat, preset, fault, step, layout, source, place = "host", press, size = "1280x720",
                                                                   theme = "dark", language = "en", out;
};

// An executable's path, empty if it is not in PATH.
std::string in_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::string_view rest = path ? path : "";
    while (!rest.empty()) {
        const std::size_t end = rest.find(':');
        const auto candidate = std::filesystem::path(rest.substr(0, end)) / program;
        if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    return {};
}

std::pair<int, int> parse_size(const std::string& text) {
    const std::size_t cross = text.find('x');
    if (cross == std::string::npos)
        throw Error(fmt::format("--size is {}, but has to be WIDTHxHEIGHT, as 1280x720", io::quoted(text)));
    return {static_cast<int>(whole_number("--size: the width", text.substr(0, cross), kLeastWidth, kMostSide)),
            static_cast<int>(whole_number("--size: the height", text.substr(cross + 1), kLeastHeight, kMostSide))};
}

void check_file(const std::string& out) {
    if (out.empty()) throw Error("shot needs --out FILE.png");
    const std::filesystem::path path(out);
    if (path.extension() != ".png")
        throw Error(fmt::format("--out is {}, but has to end in .png", io::quoted(out, 200)));
    std::error_code ignored;
    if (path.has_parent_path() && !std::filesystem::is_directory(path.parent_path(), ignored))
        throw Error(fmt::format("--out {}: there is no folder {}", io::quoted(out, 200),
                                io::quoted(path.parent_path().string(), 200)));
}

// A lesson's part, or a step; what a beat is about stands in the lesson.
void take_place(const State& state, const Lesson* lesson, StartState& start) {
    const auto not_with_beat = [&](const char* option, const std::string& text) {
        if (!state.beat.empty() && !text.empty())
            throw Error(fmt::format("--beat {} and {} {} name two places", state.beat, option, text),
                        "leave one of the two out");
    };
    not_with_beat("--step", state.step);
    not_with_beat("--fault", state.fault);
    if (!state.step.empty()) start.step = static_cast<int>(whole_number("--step", state.step, 0, 1'000'000'000));
    if (state.beat.empty()) return;
    if (!lesson) throw Error("--beat needs the lesson that it is of", "add --lesson ID");
    start.beat =
        static_cast<int>(whole_number("--beat", state.beat, 1, static_cast<std::int64_t>(lesson->beats.size())));
}

StartState start_state(const State& state) {
    StartState start;
    const Lesson* lesson = nullptr;
    if (!state.lesson.empty()) {
        lesson = &lesson_named(state.lesson);
        start.lesson = state.lesson;
        start.preset = lesson->scenes.front().preset->id;
    }
    if (!state.preset.empty()) {
        if (!find_preset(state.preset)) throw unknown_name("preset", state.preset, ids(presets()));
        if (!state.lesson.empty() && start.preset != state.preset)
            throw Error(fmt::format("--lesson {} is about the preset {}, but --preset is {}", state.lesson,
                                    start.preset, state.preset),
                        "leave one of the two out");
        start.preset = state.preset;
        if (state.lesson.empty()) start.lesson.clear();
    }
    if (!state.fault.empty()) start.fault = fault_named(state.fault)->id;
    if (!state.layout.empty()) {
        if (std::ranges::find(kLayoutIds, state.layout) == kLayoutIds.end())
            throw unknown_name("layout", state.layout, kLayoutIds);
        start.layout = state.layout;
    }
    if (!state.source.empty() && std::ranges::find(kSourceIds, state.source) == kSourceIds.end())
        throw unknown_name("source", state.source, kSourceIds);
    start.source = state.source;
    start.where = place_named(state.place);
    if (state.theme != kThemes[0] && state.theme != kThemes[1]) throw unknown_name("--theme", state.theme, kThemes);
    start.theme = state.theme == kThemes[1] ? ThemeMode::Dark : ThemeMode::Light;
    start.language = language_named(state.language);
    take_place(state, lesson, start);
    start.press = state.press;
    return start;
}

// Starts the same command under xvfb-run; returns only if that is not possible.
int start_under_xvfb(const std::vector<std::string>& words, int width, int height) {
    const std::string xvfb_run = in_path("xvfb-run");
    if (xvfb_run.empty() || in_path("xauth").empty()) {
        print_note("no display, and xvfb-run is not here to make one; install it with: apt-get install xvfb xauth");
        return kUnavailable;
    }
    if (std::getenv(kUnderXvfb)) {
        print_note("xvfb-run gave no display");
        return kUnavailable;
    }
    ::setenv(kUnderXvfb, "1", 1);
    std::error_code error;
    const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
    std::vector<std::string> command = {xvfb_run, "-a", "-s", fmt::format("-screen 0 {}x{}x24 -noreset", width, height),
                                        error ? words.at(0) : self};
    command.insert(command.end(), words.begin() + 1, words.end());
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    print_note("cannot start xvfb-run");
    return kUnavailable;
}

Action add(const Options& options, const Start& start) {
    const auto state = std::make_shared<State>();
    const auto add = [&](const char* name, std::string& text, const char* type, const char* help) {
        options.text(name, text, help, type);
    };
    add("--lesson", state->lesson, "ID", "with this lesson's text");
    add("--beat", state->beat, "K", "at this part of the lesson's text, from 1");
    add("--preset", state->preset, "ID", "on this problem (n4d3)");
    add("--fault", state->fault, "ID", "with this mistake in its algorithm");
    add("--step", state->step, "K", "at this step (0: the inputs)");
    add("--layout", state->layout, "NAME", "lesson or workbench (lesson with --lesson, else workbench)");
    add("--source", state->source, "NAME", "the source panel shows pseudo-code, cuda or ptx (pseudo-code)");
    add("--on", state->place, "PLACE", "its kernel runs on host, ptx or cuda, as in flashstep check (host)");
    add("--press", state->press, "KEYS", "after these keys and clicks, as 'S Down Ctrl+Right 640,300'");
    add("--size", state->size, "WxH", "in pixels (1280x720)");
    add("--theme", state->theme, "NAME", "light or dark (dark)");
    add("--lang", state->language, "NAME", "en or zh (en)");
    add("--out", state->out, "FILE.png", "where to");
    return [state, window = start.window, words = start.words] {
        const StartState start = start_state(*state);
        const auto [width, height] = parse_size(state->size);
        check_file(state->out);
        if (!window) {
            print_note("this build has no window (FLASHSTEP_VIZ=OFF); build with -DFLASHSTEP_VIZ=ON");
            return kUnavailable;
        }
        if (!window->display_available()) return start_under_xvfb(words, width, height);
        window->write_shot(start, width, height, state->out);
        return kOk;
    };
}

}  // namespace

const Command kShot{"shot", "Draws the app's window into a PNG file", add};

}  // namespace flashstep::cli
