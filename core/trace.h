// What a run left behind: every step, every version of every tile, every byte moved. Nothing here is ever replayed:
// the state at any step is found by binary search.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/expr.h"
#include "core/kernel_run.h"
#include "core/matrix.h"
#include "core/problem.h"

namespace flashstep {

enum class Space { Hbm, Sram };
enum class Role { Input, Output, Extra };  // of a matrix in HBM; Extra: needed beside the inputs and outputs
// What a tensor holds. Its bytes, its colour and where it may be -inf follow from this.
enum class TensorKind {
    Operand,   // Q, K, V, O and their like
    Scores,    // -inf where a mask hides a key
    Weights,   // e^(S - m), or softmax(S)
    Maximum,   // m, of a row: -inf while it has seen no key
    Sum,       // l, of a row's weights
    LogSum,    // L, of a row: -inf where it sees no key
    RowDot,    // D, of a row: rowsum(dO o O)
    Gradient,  // by any of them
    Mask,      // what is added to the scores
};
// One number per row, kept in fp32 whatever the format of the matrices.
constexpr bool is_statistic(TensorKind kind) {
    return kind == TensorKind::Maximum || kind == TensorKind::Sum || kind == TensorKind::LogSum ||
           kind == TensorKind::RowDot;
}
// Whether minus infinity says that a mask hides something, and is no accident.
constexpr bool may_be_hidden(TensorKind kind) {
    return kind == TensorKind::Scores || kind == TensorKind::Mask || kind == TensorKind::Maximum ||
           kind == TensorKind::LogSum;
}
enum class PerHead { Query, KeyValue, Shared };  // copies of a matrix in HBM: batch*heads, batch*kv_heads or one

// Running totals, in bytes and operations.
struct Traffic {
    std::int64_t hbm_read = 0, hbm_write = 0, hbm_init = 0;  // write includes init
    std::int64_t sram_read = 0, sram_write = 0;
    std::int64_t flops_matmul = 0, flops_other = 0, flops_exp = 0;  // other includes exp
    std::int64_t barriers = 0;                                      // of the thread block
    bool operator==(const Traffic&) const = default;
};

struct HbmBytes {
    std::int64_t read = 0, write = 0, init = 0;
    bool operator==(const HbmBytes&) const = default;
};

struct Memory {
    std::int64_t inputs = 0, outputs = 0, extra = 0;  // bytes allocated in HBM, whole batch
    bool operator==(const Memory&) const = default;
};

// A matrix in HBM, cut into blocks, or a named tile on chip.
struct Tensor {
    std::string name;  // "Q", "S_ij", ...
    TensorKind kind = TensorKind::Operand;
    Space space = Space::Sram;
    Role role = Role::Input;
    PerHead per = PerHead::Query;
    int rows = 0, cols = 0;              // HBM: of one head; SRAM: the largest it was
    int block_rows = 0, block_cols = 0;  // HBM only
    int element_bytes = 4;
    bool registers = false;  // a tile of one warp: its bytes are no SRAM traffic, and take no SRAM

    int row_blocks() const { return (rows + block_rows - 1) / block_rows; }
    int col_blocks() const { return (cols + block_cols - 1) / block_cols; }
    int blocks() const { return row_blocks() * col_blocks(); }
};

enum class TouchKind { Load, Store, Init, Read, Write };

// One movement within a step. Load and Store name a block in HBM and the tile it moves to or from; Init fills a block
// in HBM; Read and Write are operand reads and assignments of a tile (reads sorted by tile, each once).
struct Touch {
    TouchKind kind;
    int tensor;        // in HBM for Load, Store, Init; the tile for Read, Write
    int block = -1;    // of the matrix in HBM; -1: all of it (a library call streams it)
    int partner = -1;  // the tile of a Load or Store; -1 for a stream
    std::int64_t bytes = 0;
    int version = -1;  // what was moved, read or written
};

// One write: `values` in row-major order at `offset`.
struct Version {
    int step;
    int tensor;
    int copy = 0;   // HBM: index of the head's copy; SRAM: 0
    int block = 0;  // HBM: block index (row-major over blocks), -1: the whole matrix; SRAM: 0
    int rows = 0, cols = 0;
    std::size_t offset = 0;
    int expr = -1;
};

// One executed line of the pseudo-code. Step 0 (line 0) holds the inputs.
struct Step {
    int line = 0;
    int i = -1, j = -1;                      // 0-based loop indices; -1: outside that loop
    int w = -1;                              // 0-based index of the warp; -1: the whole thread block
    bool rows_outer = true;                  // the loop over i encloses the one over j
    int head = 0;                            // batch-major
    int touch_begin = 0, touch_end = 0;      // into Trace::touches
    int version_begin = 0, version_end = 0;  // into Trace::versions
    std::int64_t sram_bytes = 0;             // resident while the step runs
    Traffic total;                           // after the step
};

struct Trace {
    std::string algorithm;
    Problem problem;
    std::vector<Tensor> tensors;
    std::vector<Step> steps;
    std::vector<Touch> touches;
    std::vector<Version> versions;
    std::vector<Expr> exprs;
    std::vector<double> values;
    Memory memory;
    std::int64_t sram_peak = 0;
    bool sram_modelled = true;  // false: library calls stream their operands; SRAM capacity and peak mean nothing

    int last_step() const { return static_cast<int>(steps.size()) - 1; }
    // Index of a tensor, -1 if there is none.
    int find(std::string_view name, Space space) const;

    Eigen::Map<const Matrix> value(const Version& version) const {
        return {values.data() + version.offset, version.rows, version.cols};
    }
    // Index of the latest write to a block at or before `step`, -1 if there is none. O(log n).
    int version_at(int tensor, int step, int copy = 0, int block = 0) const;
    // The same for a tile, -1 also where the tile is not on chip at that step.
    int tile_at(int tensor, int step) const;
    // All tiles on chip at a step, in order of the tensors.
    std::vector<int> resident(int step) const;
    // A matrix in HBM as it is at a step: NaN where nothing was written yet, then `written` (same shape) says false.
    struct View {
        Matrix values;
        Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> written;
    };
    View matrix_at(int tensor, int step, int head) const;
    // Rows and columns of a block of a matrix in HBM (block -1: all).
    struct Range {
        int row0, rows, col0, cols;
    };
    Range block_range(int tensor, int block) const;
    // HBM bytes of one matrix up to and including a step. O(log n).
    HbmBytes hbm_bytes(int tensor, int step) const;
    // The copy of a matrix in HBM that belongs to a query head.
    int copy_of(int tensor, int head) const;
    // First and last step of a head, {0, 0} if it has none.
    std::pair<int, int> head_range(int head) const;

    // Kept by the machine while it records.
    struct Lifetime {
        int first, last;
    };
    std::vector<std::vector<std::vector<int>>> history;  // [tensor][copy * (blocks + 1) + block + 1]: versions
    std::vector<std::vector<Lifetime>> lifetimes;        // [tile]: steps on chip, in order
    std::vector<std::vector<std::pair<int, HbmBytes>>> byte_history;  // [matrix]: (step, totals)
};

}  // namespace flashstep
