// Reading TOML, one character after the other.
#include "lessons/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/error.h"

namespace flashstep {
namespace {

constexpr char kValueHint[] = "Values are \"text\", 'text with \\backslashes', 12, 0.5, true, or [\"a\", \"list\"]";

bool is_bare(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; }

class Reader {
  public:
    Reader(std::string_view text, int first_line, const SourceFile& file)
        : text_(text), line_(first_line), file_(file) {
        sections_.emplace_back().line = first_line;
    }

    std::vector<TomlSection> read() {
        for (skip_blank(); !at_end(); skip_blank()) {
            if (peek() == '[')
                header();
            else
                entry();
            end_of_line();
        }
        return std::move(sections_);
    }

  private:
    void header() {
        TomlSection section;
        section.line = line_;
        take("[");
        section.element = take("[");
        section.name = bare_name("the name of a table", ".");
        if (!take(section.element ? "]]" : "]"))
            fail(fmt::format("the header of {} does not end", section.name), "Write [scenes.NAME] or [[option]]");
        for (const TomlSection& other : sections_)
            if (other.name == section.name && !(other.element && section.element))
                fail(fmt::format("a second [{}]", section.name), "Put all of its keys under one");
        sections_.push_back(std::move(section));
    }

    void entry() {
        TomlEntry entry;
        entry.line = line_;
        entry.key = bare_name("a key", "");
        if (sections_.back().find(entry.key)) fail(fmt::format("a second {}", entry.key), "Keep one of the two");
        skip_spaces();
        if (!take("=")) fail(fmt::format("= is missing after {}", entry.key), kValueHint);
        skip_spaces();
        value(entry);
        sections_.back().entries.push_back(std::move(entry));
    }

    void value(TomlEntry& entry) {
        if (at_end() || peek() == '\n') fail(fmt::format("{} has no value", entry.key), kValueHint);
        if (peek() == '"' || peek() == '\'')
            entry.value = text();
        else if (peek() == '[')
            entry.value = list();
        else if (take("true"))
            entry.value = true;
        else if (take("false"))
            entry.value = false;
        else
            number(entry);
    }

    void number(TomlEntry& entry) {
        std::size_t n = 0;
        while (at_ + n < text_.size() && (is_bare(text_[at_ + n]) || text_[at_ + n] == '.' || text_[at_ + n] == '+'))
            ++n;
        const std::string_view word = text_.substr(at_, n);
        std::int64_t whole = 0;
        double real = 0;
        const auto reads = [&](auto& number) {
            const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
            return !word.empty() && error == std::errc{} && end == word.data() + word.size();
        };
        if (reads(whole))
            entry.value = whole;
        else if (reads(real))
            entry.value = real;
        else
            fail(fmt::format("{} has a value that cannot be read", entry.key), kValueHint);
        at_ += n;
    }

    std::vector<std::string> list() {
        const int begin = line_;
        std::vector<std::string> all;
        take("[");
        for (skip_blank(); !take("]"); skip_blank()) {
            if (at_end()) file_.fail(begin, "a list that does not end", "End it with ]");
            if (peek() != '"' && peek() != '\'') fail("a list of something else than texts", kValueHint);
            all.push_back(text());
            skip_blank();
            if (!take(",") && (at_end() || peek() != ']')) fail("a comma is missing in a list");
        }
        return all;
    }

    // In one or three quotes; with double ones \n, \t, \" and \\ are read.
    std::string text() {
        const int begin = line_;
        const char quote = peek();
        const std::string three(3, quote);
        const bool lines = take(three);
        const std::string_view close = lines ? std::string_view(three) : std::string_view(three).substr(0, 1);
        if (!lines) take(close);
        if (lines) take("\n");
        std::string result;
        while (!take(close)) {
            if (at_end() || (!lines && peek() == '\n'))
                file_.fail(begin, "a text that does not end", fmt::format("End it with {}", close));
            if (quote == '"' && take("\\"))
                result += escaped();
            else
                result += next();
        }
        return result;
    }

    char escaped() {
        const char c = at_end() ? '\0' : next();
        if (c == 'n') return '\n';
        if (c == 't') return '\t';
        if (c != '"' && c != '\\')
            fail("a backslash before something else than n, t, \" or \\", "Put text with backslashes between ' and '");
        return c;
    }

    std::string bare_name(std::string_view what, std::string_view also) {
        const std::size_t begin = at_;
        while (!at_end() && (is_bare(peek()) || also.find(peek()) != std::string_view::npos)) ++at_;
        if (at_ == begin) fail(fmt::format("{} is missing", what), "It is made of letters, digits, _ and -");
        return std::string(text_.substr(begin, at_ - begin));
    }

    void end_of_line() {
        skip_spaces();
        skip_comment();
        if (!at_end() && peek() != '\n')
            fail(fmt::format("'{}' after the end of a value", text_.substr(at_, text_.substr(at_).find('\n'))),
                 kValueHint);
    }
    void skip_spaces() {
        while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\r')) ++at_;
    }
    void skip_comment() {
        if (!at_end() && peek() == '#')
            while (!at_end() && peek() != '\n') ++at_;
    }
    // Lines without anything, and comments.
    void skip_blank() {
        for (;;) {
            skip_spaces();
            skip_comment();
            if (at_end() || peek() != '\n') return;
            next();
        }
    }

    bool at_end() const { return at_ >= text_.size(); }
    char peek() const { return text_[at_]; }
    char next() {
        if (text_[at_] == '\n') ++line_;
        return text_[at_++];
    }
    bool take(std::string_view token) {
        if (!text_.substr(at_).starts_with(token)) return false;
        for (std::size_t k = 0; k < token.size(); ++k) next();
        return true;
    }
    [[noreturn]] void fail(std::string_view what, const std::string& hint = {}) const { file_.fail(line_, what, hint); }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_;
    const SourceFile& file_;
    std::vector<TomlSection> sections_;
};

}  // namespace

void SourceFile::fail(int line, std::string_view what, const std::string& hint) const {
    throw Error(fmt::format("{}:{}: {}", name, line, what), hint);
}

const TomlEntry* TomlSection::find(std::string_view key) const {
    const auto found = std::ranges::find(entries, key, &TomlEntry::key);
    return found == entries.end() ? nullptr : &*found;
}

std::vector<TomlSection> parse_toml(std::string_view text, int first_line, const SourceFile& file) {
    return Reader(text, first_line, file).read();
}

}  // namespace flashstep
