// Keys and their errors.
#include "lessons/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace flashstep {

int Keys::line_of(std::string_view key) const {
    const TomlEntry* entry = section_->find(key);
    return entry ? entry->line : section_->line;
}

bool Keys::has(std::string_view key) {
    asked_.emplace_back(key);
    return section_->find(key) != nullptr;
}

const TomlEntry& Keys::need(std::string_view key) {
    if (!has(key)) source_->fail(line(), fmt::format("{} needs {}", what_, key), fmt::format("Add {} = ...", key));
    return *section_->find(key);
}

void Keys::fail(std::string_view key, std::string_view wanted) const {
    source_->fail(line_of(key), fmt::format("{} is not {}", key, wanted));
}

std::string Keys::text(std::string_view key) {
    const auto* value = std::get_if<std::string>(&need(key).value);
    if (!value) fail(key, "a text in quotes");
    return *value;
}

std::string Keys::text_or(std::string_view key, std::string otherwise) {
    return has(key) ? text(key) : std::move(otherwise);
}

std::int64_t Keys::whole(std::string_view key, std::int64_t least, std::int64_t most) {
    const auto* value = std::get_if<std::int64_t>(&need(key).value);
    if (!value || *value < least || *value > most) fail(key, fmt::format("a whole number from {} to {}", least, most));
    return *value;
}

int Keys::count_or(std::string_view key, int otherwise) {
    return has(key) ? static_cast<int>(whole(key, 1, kMaxRows)) : otherwise;
}

double Keys::number(std::string_view key) {
    const TomlEntry& entry = need(key);
    if (const auto* value = std::get_if<std::int64_t>(&entry.value)) return static_cast<double>(*value);
    const auto* value = std::get_if<double>(&entry.value);
    if (!value || !std::isfinite(*value)) fail(key, "a number");
    return *value;
}

bool Keys::flag_or(std::string_view key, bool otherwise) {
    if (!has(key)) return otherwise;
    const auto* value = std::get_if<bool>(&need(key).value);
    if (!value) fail(key, "true or false");
    return *value;
}

std::vector<std::string> Keys::texts(std::string_view key) {
    const auto* value = std::get_if<std::vector<std::string>>(&need(key).value);
    if (!value) fail(key, "a list of texts, [\"...\", \"...\"]");
    return *value;
}

std::vector<std::string> Keys::texts_or_none(std::string_view key) {
    return has(key) ? texts(key) : std::vector<std::string>();
}

Prose Keys::prose(std::string_view key) {
    const std::string value = text(key);
    const std::size_t begin = value.find_first_not_of(" \n"), end = value.find_last_not_of(" \n");
    if (begin == std::string::npos) fail(key, "words");
    Prose prose;
    prose.in(source_->language) = {value.substr(begin, end + 1 - begin), line_of(key)};
    return prose;
}

Prose Keys::prose_or_none(std::string_view key) { return has(key) ? prose(key) : Prose(); }

Expression Keys::expression(std::string_view key) {
    const std::string value = text(key);
    Expression expression = source_->at(line_of(key), [&] { return parse_expression(value); });
    expression.line = line_of(key);
    return expression;
}

Place Keys::place(std::string_view key) {
    const std::string value = text(key);
    return source_->at(line_of(key), [&] { return parse_place(value); });
}

std::vector<Keys> Keys::elements(std::string_view name) {
    asked_.emplace_back(name);
    std::vector<Keys> found;
    for (const TomlSection& section : *all_)
        if (section.element && section.name == name)
            found.push_back(Keys(*all_, section, *source_, fmt::format("[[{}]]", name)));
    return found;
}

std::vector<std::pair<std::string, Keys>> Keys::tables(std::string_view group) {
    const std::string begin = std::string(group) + ".";
    std::vector<std::pair<std::string, Keys>> found;
    for (const TomlSection& section : *all_) {
        if (section.element || !section.name.starts_with(begin)) continue;
        asked_.push_back(section.name);
        found.emplace_back(section.name.substr(begin.size()),
                           Keys(*all_, section, *source_, fmt::format("[{}]", section.name)));
    }
    if (found.empty())
        source_->fail(line(), fmt::format("{} needs a [{}NAME]", what_, begin), fmt::format("Add [{}main]", begin));
    return found;
}

void Keys::finish() const {
    const auto refuse = [&](int line, std::string_view name) {
        source_->fail(line, fmt::format("{} knows no {}", what_, name),
                      fmt::format("It knows {}", fmt::join(asked_, ", ")));
    };
    const auto known = [&](std::string_view name) { return std::ranges::find(asked_, name) != asked_.end(); };
    for (const TomlEntry& entry : section_->entries)
        if (!known(entry.key)) refuse(entry.line, entry.key);
    if (section_ != &all_->front()) return;
    for (const TomlSection& section : *all_)
        if (!section.name.empty() && !known(section.name)) refuse(section.line, "[" + section.name + "]");
}

}  // namespace flashstep
