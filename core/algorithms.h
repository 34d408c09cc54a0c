// The registry of algorithms: pseudo-code table, body, closed form. Adding one is a file in core/algorithms/ and a line
// in algorithms.cpp.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/machine.h"
#include "core/text.h"

namespace flashstep {

enum class LineKind {
    Step,  // executed, one step each time
    Loop,  // executed, one step at the start of every iteration
    Text,  // structure or a statement about layout: no step
};

// One line of a paper's table, in mini-TeX: text with formulas between dollars. What is all formulas needs no Chinese.
struct PseudoLine {
    int number;
    int indent;
    LineKind kind;
    const char* en;
    const char* zh = en;

    constexpr Text tex() const { return {en, zh}; }
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

// What a launch has a thread block for.
enum class BlockPer {
    Head,         // each (batch, head)
    RowBlock,     // each row block of each
    ColumnBlock,  // each column block of each
};

// A kernel that the papers make of an algorithm: what it leaves in HBM ("O, L"), and its thread blocks.
struct Launch {
    std::string_view writes;
    BlockPer per;
};

struct Algorithm {
    std::string_view id;
    Text title;
    std::string_view source;  // paper and table, cited in its own language
    std::span<const PseudoLine> lines;
    void (*run)(Machine&, const Problem&);      // one head
    ClosedForm (*closed_form)(const Problem&);  // without the additive mask: see closed_form() below
    bool reads_scores = false;  // its input is X, a score matrix (default: tau Q K^T with the mask), not Q, K, V
    MaskTiles mask_tiles = MaskTiles::None;
    int mask_passes = 1;              // how often each mask tile is read
    std::string_view forward = {};    // id of the algorithm whose outputs a backward pass starts from; empty: none
    std::string_view yardstick = {};  // id of the plain algorithm that it is measured by; empty: nothing is comparable
    std::span<const Launch> launches = {};  // in order; empty: library calls, or one row's softmax
    int warps = 0;                          // of a thread block; 0: any number
    bool base2 = false;                     // can take its exponentials in base 2 (Problem::base2)
};

std::span<const Algorithm> algorithms();
const Algorithm* find_algorithm(std::string_view id);       // nullptr: unknown
const Algorithm* yardstick_of(const Algorithm& algorithm);  // nullptr: nothing is comparable

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
// fit), Cancelled.
Counts count(const Algorithm& algorithm, const Problem& problem, const Task& task = {});

// Runs every head in order and keeps everything. Throws Error as `count`, if the recording would not fit in memory, and
// if `fault` belongs to another algorithm.
Trace record(const Algorithm& algorithm, const Problem& problem, const Inputs& inputs, const Fault* fault = nullptr,
             const Task& task = {});
// The same, with its starting_values(), which others may start from too.
struct Recorded {
    StartingValues start;
    Trace trace;
};
Recorded record_with_start(const Algorithm& algorithm, const Problem& problem, const Inputs& inputs,
                           const Fault* fault = nullptr, const Task& task = {});
// From what another recording of the algorithm, problem and inputs started from.
Trace record(const Algorithm& algorithm, const Problem& problem, const Inputs& inputs, const StartingValues& start,
             const Fault* fault = nullptr, const Task& task = {});

// Totals of a finished recording, for comparison with `count`.
Counts counts_of(const Trace& trace);

// The largest square block (B_r = B_c) that fits a capacity; 0 if not even 1 does.
int largest_fitting_block(const Algorithm& algorithm, const Problem& problem, const Task& task = {});

}  // namespace flashstep
