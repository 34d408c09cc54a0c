// The real window: the program under an X server of its own, driven by clicks and keys, looked at through the server's
// frame buffer.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "viz/shell/theme.h"

extern char** environ;

using namespace flashstep;
using namespace flashstep::viz;

namespace {

constexpr int kWidth = 1280, kHeight = 720;

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

std::string in_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::string rest = path ? path : "";
    for (std::size_t at = 0; at <= rest.size();) {
        const std::size_t end = std::min(rest.find(':', at), rest.size());
        const std::string candidate = rest.substr(at, end - at) + "/" + program;
        if (::access(candidate.c_str(), X_OK) == 0) return candidate;
        at = end + 1;
    }
    return {};
}

// A process of this test; ended with it.
class Process {
  public:
    Process() = default;
    Process(const Process&) = delete;
    ~Process() { stop(); }

    bool start(std::vector<std::string> words, const std::vector<std::string>& environment, int keep = -1,
               const std::string& output = "/dev/null") {
        std::vector<char*> arguments, variables;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        std::vector<std::string> all = environment;
        for (char** e = environ; *e; ++e)
            if (std::string_view(*e).substr(0, 8) != "DISPLAY=") all.emplace_back(*e);
        for (std::string& variable : all) variables.push_back(variable.data());
        variables.push_back(nullptr);
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&files, 2, output.c_str(), O_WRONLY | O_CREAT, 0600);
        if (keep >= 0) posix_spawn_file_actions_adddup2(&files, keep, 3);
        const bool ok = ::posix_spawn(&pid_, arguments[0], &files, nullptr, arguments.data(), variables.data()) == 0;
        posix_spawn_file_actions_destroy(&files);
        if (!ok) pid_ = -1;
        return ok;
    }
    bool running() {
        if (pid_ <= 0) return false;
        if (::waitpid(pid_, &status_, WNOHANG) == 0) return true;
        pid_ = -1;
        return false;
    }
    int wait() {
        int status = -1;
        if (pid_ > 0) ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return status;
    }
    void stop() {
        if (!running()) return;
        ::kill(pid_, SIGTERM);
        for (int k = 0; k < 100 && running(); ++k) sleep_ms(20);
        if (!running()) return;
        ::kill(pid_, SIGKILL);
        wait();
    }

    int status() const { return status_; }  // of the process that has ended

  private:
    pid_t pid_ = -1;
    int status_ = 0;
};

struct Picture {
    std::vector<Rgb> pixels;  // kWidth x kHeight
    Rgb at(int x, int y) const { return pixels[static_cast<std::size_t>(y * kWidth + x)]; }
};

bool near(Rgb a, Rgb b) { return distance(a, b) < 0.03f; }

// An X server, the program in it, and hands.
class Screen {
  public:
    // Empty: it runs, with these settings. Else what is missing.
    std::string start(const std::string& settings) {
        if (in_path("Xvfb").empty()) return "Xvfb (apt-get install xvfb)";
        if (in_path("xdotool").empty()) return "xdotool (apt-get install xdotool)";
        folder_ = std::filesystem::temp_directory_path() / ("flashstep_window_" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
        int pipe[2];
        if (::pipe(pipe) != 0) return "a pipe";
        // The server takes the first free display and says which.
        const bool started = server_.start({in_path("Xvfb"), "-displayfd", "3", "-screen", "0",
                                            std::to_string(kWidth) + "x" + std::to_string(kHeight) + "x24", "-fbdir",
                                            folder_.string(), "-nolisten", "tcp", "-noreset"},
                                           {}, pipe[1]);
        ::close(pipe[1]);
        std::string number;
        for (char c; started && ::read(pipe[0], &c, 1) == 1 && c != '\n';) number += c;
        ::close(pipe[0]);
        if (number.empty()) return "an X server";
        display_ = "DISPLAY=:" + number;
        if (!settings.empty()) {
            std::filesystem::create_directories(settings_file().parent_path());
            std::ofstream(settings_file()) << settings;
        }
        start_program();
        return {};
    }
    void start_program() {
        REQUIRE(program_.start({FLASHSTEP_BINARY},
                               {display_, "LIBGL_ALWAYS_SOFTWARE=1", "XDG_CONFIG_HOME=" + folder_.string()}, -1,
                               log()));
    }
    void stop_program() { program_.stop(); }
    std::string settings() const {
        std::ifstream file(settings_file());
        return {std::istreambuf_iterator<char>(file), {}};
    }
    ~Screen() {
        program_.stop();
        server_.stop();
        std::error_code ignored;
        if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
    }
    bool alive() { return program_.running(); }
    // What the program said before it ended.
    std::string last_words() const {
        std::ifstream file(log());
        return "status " + std::to_string(program_.status()) + ": " +
               std::string(std::istreambuf_iterator<char>(file), {});
    }

    void hands(std::vector<std::string> words) {
        Process tool;
        words.insert(words.begin(), in_path("xdotool"));
        REQUIRE(tool.start(words, {display_}));
        tool.wait();
        sleep_ms(60);
    }
    void key(const char* name) { hands({"key", name}); }
    void click(int x, int y) {
        hands({"mousemove", std::to_string(x), std::to_string(y)});
        hands({"mousedown", "1"});
        hands({"mouseup", "1"});
    }

    // The frame buffer, an XWD file that the server keeps up to date.
    std::optional<Picture> look() const {
        std::ifstream file(folder_ / "Xvfb_screen0", std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        const auto word = [&](std::size_t k) {
            std::uint32_t value = 0;
            for (std::size_t b = 0; b < 4; ++b) value = value << 8 | static_cast<std::uint8_t>(bytes[4 * k + b]);
            return value;
        };
        if (bytes.size() < 100) return {};
        const std::size_t line = word(12), start = word(0) + 12 * std::size_t{word(19)};
        if (word(11) != 32 || word(4) != kWidth || bytes.size() < start + line * kHeight) return {};
        Picture picture;
        for (std::size_t y = 0; y < kHeight; ++y) {
            for (std::size_t x = 0; x < kWidth; ++x) {
                const auto* p = reinterpret_cast<const std::uint8_t*>(&bytes[start + y * line + 4 * x]);
                picture.pixels.push_back(
                    {static_cast<float>(p[2]) / 255, static_cast<float>(p[1]) / 255, static_cast<float>(p[0]) / 255});
            }
        }
        return picture;
    }

    // Waits until a picture is as it should be.
    bool until(const std::function<bool(const Picture&)>& good, int ms = 8000) {
        for (int waited = 0; waited < ms && alive(); waited += 50) {
            if (const auto picture = look(); picture && good(*picture)) return true;
            sleep_ms(50);
        }
        return false;
    }

  private:
    std::filesystem::path settings_file() const { return folder_ / "flashstep" / "settings.toml"; }
    std::string log() const { return (folder_ / "log").string(); }
    std::filesystem::path folder_;
    std::string display_;
    Process server_, program_;
};

// Middle of the playhead on the timeline, -1: none.
int playhead(const Picture& p, ThemeMode mode = ThemeMode::Dark) {
    int sum = 0, count = 0;
    for (int x = 300; x < kWidth; ++x)
        if (near(p.at(x, 645), theme(mode).accent)) sum += x, ++count;
    return count ? sum / count : -1;
}

// Height of the current line's marker in the pseudo-code, -1: not there.
int marker(const Picture& p) {
    for (int y = 460; y < 598; ++y)
        if (near(p.at(13, y), theme(ThemeMode::Dark).accent)) return y;
    return -1;
}

// Number of pixels of a rectangle that changed.
int changed(const Picture& a, const Picture& b, int x0, int y0, int x1, int y1) {
    int count = 0;
    for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x) count += distance(a.at(x, y), b.at(x, y)) > 0.05f;
    return count;
}

}  // namespace

TEST_CASE("the window answers to clicks and keys, and its pixels show it") {
    Screen screen;
    const std::string missing = screen.start("layout = \"workbench\"\ntoured = true\n");
    if (!missing.empty()) {
        MESSAGE("skipped: this needs ", missing);
        std::exit(77);  // ctest: skipped
    }
    const bool opened = screen.until([](const Picture& p) { return playhead(p) > 0; }, 60000);
    if (!opened) MESSAGE(screen.last_words());
    REQUIRE(opened);
    screen.hands({"search", "--name", "flashstep", "windowfocus"});
    const Picture start = *screen.look();

    SUBCASE("stepping moves the accent on the timeline and in the pseudo-code") {
        const int x0 = playhead(start);
        for (int k = 0; k < 4; ++k) screen.key("Right");
        CHECK(screen.until([&](const Picture& p) { return playhead(p) > x0 + 60; }));
        const Picture there = *screen.look();
        CHECK(marker(there) > 0);
        screen.key("Right");
        screen.key("Right");
        CHECK(screen.until([&](const Picture& p) {  // the table scrolls to the line, or the marker moves
            return marker(p) > 0 && changed(there, p, 12, 460, 300, 590) > 500;
        }));
        CHECK(changed(start, *screen.look(), 330, 60, 990, 400) > 500);  // the memory view
        screen.key("Home");
        CHECK(screen.until([&](const Picture& p) { return playhead(p) == x0; }));
        screen.key("ctrl+Right");
        CHECK(screen.until([&](const Picture& p) { return playhead(p) > x0 + 10; }));
    }
    SUBCASE("buttons step and play, the timeline is dragged") {
        const int x0 = playhead(start);
        screen.click(180, 634);
        CHECK(screen.until([&](const Picture& p) { return playhead(p) > x0; }));
        screen.click(148, 634);  // play
        const int x1 = playhead(*screen.look());
        CHECK(screen.until([&](const Picture& p) { return playhead(p) > x1 + 40; }));
        screen.click(148, 634);
        screen.hands({"mousemove", "700", "682"});
        screen.hands({"mousedown", "1"});
        screen.hands({"mousemove", "1100", "682"});
        CHECK(screen.until([&](const Picture& p) { return std::abs(playhead(p) - 1100) < 20; }));
        screen.hands({"mouseup", "1"});
        screen.hands({"mousemove", "300", "682"});  // let go: the cursor stays
        sleep_ms(200);
        CHECK(std::abs(playhead(*screen.look()) - 1100) < 20);
    }
    SUBCASE("theme and language change the whole window") {
        CHECK(near(start.at(640, 590), theme(ThemeMode::Dark).panel));
        screen.key("t");
        CHECK(screen.until([](const Picture& p) { return near(p.at(640, 590), theme(ThemeMode::Light).panel); }));
        CHECK(screen.until([](const Picture& p) { return playhead(p, ThemeMode::Light) > 0; }));
        screen.key("t");
        CHECK(screen.until([&](const Picture& p) { return changed(start, p, 0, 57, 310, 300) == 0; }));
        screen.key("l");
        CHECK(screen.until([&](const Picture& p) { return changed(start, p, 0, 57, 310, 300) > 300; }));
        CHECK(changed(start, *screen.look(), 870, 8, 1095, 48) > 50);  // the verdict
    }
    SUBCASE("the picker takes another algorithm, and the verdict follows") {
        screen.key("ctrl+p");
        CHECK(screen.until([&](const Picture& p) { return changed(start, p, 300, 80, 980, 540) > 5000; }));
        screen.hands({"type", "safe softmax"});
        screen.key("Return");
        CHECK(screen.until([&](const Picture& p) { return changed(start, p, 870, 8, 1095, 48) > 200; }));
        CHECK(screen.until([&](const Picture& p) { return changed(start, p, 12, 385, 300, 590) > 500; }));
    }
    SUBCASE("a size typed into the inputs runs at once, a wrong one is refused in the alarm colour") {
        screen.click(740, 28);
        CHECK(screen.until([&](const Picture& p) { return changed(start, p, 220, 80, 1060, 640) > 5000; }));
        const auto alarms = [](const Picture& p) {
            int count = 0;
            for (int y = 110; y < 300; ++y)
                for (int x = 215; x < 560; ++x) count += near(p.at(x, y), theme(ThemeMode::Dark).alarm);
            return count;
        };
        screen.click(490, 129);
        screen.hands({"type", "0"});
        screen.key("Return");
        CHECK(screen.until([&](const Picture& p) { return alarms(p) > 50; }));
        CHECK(changed(start, *screen.look(), 670, 20, 800, 48) == 0);  // the run is the old one
        screen.click(490, 129);
        screen.hands({"type", "6"});
        screen.key("Return");
        CHECK(
            screen.until([&](const Picture& p) { return alarms(p) == 0 && changed(start, p, 670, 20, 800, 48) > 5; }));
        screen.key("Escape");
        CHECK(screen.until([&](const Picture& p) { return changed(start, p, 560, 420, 900, 460) < 50; }));
    }
    CHECK(screen.alive());
}

TEST_CASE("the first start says what to press, and the next one opens where it was left") {
    Screen screen;
    const std::string missing = screen.start("");
    if (!missing.empty()) {
        MESSAGE("skipped: this needs ", missing);
        std::exit(77);  // ctest: skipped
    }
    // The hint stands on a ground of its own, in the colour of the text, beside the text's foot.
    const auto hint = [](const Picture& p) {
        int count = 0;
        for (int y = 420; y < 640; ++y)
            for (int x = 160; x < 700; ++x) count += near(p.at(x, y), theme(ThemeMode::Dark).text);
        return count;
    };
    REQUIRE(screen.until([&](const Picture& p) { return playhead(p) > 0 && hint(p) > 8000; }, 60000));
    screen.hands({"search", "--name", "flashstep", "windowfocus"});
    screen.key("space");
    const auto noted = [&](const char* line) {
        return screen.until([&](const Picture&) { return screen.settings().find(line) != std::string::npos; });
    };
    CHECK(noted("beat = 2\n"));
    CHECK(noted("toured = false\n"));
    screen.key("Escape");  // ends the hints
    CHECK(noted("toured = true\n"));
    CHECK(screen.until([&](const Picture& p) { return hint(p) < 4000; }));
    screen.key("w");
    CHECK(noted("layout = \"workbench\"\n"));
    screen.key("w");
    screen.key("t");
    CHECK(noted("theme = \"light\"\n"));
    CHECK(noted("layout = \"lesson\"\n"));
    screen.hands({"mousemove", "2", "718"});  // over nothing that answers
    sleep_ms(600);
    const Picture left = *screen.look();
    screen.stop_program();
    screen.start_program();
    CHECK(screen.until([&](const Picture& p) { return changed(left, p, 0, 0, kWidth, kHeight) < 400; }, 60000));
}
