// Which presets are recorded, and under which names. The recordings themselves are written by
// cmake/embed_recordings.cmake.
#include "lessons/recorded.h"

#include <algorithm>
#include <vector>

#include "lessons/lessons.h"
#include "lessons/presets.h"

namespace flashstep {
namespace {

constexpr std::size_t kMostRecorded = 8;

std::vector<std::string_view> chosen_presets() {
    std::vector<std::string_view> chosen;
    const auto add = [&](const Preset* preset) {
        if (!preset || preset->kernel.empty() || chosen.size() == kMostRecorded) return;
        if (std::ranges::find(chosen, preset->id) == chosen.end()) chosen.push_back(preset->id);
    };
    for (const Lesson& lesson : lessons()) add(find_preset(lesson.preset));
    for (const Preset& preset : presets()) add(&preset);
    return chosen;
}

}  // namespace

std::span<const std::string_view> presets_to_record() {
    static const std::vector<std::string_view> chosen = chosen_presets();
    return chosen;
}

std::string recording_name(std::string_view preset, std::string_view kernel) {
    return std::string(preset) + "." + std::string(kernel) + ".fst";
}

}  // namespace flashstep
