// The table of lessons.
#include "lessons/lessons.h"

#include <array>

#include "lessons/texts.h"

namespace flashstep {

std::span<const Lesson> lessons() {
    static const std::array table = {
        Lesson{"first_walk",
               {"FlashAttention-2, step by step", "逐步看懂 FlashAttention-2"},
               "n4d3",
               {kFirstWalkEn, kFirstWalkZh}},
    };
    return table;
}

const Lesson* find_lesson(std::string_view id) {
    for (const Lesson& lesson : lessons())
        if (lesson.id == id) return &lesson;
    return nullptr;
}

}  // namespace flashstep
