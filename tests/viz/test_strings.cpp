// The interface's texts: complete in both languages, placeholders agree, Chinese punctuation.
#include <doctest/doctest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "viz/text/strings.h"

using namespace flashstep;
using namespace flashstep::viz;

namespace {

std::multiset<std::string> placeholders(std::string_view text) {
    std::multiset<std::string> found;
    for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
        found.insert(std::string(text.substr(at, text.find('}', at) - at)));
    }
    return found;
}

}  // namespace

TEST_CASE("both tables hold every key in the order of the keys, and no text is empty") {
    for (int k = 0; k < kStrings; ++k) {
        CAPTURE(k);
        for (const StrEntry* table : {kEnglish, kChinese}) {
            REQUIRE(table[k].text != nullptr);
            CHECK(static_cast<int>(table[k].key) == k);
            CHECK(std::string_view(table[k].text).size() > 0);
        }
    }
}

TEST_CASE("a text has the same placeholders in both languages") {
    for (int k = 0; k < kStrings; ++k) {
        CAPTURE(std::string(kEnglish[k].text));
        CHECK(placeholders(kEnglish[k].text) == placeholders(kChinese[k].text));
    }
}

TEST_CASE("no text exclaims, and Chinese sentences end with full-width punctuation") {
    for (int k = 0; k < kStrings; ++k) {
        const std::string_view en = kEnglish[k].text, zh = kChinese[k].text;
        CAPTURE(std::string(en));
        CHECK(en.find('!') == std::string_view::npos);
        CHECK(zh.find("！") == std::string_view::npos);
        if (en.size() > 1 && en.back() == '.') CHECK(zh.ends_with("。"));
        if (en.back() == '?') CHECK(zh.ends_with("？"));
    }
}

TEST_CASE("fill replaces what it is given and leaves the rest") {
    CHECK(fill("step {step} of {steps}", {{"steps", "64"}, {"step", "17"}}) == "step 17 of 64");
    CHECK(fill("{a}{b}", {{"a", "{b}"}}) == "{b}{b}");
    CHECK(fill("open { and {x", {{"x", "1"}}) == "open { and {x");
    CHECK(fill("", {}) == "");
    CHECK(tr(Language::English, Str::line_n, {{"line", "9"}}) == "line 9");
    CHECK(tr(Language::Chinese, Str::line_n, {{"line", "9"}}) == "第 9 行");
}

TEST_CASE("a language is known by its code and by a locale") {
    CHECK(language_from_code("zh_CN.UTF-8") == Language::Chinese);
    CHECK(language_from_code("en") == Language::English);
    CHECK_FALSE(language_from_code("english"));
    CHECK_FALSE(language_from_code(""));
    CHECK(language_code(Language::Chinese) == "zh");
}

TEST_CASE("every text is shown somewhere") {
    std::string sources;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(FLASHSTEP_SOURCE_DIR "/viz")) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("strings") || !(name.ends_with(".cpp") || name.ends_with(".h"))) continue;
        std::ifstream file(entry.path());
        sources.append(std::istreambuf_iterator<char>(file), {});
    }
    std::ifstream table(FLASHSTEP_SOURCE_DIR "/viz/text/strings_en.cpp");
    const std::string text(std::istreambuf_iterator<char>(table), {});
    int keys = 0;
    for (std::size_t at = text.find("{Str::"); at != std::string::npos; at = text.find("{Str::", at + 1), ++keys) {
        const std::string key = text.substr(at + 1, text.find(',', at) - at - 1);
        bool used = false;
        for (std::size_t found = sources.find(key); found != std::string::npos && !used;
             found = sources.find(key, found + 1)) {
            const char next = sources[found + key.size()];
            used = next != '_' && !std::isalnum(static_cast<unsigned char>(next));
        }
        CHECK_MESSAGE(used, key);
    }
    CHECK(keys == kStrings);
}
