// A text in the languages of the program: what a registry's row says of itself, in both. No Eigen here: nvcc reads it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace flashstep {

enum class Language { English, Chinese };
constexpr int kLanguages = 2;

struct Text {
    std::string_view en, zh;

    constexpr std::string_view in(Language language) const { return language == Language::English ? en : zh; }
    bool operator==(const Text&) const = default;
};

// What is said while the program runs, with its values filled in (core/say.h): an error, a note. Without Chinese it is
// technical: what a library or a device said, or what only a mistake in the program can bring about.
struct Sentence {
    std::string en, zh;

    Sentence() = default;
    Sentence(const char* english) : en(english) {}
    Sentence(std::string english) : en(std::move(english)) {}
    Sentence(std::string english, std::string chinese) : en(std::move(english)), zh(std::move(chinese)) {}

    bool empty() const { return en.empty(); }
    const std::string& in(Language language) const { return language == Language::English || zh.empty() ? en : zh; }
    bool operator==(const Sentence&) const = default;
};

}  // namespace flashstep
