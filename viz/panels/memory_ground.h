// What stands behind and beside the tiles of the memory view: the ground of those in registers, and the legends.
#pragma once

#include <imgui.h>

#include <string_view>

#include "core/trace.h"
#include "viz/panels/memory_layout.h"

namespace flashstep::viz {

bool has_registers(const Trace& trace);

// A ground behind the tiles that a warp keeps in its registers; one for neighbours in a row.
void register_bands(const Ui& ui, ImDrawList* draw, const Trace& trace, const MemoryLayout& layout, ImVec2 origin);

// A square with the frame that a state has, and the state's name, ending at `right`. Returns the width.
float legend_entry(const Ui& ui, ImDrawList* draw, float right, float base, Rgb color, float thick,
                   std::string_view text);
// The same for cells that a mistake made wrong.
float spoiled_legend(const Ui& ui, ImDrawList* draw, float right, float base);
// The same for the ground of registers.
float registers_legend(const Ui& ui, ImDrawList* draw, float right, float base);

}  // namespace flashstep::viz
