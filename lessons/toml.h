// The part of TOML that lessons use: keys with texts, numbers, flags and lists of texts, under [table] and [[element]].
// Not toml++: on a file with a mistake it asserts (a header without a name) or runs into undefined behaviour (Chinese
// punctuation outside quotes), and a mistake in a lesson is to be said with its line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace flashstep {

// A file that is read, for messages: "lessons/06_fa2_forward/en.md:12: what is wrong".
struct SourceFile {
    std::string name;
    [[noreturn]] void fail(int line, std::string_view what, const std::string& hint = {}) const;
};

struct TomlEntry {
    std::string key;
    std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>> value;
    int line = 0;
};

// What stands under a header, up to the next one.
struct TomlSection {
    std::string name;      // "scenes.main"; empty: before the first header
    bool element = false;  // [[name]]: one of several
    int line = 0;
    std::vector<TomlEntry> entries;

    const TomlEntry* find(std::string_view key) const;  // nullptr: not there
};

// The sections in order; the first is the one without a header. `first_line` is the text's in its file. Throws Error
// with file and line.
std::vector<TomlSection> parse_toml(std::string_view text, int first_line, const SourceFile& file);

}  // namespace flashstep
