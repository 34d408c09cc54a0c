// Which presets are worth a recording on a GPU.
#pragma once

#include <span>
#include <string_view>

namespace flashstep {

// Ids of the presets to record on each device, at most 8, each with a kernel: those of lessons first, the others in the
// order of their table.
std::span<const std::string_view> presets_to_record();

}  // namespace flashstep
