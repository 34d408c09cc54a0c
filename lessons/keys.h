// The keys of a block, asked for by name: what is missing, unknown or of the wrong kind is an error with its line.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "lessons/lesson.h"
#include "lessons/toml.h"

namespace flashstep {

// A lesson's file in one language.
struct Source : SourceFile {
    Language language = Language::English;

    // Runs what may throw, and says where.
    template <class Work>
    auto at(int line, Work work) const {
        try {
            return work();
        } catch (const Error& error) { fail(line, error.what(), error.hint()); }
    }
};

class Keys {
  public:
    // The sections, and what the errors call them: "the block beat". Both must outlive it.
    Keys(const std::vector<TomlSection>& sections, const Source& source, std::string what)
        : Keys(sections, sections.front(), source, std::move(what)) {}

    const Source& source() const { return *source_; }
    int line() const { return section_->line; }
    int line_of(std::string_view key) const;
    bool has(std::string_view key);

    std::string text(std::string_view key);
    std::string text_or(std::string_view key, std::string otherwise);
    std::int64_t whole(std::string_view key, std::int64_t least, std::int64_t most);
    int count_or(std::string_view key, int otherwise);  // 1 and more
    double number(std::string_view key);
    bool flag_or(std::string_view key, bool otherwise);
    std::vector<std::string> texts(std::string_view key);
    std::vector<std::string> texts_or_none(std::string_view key);
    Prose prose(std::string_view key);
    Prose prose_or_none(std::string_view key);
    Expression expression(std::string_view key);
    Place place(std::string_view key);
    std::vector<Keys> elements(std::string_view name);  // those under [[name]], in order
    // Those under [group.NAME] with their names. One at least.
    std::vector<std::pair<std::string, Keys>> tables(std::string_view group);

    void finish() const;  // refuses what was not asked for
    [[noreturn]] void fail(std::string_view key, std::string_view wanted) const;

  private:
    Keys(const std::vector<TomlSection>& all, const TomlSection& section, const Source& source, std::string what)
        : all_(&all), section_(&section), source_(&source), what_(std::move(what)) {}
    const TomlEntry& need(std::string_view key);

    const std::vector<TomlSection>* all_;
    const TomlSection* section_;
    const Source* source_;
    std::string what_;
    std::vector<std::string> asked_;
};

}  // namespace flashstep
