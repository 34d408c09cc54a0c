// The interface's texts, as they stand in the sources: complete in both languages, placeholders agree, Chinese
// punctuation, none unused, and every character in the fonts.
#include <doctest/doctest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "viz/shell/headless.h"
#include "viz/text/characters.h"
#include "viz/text/font.h"
#include "viz/text/strings.h"

using namespace flashstep;
using namespace flashstep::viz;

namespace {

struct Row {
    std::string file, name, en, zh;  // the name is empty where the pair is a part of another row
};

// The content of the string literals from `at` on that a compiler would join; `at` ends behind them.
std::string take_literal(const std::string& source, std::size_t& at) {
    std::string text;
    for (;;) {
        const std::size_t next = source.find_first_not_of(" \n", at);
        if (next == std::string::npos) return text;
        if (source.compare(next, 3, "R\"(") == 0) {
            at = source.find(")\"", next);
            text += source.substr(next + 3, at - next - 3);
            at += 2;
            continue;
        }
        if (source[next] != '"') return text;
        for (at = next + 1; at < source.size() && source[at] != '"'; ++at)
            text += source[at] == '\\' ? source[++at] : source[at];
        ++at;
    }
}

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::pair<std::string, std::string>> read_sources(std::initializer_list<const char*> folders) {
    std::vector<std::pair<std::string, std::string>> sources;
    for (const char* folder : folders)
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(std::string(FLASHSTEP_SOURCE_DIR "/") + folder)) {
            const std::string name = entry.path().filename().string();
            if (name.ends_with(".cpp") || name.ends_with(".h") || name.ends_with(".cu") || name.ends_with(".cuh"))
                sources.emplace_back(name, read(entry.path()));
        }
    return sources;
}

bool has_chinese(std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0xE3; });
}

// Every `constexpr Text kName{"en", "zh"};` of viz/.
const std::vector<Row>& named_rows() {
    static const std::vector<Row> all = [] {
        std::vector<Row> found;
        constexpr std::string_view kBegin = "constexpr Text k";  // at the start of a line, or after inline
        for (const auto& [file, source] : read_sources({"viz"})) {
            for (std::size_t at = source.find(kBegin); at != std::string::npos; at = source.find(kBegin, at)) {
                const std::size_t name = at + kBegin.size() - 1, brace = source.find_first_of("{[", at);
                const bool begins = source[at - 1] == '\n' || source.substr(at - 8, 8) == "\ninline ";
                at = brace + 1;
                if (!begins || source[brace] == '[') continue;
                Row row{file, source.substr(name, brace - name), {}, {}};
                row.en = take_literal(source, at);
                if (source[at] == ',') row.zh = take_literal(source, ++at);
                found.push_back(std::move(row));
            }
        }
        return found;
    }();
    return all;
}

// Every pair of literals of which the second is Chinese, wherever it stands: the rows of the registries, errors, notes.
const std::vector<Row>& all_pairs() {
    static const std::vector<Row> all = [] {
        std::vector<Row> found;
        for (const auto& [file, source] : read_sources({"core", "gpu", "lab", "viz"})) {
            std::string before;
            for (std::size_t at = 0; at < source.size();) {
                const std::size_t start = source.find_first_of("\"'/\n", at);
                if (start == std::string::npos) break;
                at = start;
                if (source.compare(start, 2, "//") == 0) {
                    at = source.find('\n', start);
                } else if (source[start] == '\'' && source[start + 1] != '\0' &&
                           source.compare(start + 2, 1, "'") == 0) {
                    at += 3;
                } else if (source.compare(start, 4, "'\\''") == 0 || source.compare(start, 4, "'\"'") == 0) {
                    at += 4;
                } else if (source[start] == '"') {
                    if (start > 0 && source[start - 1] == 'R') --at;
                    const std::string text = take_literal(source, at);
                    if (has_chinese(text) && !before.empty() && !has_chinese(before))
                        found.push_back({file, {}, before, text});
                    const std::size_t next = source.find_first_not_of(" \n", at);
                    before = next != std::string::npos && source[next] == ',' ? text : "";
                } else {
                    ++at;
                }
            }
        }
        return found;
    }();
    return all;
}

std::multiset<std::string> placeholders(std::string_view text) {
    std::multiset<std::string> found;
    for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
        found.insert(std::string(text.substr(at, text.find('}', at) - at)));
    }
    return found;
}

int count_word(const std::string& source, const std::string& word) {
    int count = 0;
    const auto part_of_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
    for (std::size_t at = source.find(word); at != std::string::npos; at = source.find(word, at + 1)) {
        const bool begins = at == 0 || !part_of_name(source[at - 1]);
        const std::size_t end = at + word.size();
        if (begins && (end == source.size() || !part_of_name(source[end]))) ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("every text stands there in both languages, with the same placeholders") {
    CHECK(named_rows().size() > 200);
    CHECK(all_pairs().size() > 300);
    for (const Row& row : named_rows()) {
        CAPTURE(row.file);
        CAPTURE(row.name);
        CHECK_FALSE(row.en.empty());
        CHECK_FALSE(row.zh.empty());
        CHECK_FALSE(has_chinese(row.en));
        CHECK(placeholders(row.en) == placeholders(row.zh));
    }
    for (const Row& row : all_pairs()) {
        CAPTURE(row.file);
        CAPTURE(row.en);
        CAPTURE(row.zh);
        CHECK(std::ranges::count(row.en, '{') == std::ranges::count(row.zh, '{'));
        CHECK(std::ranges::count(row.en, '$') == std::ranges::count(row.zh, '$'));
    }
}

TEST_CASE("no text exclaims, and Chinese sentences have full-width punctuation") {
    for (const Row& row : all_pairs()) {
        CAPTURE(row.en);
        CAPTURE(row.zh);
        CHECK(row.en.find('!') == std::string::npos);
        CHECK(row.zh.find("！") == std::string::npos);
        if (row.en.size() > 1 && row.en.back() == '.') CHECK(row.zh.ends_with("。"));
        if (row.en.back() == '?') CHECK(row.zh.ends_with("？"));
        const auto han = [&](std::size_t at) {
            return at + 2 < row.zh.size() && static_cast<unsigned char>(row.zh[at]) >= 0xE4 &&
                   static_cast<unsigned char>(row.zh[at]) <= 0xE9;
        };
        for (std::size_t k = 1; k < row.zh.size(); ++k) {  // a half-width mark beside a Chinese character
            if (std::string_view(",;:?()").find(row.zh[k]) == std::string_view::npos) continue;
            CHECK_FALSE((k >= 3 && han(k - 3)));
            CHECK_FALSE(han(k + 1));
        }
    }
}

TEST_CASE("every text is shown somewhere, and one that several files show is shared") {
    const auto sources = read_sources({"viz"});
    std::set<std::string> texts;
    for (const Row& row : named_rows()) {
        CAPTURE(row.name);
        int files = 0, used = -1;  // itself
        for (const auto& [file, source] : sources) {
            const int here = count_word(source, row.name);
            files += here > (file == row.file ? 1 : 0);
            used += here;
        }
        CHECK(used > 0);
        if (row.file == "strings.h") CHECK_MESSAGE(files > 1, "only one file shows it: it can stand there");
        CHECK_MESSAGE(texts.insert(row.en + "\n" + row.zh).second, "another stands there with the same words");
    }
}

TEST_CASE("the fonts hold every Chinese character of the sources") {
    Headless h;
    const std::string_view all = text_characters();
    int han = 0;
    for (const std::string_view c : {"课", "访", "存", "，", "。"}) CHECK(all.find(c) != std::string_view::npos);
    for (std::size_t k = 0; k + 2 < all.size(); k += 3) {
        if (static_cast<unsigned char>(all[k]) < 0xE4 || static_cast<unsigned char>(all[k]) > 0xE9) continue;
        ++han;
        unsigned c = 0;
        ImTextCharFromUtf8(&c, all.data() + k, all.data() + k + 3);
        CAPTURE(std::string(all.substr(k, 3)));
        for (const ImFont* font : {h.ui.fonts.body, h.ui.fonts.bold, h.ui.fonts.small, h.ui.fonts.heading})
            CHECK(glyph_of(font, static_cast<ImWchar>(c)) != nullptr);
    }
    CHECK(han > 300);
}

TEST_CASE("fill replaces what it is given and leaves the rest") {
    CHECK(fill("step {step} of {steps}", {{"steps", "64"}, {"step", "17"}}) == "step 17 of 64");
    CHECK(fill("{a}{b}", {{"a", "{b}"}}) == "{b}{b}");
    CHECK(fill("open { and {x", {{"x", "1"}}) == "open { and {x");
    CHECK(fill("", {}) == "");
    Ui ui;
    CHECK(ui.tr(kLineN, {{"line", "9"}}) == "line 9");
    ui.language = Language::Chinese;
    CHECK(ui.tr(kLineN, {{"line", "9"}}) == "第 9 行");
}
