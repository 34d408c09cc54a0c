// What happens in one step of a trace: worked out once, for every panel and for the walk-through as text.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace.h"

namespace flashstep {

// One thing that a step does. A line with several assignments does several, in their order.
struct Change {
    enum class Kind {
        Load,   // a block of `matrix` comes to `tile`; tile -1: it streams through the chip
        Store,  // `tile` goes to a block of `matrix`; tile -1: a library call wrote it
        Init,   // a block of `matrix` is filled
        Write,  // `tile` is assigned a value
    };
    Kind kind;
    int matrix = -1, block = -1;  // in HBM; block -1: all of it
    int tile = -1;
    int version = -1;        // what it wrote, or what it loaded where nothing on chip holds it; -1: nothing
    std::int64_t bytes = 0;  // to and from HBM; of a Write to SRAM
    std::vector<int> operands =
        {};  // of a Write, a Store by a library call and an Init: the versions that its value reads
};

// A tile that operations of the step read.
struct Operand {
    int tile, version;
    std::int64_t bytes;
};

struct StepView {
    int step = 0;
    std::vector<Change> changes;
    std::vector<Operand> reads;  // in order of the tiles
    std::vector<int> resident;   // tiles on chip while the step runs, in order
    std::vector<int> freed;      // those of them that end with it
    // Bytes between HBM and the chip in this step; `stored` includes what is filled.
    std::int64_t loaded = 0, stored = 0;

    // The last change that moves a block of the matrix, null: none.
    const Change* move_of(int matrix) const;
    // The last that writes the tile, null: none.
    const Change* write_of(int tile) const;
    bool reads_tile(int tile) const;
};

// Step 0 holds the inputs: nothing happens in it.
StepView view_of(const Trace& trace, int step);

// The view of one step after the other, each made when it is asked for and kept until another is.
class StepViews {
  public:
    explicit StepViews(const Trace& trace) : trace_(&trace) {}
    const StepView& at(int step);

  private:
    const Trace* trace_;
    std::optional<StepView> kept_;
};

}  // namespace flashstep
