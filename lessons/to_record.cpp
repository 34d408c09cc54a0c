// Presets of lessons before others.
#include "lessons/to_record.h"

#include <algorithm>
#include <vector>

#include "lab/presets.h"
#include "lessons/lessons.h"

namespace flashstep {
namespace {

constexpr std::size_t kMostRecorded = 8;

std::vector<std::string_view> chosen_presets() {
    std::vector<std::string_view> chosen;
    const auto add = [&](const Preset* preset) {
        if (!preset || preset->kernel.empty() || chosen.size() == kMostRecorded) return;
        if (std::ranges::find(chosen, preset->id) == chosen.end()) chosen.push_back(preset->id);
    };
    for (const Lesson& lesson : lessons()) add(lesson.scenes.front().preset);
    for (const Preset& preset : presets()) add(&preset);
    return chosen;
}

}  // namespace

std::span<const std::string_view> presets_to_record() {
    static const std::vector<std::string_view> chosen = chosen_presets();
    return chosen;
}

}  // namespace flashstep
