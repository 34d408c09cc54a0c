// The lessons, from their files.
#include "lessons/lessons.h"

#include <fmt/format.h>

#include <array>

#include "core/error.h"
#include "lessons/lesson_file.h"

namespace flashstep {
namespace {

std::vector<Lesson> read_lessons() {
    std::vector<Lesson> all;
    const std::span<const LessonFile> files = lesson_files();
    for (std::size_t k = 0; k + 1 < files.size(); k += kLanguages) {
        all.push_back(join_languages(parse_lesson(files[k]), parse_lesson(files[k + 1])));
        const Lesson& lesson = all.back();
        for (std::size_t other = 0; other + 1 < all.size(); ++other)
            if (all[other].number == lesson.number || all[other].id == lesson.id)
                throw Error(fmt::format("lessons/{} and lessons/{} have the same number or id", all[other].folder,
                                        lesson.folder),
                            "Rename one of the folders");
    }
    return all;
}

}  // namespace

std::string Lesson::file(Language language) const {
    return fmt::format("lessons/{}/{}.md", folder, language == Language::English ? "en" : "zh");
}

const Scene* Lesson::find_scene(std::string_view name) const {
    for (const Scene& scene : scenes)
        if (scene.name == name) return &scene;
    return nullptr;
}

std::span<const Lesson> lessons() {
    static const std::vector<Lesson> all = read_lessons();
    return all;
}

const Lesson* find_lesson(std::string_view id) {
    for (const Lesson& lesson : lessons())
        if (lesson.id == id) return &lesson;
    return nullptr;
}

std::span<const Text> course_parts() {
    static constexpr std::array table = {
        Text{"Why", "为什么"},      Text{"Softmax in one pass", "一遍算完 softmax"},
        Text{"Forward", "前向"},    Text{"Backward", "反向"},
        Text{"Counting", "算账"},   Text{"Kernels", "写成 kernel"},
        Text{"Beyond", "更进一步"},
    };
    return table;
}

}  // namespace flashstep
