// Which presets are recorded, and under which names. The recordings themselves are written by
// cmake/embed_recordings.cmake.
#include "lessons/recorded.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/io/trace_file.h"
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

KernelRun read_recording(const Recording& recording) {
    const std::string file = std::string(recording.device) + "/" + recording_name(recording.preset, recording.kernel);
    KernelRun run = io::parse_kernel_run(recording.bytes, file);
    const auto refuse = [&](const std::string& what) { throw Error(file + ": " + what, "record it again"); };
    if (run.kernel != recording.kernel)
        refuse("the file's name says " + std::string(recording.kernel) + ", but it holds a run of " + run.kernel);
    if (run.where != Where::Recorded) refuse("it holds a run that is not marked as recorded");
    if (run.device.empty() || run.date.empty()) refuse("it does not say on which device and day it was recorded");
    return run;
}

std::span<const std::string_view> presets_to_record() {
    static const std::vector<std::string_view> chosen = chosen_presets();
    return chosen;
}

std::string recording_name(std::string_view preset, std::string_view kernel) {
    return std::string(preset) + "." + std::string(kernel) + ".fst";
}

}  // namespace flashstep
