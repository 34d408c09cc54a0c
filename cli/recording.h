// Kernel runs on a named GPU, kept as files so that machines without one can show them.
#pragma once

#include <string>
#include <string_view>

#include "lab/presets.h"
#include "lab/run.h"

namespace flashstep::cli {

// A device's name as that of its folder and files: "NVIDIA H200" is nvidia-h200. Throws Error for a name without a
// letter or digit.
std::string device_folder(std::string_view device);

// Writes a live run of the preset's kernel as FOLDER/<device>/<preset>.<kernel>.fst and gives its path. `date` is
// YYYY-MM-DD. Throws Error: a run that is none of a device, or that differs from its mirror: only what was seen to be
// right is kept; a file that cannot be written.
std::string write_recording(const std::string& folder, const Preset& preset, const Run& run,
                            std::string_view date);

}  // namespace flashstep::cli
