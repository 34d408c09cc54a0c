// Pages, JSON and messages.
#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "core/io/file.h"

namespace flashstep::cli {
namespace {

// Messages are one line, whatever came in.
std::string one_line(std::string text) {
    for (char& c : text)
        if (c == '\n' || c == '\r') c = ' ';
    return text;
}

}  // namespace

void print_error(const Error& error) {
    const std::string text = error.hint().empty() ? error.what() : fmt::format("{}; {}", error.what(), error.hint());
    fmt::print(stderr, "flashstep: {}\n", one_line(text));
}

void print_warning(const std::string& text) { fmt::print(stderr, "flashstep: warning: {}\n", one_line(text)); }

void print_note(const std::string& text) { fmt::print(stderr, "flashstep: {}\n", one_line(text)); }

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm day{};
    localtime_r(&now, &day);
    return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

void print_page(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw Error("cannot write to standard output");
}

// Throws Error if `target` could not be written: a file is replaced in its folder, a pipe or a device is written
// itself.
void check_writable(std::string_view option, const std::string& target) {
    std::error_code unknown;
    const std::filesystem::path path = std::filesystem::absolute(target);
    const bool replaced = !std::filesystem::exists(path, unknown) || std::filesystem::is_regular_file(path, unknown);
    const std::filesystem::path written = replaced ? path.parent_path() : path;
    if (::access(written.c_str(), W_OK) == 0) return;
    throw Error(fmt::format("{}: cannot write {}: {}", option, io::quoted(target, 200), std::strerror(errno)),
                "the folder has to be there and to be writable");
}

JsonOption::JsonOption(const Options& options) {
    // Before anything runs: what took minutes is not lost for want of a place.
    options.flag_or_value("--json", file_, "print JSON alone on standard output; --json=FILE writes it to a file",
                          [](const std::string& target) { check_writable("--json", target); });
}

void JsonOption::write(const io::Json& json, int indent) const {
    const std::string text = io::json_text(json, indent) + "\n";
    if (file().empty())
        print_page(text);
    else
        io::write_file(file(), text);
}

}  // namespace flashstep::cli
