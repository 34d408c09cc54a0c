// Kernel runs recorded on named GPUs: lessons/recorded/<device>/<preset>.<kernel>.fst, embedded when the program is
// built.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/kernel_run.h"

namespace flashstep {

struct Recording {
    std::string_view device;  // its folder's name; the device's own name and the date stand in the file
    std::string_view preset, kernel;
    std::string_view bytes;  // a kernel run file (core/io/trace_file.h), not checked before it is parsed
    bool operator==(const Recording&) const = default;
};

// By device, preset and kernel; empty where nothing was recorded.
std::span<const Recording> recordings();

// What is in a recording. Throws Error naming the file and what is wrong with it: damaged, a run of another kernel, not
// recorded on a named device at a date.
KernelRun read_recording(const Recording& recording);

// The file's name: "n4d3.fa2_forward_1_tile.fst".
std::string recording_name(std::string_view preset, std::string_view kernel);

}  // namespace flashstep
