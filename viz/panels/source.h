// The parts of the source panel that stand in files of their own: a kernel's CUDA source, and beside it nvcc's PTX.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "core/instruction_counts.h"
#include "viz/shell/app_state.h"
#include "viz/text/cuda_text.h"

namespace flashstep::viz {

// The chosen kernel, or one that mirrors the algorithm: its source may be read without running it. Empty: there is
// none.
std::string_view shown_kernel(const AppState& app);

// What warps ran of a line of a kernel's source.
struct LineCount {
    int in_text = 0;  // instructions
    std::int64_t warps = 0;
    bool operator==(const LineCount&) const = default;
};
// By line of the source of `kernel`, from 0; empty: the code is another kernel's, or none.
using LineCounts = std::map<int, LineCount>;
LineCounts line_counts(const InstructionCounts& counts, std::string_view kernel);
// Those of the shown run, counted once.
const LineCounts& line_counts(AppState& app);

// ---- CUDA

struct CudaPane {
    CudaText text;
    int scrolled_to = -1;  // the first marked line when it was last scrolled
};

// Brings the pane's text up to date; false: the algorithm has no kernel.
bool read_kernel(CudaPane& pane, std::string_view kernel);
// With how often each line ran, where that is known. Returns the line that was clicked, or -1.
int draw_cuda_pane(AppState& app, CudaPane& pane, const std::set<int>& marked, ImVec2 size);

// ---- CUDA | PTX

struct PtxRow {
    enum class Kind { Entry, Label, Instruction } kind = Kind::Instruction;
    int instruction = 0;  // in InstructionCounts::code
};
std::vector<PtxRow> rows_of(const InstructionCounts& counts);

struct PtxPane {  // of one run
    CudaPane cuda;
    std::vector<PtxRow> rows;
    int longest = 0;       // characters
    int chosen = -1;       // line of the source that was clicked, from 0; -1: the current line's are marked
    int scrolled_to = -1;  // row
};
void draw_ptx(AppState& app);

}  // namespace flashstep::viz
