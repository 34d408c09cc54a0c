// The course: the lessons in their order.
#pragma once

#include <span>
#include <string_view>

#include "lessons/lesson.h"

namespace flashstep {

// By number, read from the embedded files when they are first asked for; adding one is its two files. Throws Error
// naming file and line.
std::span<const Lesson> lessons();
const Lesson* find_lesson(std::string_view id);  // nullptr: unknown

// Names of the parts of the course, in order; Lesson::part counts from 1.
std::span<const Text> course_parts();

}  // namespace flashstep
