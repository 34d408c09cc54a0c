// What is in a recording, and what it is called. The recordings themselves are written by cmake/embed_recordings.cmake.
#include "lab/recorded.h"

#include "core/error.h"
#include "core/io/trace_file.h"

namespace flashstep {
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

std::string recording_name(std::string_view preset, std::string_view kernel) {
    return std::string(preset) + "." + std::string(kernel) + ".fst";
}

}  // namespace flashstep
