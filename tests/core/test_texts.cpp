// What the rows of core's tables say, in both languages.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/algorithms.h"
#include "core/faults.h"
#include "core/ops/operation.h"

using namespace flashstep;

namespace {

// The text apart from its formulas, and the formulas in order of the alphabet.
struct Parts {
    std::string words;
    std::vector<std::string> formulas;
};
Parts parts_of(std::string_view tex) {
    Parts parts;
    for (std::size_t at = 0; at < tex.size();) {
        const std::size_t open = std::min(tex.find('$', at), tex.size());
        parts.words += tex.substr(at, open - at);
        if (open == tex.size()) break;
        const std::size_t close = tex.find('$', open + 1);
        REQUIRE(close != std::string_view::npos);
        parts.formulas.emplace_back(tex.substr(open + 1, close - open - 1));
        at = close + 1;
    }
    std::ranges::sort(parts.formulas);
    return parts;
}

// U+4E00 to U+9FFF.
bool has_chinese(std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return c >= '\xE4' && c <= '\xE9'; });
}
bool has_letters(std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}
bool is_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// What is wrong with a text; empty: nothing.
std::string fault_in(const Text& text) {
    const Parts en = parts_of(text.en), zh = parts_of(text.zh);
    if (text.en.empty() || text.zh.empty()) return "missing";
    if (!is_ascii(text.en)) return "not English";
    if (has_letters(en.words) && !has_chinese(zh.words)) return "not Chinese";
    if (!has_letters(en.words) && text.en != text.zh) return "formulas alone need no translation";
    if (en.formulas != zh.formulas) return "other formulas";
    return {};
}

}  // namespace

TEST_CASE("titles of algorithms and faults, where faults hide and what overflows are in both languages") {
    for (const Algorithm& algorithm : algorithms()) CHECK_MESSAGE(fault_in(algorithm.title) == "", algorithm.id);
    for (const Fault& fault : faults()) {
        CHECK_MESSAGE(fault_in(fault.title) == "", fault.id);
        CHECK_MESSAGE(fault_in(fault.hides) == "", fault.id);
    }
    for (const Operation* operation : operations()) CHECK_MESSAGE(fault_in(operation->overflow) == "", operation->name);
}

TEST_CASE("every line of pseudo-code is in both languages, with the same formulas") {
    for (const Algorithm& algorithm : algorithms())
        for (const PseudoLine& line : algorithm.lines)
            CHECK_MESSAGE(fault_in(line.tex()) == "", algorithm.id << " line " << line.number);
}

TEST_CASE("the check finds a text that is missing, in the other language, or has another formula") {
    CHECK(fault_in({"load $x$", "加载 $x$"}) == "");
    CHECK(fault_in({"$x$, $y$", "$x$, $y$"}) == "");
    CHECK(fault_in({"load $x$", ""}) == "missing");
    CHECK(fault_in({"load $x$", "load $x$"}) == "not Chinese");
    CHECK(fault_in({"加载 $x$", "加载 $x$"}) == "not English");
    CHECK(fault_in({"load $x$", "加载 $y$"}) == "other formulas");
    CHECK(fault_in({"load $x$, $x$", "加载 $x$"}) == "other formulas");
    CHECK(fault_in({"$x$, $y$", "$x$，$y$"}) == "formulas alone need no translation");
}
