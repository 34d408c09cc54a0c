// A text in the languages of the program: what a registry's row says of itself, in both. No Eigen here: nvcc reads it.
#pragma once

#include <string_view>

namespace flashstep {

enum class Language { English, Chinese };
constexpr int kLanguages = 2;

struct Text {
    std::string_view en, zh;

    constexpr std::string_view in(Language language) const { return language == Language::English ? en : zh; }
    bool operator==(const Text&) const = default;
};

}  // namespace flashstep
