// The registry of algorithms: pseudo-code table, body, closed form. Adding one is a file in core/algorithms/ and a line
// in algorithms.cpp.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/machine.h"

namespace flashstep {

enum class LineKind {
    Step,  // executed, one step each time
    Loop,  // executed, one step at the start of every iteration
    Text,  // structure or a statement about layout: no step
};

// One line of a paper's table. `tex` is mini-TeX: text with formulas between dollars.
struct PseudoLine {
    int number;
    int indent;
    LineKind kind;
    const char* tex;
};

// How an algorithm reads the problem's additive mask.
enum class MaskTiles {
    None,      // it does not
    Whole,     // as one stream
    Rows,      // 1 x B_c
    Blocks,    // B_r x B_c
    WarpRows,  // B_r x B_c, each warp its own rows
};

// What a closed form predicts for the whole batch; tests assert == with the counters.
struct ClosedForm {
    std::map<std::string, HbmBytes> hbm;  // by matrix
    std::int64_t flops_matmul = 0, flops_other = 0, flops_exp = 0;
    bool counts_sram = false;  // whether it predicts the next three
    std::int64_t sram_read = 0, sram_write = 0, barriers = 0;
};

struct Algorithm {
    std::string_view id, title;
    std::string_view source;  // paper and table
    std::span<const PseudoLine> lines;
    bool reads_scores;  // its input is X, a score matrix (default: tau Q K^T with the mask), not Q, K, V
    MaskTiles mask_tiles;
    int mask_passes;           // how often each mask tile is read
    std::string_view forward;  // id of the algorithm whose outputs a backward pass starts from; empty: none
    void (*run)(Machine&, const Problem&);      // one head
    ClosedForm (*closed_form)(const Problem&);  // without the additive mask: see closed_form() below
    bool base2 = false;                         // can take its exponentials in base 2 (Problem::base2)
};

std::span<const Algorithm> algorithms();
const Algorithm* find_algorithm(std::string_view id);  // nullptr: unknown

// The algorithm's closed form with the mask tiles it reads and adds.
ClosedForm closed_form(const Algorithm& algorithm, const Problem& problem);

struct Counts {
    Traffic traffic;
    std::map<std::string, HbmBytes> hbm;  // by matrix
    std::int64_t sram_peak = 0;
    bool sram_modelled = true;
    Memory memory;
    std::int64_t steps = 0;
    std::int64_t stored_values = 0;  // numbers a recording would hold beside the inputs
};

// Totals of the whole batch, from shapes alone. Throws Error: invalid problem, SRAM overflow (with the blocks that
// fit).
Counts count(const Algorithm& algorithm, const Problem& problem);

// Runs every head in order and keeps everything. Throws Error as `count`, if the recording would not fit in memory, and
// if `fault` belongs to another algorithm.
Trace record(const Algorithm& algorithm, const Problem& problem, const Inputs& inputs, const Fault* fault = nullptr);

// Totals of a finished recording, for comparison with `count`.
Counts counts_of(const Trace& trace);

// The largest square block (B_r = B_c) that fits a capacity; 0 if not even 1 does.
int largest_fitting_block(const Algorithm& algorithm, const Problem& problem);

}  // namespace flashstep
