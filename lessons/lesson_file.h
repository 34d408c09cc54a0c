// A lesson's files: Markdown with front matter in TOML between two lines of +++, and fenced blocks `beat`, `ask` and
// `try` whose keys are TOML too, so that every viewer of Markdown shows them readably.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lessons/lesson.h"

namespace flashstep {

struct LessonFile {
    std::string_view folder;  // "06_fa2_forward"
    Language language = Language::English;
    std::string_view text;
};

// The files that were embedded when the program was built, by folder.
std::span<const LessonFile> lesson_files();

// One language's file; the words of the other are empty. Throws Error: file, line, what is wrong and what to do.
Lesson parse_lesson(const LessonFile& file);

// What the languages share, one entry for each scene, beat, question, reference and link, with its line.
struct Shared {
    int line = 0;
    std::string what;
};
std::vector<Shared> shared_by_languages(const Lesson& lesson, Language language);

// The lesson with the words of both. Throws Error naming the first line in which the files differ in more than words.
Lesson join_languages(Lesson english, const Lesson& chinese);

}  // namespace flashstep
