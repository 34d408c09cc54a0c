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

// Keeps [top, bottom] (screen pixels from the content's top) in the middle part of the window that scrolls.
void scroll_to(float top, float bottom);

// The chosen kernel, or one that mirrors the algorithm: its source may be read without running it. Empty: there is
// none.
std::string_view shown_kernel(const AppState& app);

// ---- CUDA

struct CudaPane {
    CudaText text;
    int scrolled_to = -1;  // the first marked line when it was last scrolled
};

// What is to be seen at the lines of a source, which count from 0.
struct CudaMarks {
    std::set<int> lines;                 // marked; the first is scrolled to when it changes
    std::map<int, std::int64_t> counts;  // how often warps ran their instructions; empty: not known
};

// By line of the source of `kernel`.
std::map<int, std::int64_t> counts_by_line(const InstructionCounts& counts, std::string_view kernel);

// Brings the pane's text up to date; false: the algorithm has no kernel.
bool read_kernel(CudaPane& pane, std::string_view kernel);
// Returns the line that was clicked, or -1.
int draw_cuda_pane(AppState& app, CudaPane& pane, const CudaMarks& marks, ImVec2 size);

// ---- CUDA | PTX

struct PtxRow {
    enum class Kind { Entry, Label, Instruction } kind = Kind::Instruction;
    int instruction = 0;  // in InstructionCounts::code
};
struct PtxPane {
    CudaPane cuda;
    std::vector<PtxRow> rows;
    const void* rows_of = nullptr;  // the run that they were made of
    int longest = 0;                // characters
    int chosen = -1;                // line of the source that was clicked, from 0; -1: the current line's are marked
    int scrolled_to = -1;           // row
};

std::vector<PtxRow> rows_of(const InstructionCounts& counts);
void draw_ptx(AppState& app, PtxPane& pane);

}  // namespace flashstep::viz
