// The machine that algorithms run on: HBM, on-chip tiles, and the words of the papers' pseudo-code. Every byte is
// counted where a block moves and every operation where it is defined, so that no algorithm mentions a counter.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/faults.h"
#include "core/trace.h"

namespace flashstep {

// Record computes and stores every version of every tile. Count runs the same code on shapes alone.
enum class Mode { Record, Count };

// A part of a tile.
struct Part {
    int row0, rows, col0, cols;
};

struct Cost;  // core/ops/operation.h
class Machine;

// An unnamed temporary. In Count mode it is a shape only; in Record mode `data` lives to the end of the step.
struct Value {
    Machine* machine = nullptr;
    Shape shape;
    const Matrix* data = nullptr;
    int expr = -1;
};

class Machine {
  public:
    static constexpr int kMaxTensors = 16;  // matrices in HBM of one algorithm

    // Totals that Count multiplies when identical iterations are run once.
    struct Totals {
        Traffic traffic;
        std::array<HbmBytes, kMaxTensors> hbm{};
        std::int64_t steps = 0;
        std::int64_t stored_values = 0;  // numbers that Record stores
        Totals& add_scaled(const Totals& delta, std::int64_t times);
        Totals minus(const Totals& other) const;
    };

    // The matrices in HBM that are given, by name; one per head or kv head.
    using Given = std::map<std::string, const std::vector<Matrix>*>;

    // `given` is not looked at in Count mode. What it points to must outlive the machine.
    // `fault` may be null; it changes the meaning of its word on its line. The task is asked at every step, and within
    // what takes long in one.
    Machine(Mode mode, const Problem& problem, Given given = {}, const Fault* fault = nullptr, const Task& task = {});

    // What the run will come to, as Count gives it: for the task's progress, and so that values are stored in place.
    void expect(const Traffic& whole, std::int64_t stored_values);

    Mode mode() const { return mode_; }
    bool recording() const { return mode_ == Mode::Record; }
    const Problem& problem() const { return problem_; }
    int head() const { return head_; }
    bool first_of_group() const { return head_ % (problem_.heads / problem_.kv_heads) == 0; }
    int line() const { return line_; }
    Meaning meaning(Word word) const {
        return fault_ && fault_->word == word && fault_->line == line_ ? fault_->meaning : Meaning::Right;
    }
    const Totals& totals() const { return totals_; }
    std::int64_t sram_peak() const { return sram_peak_; }

    // The additive mask in HBM, cut into tiles; before the first head.
    void declare_mask(int tile_rows, int tile_cols);
    bool has_mask() const { return mask_tensor_ >= 0; }
    Value load_mask(int i, int j, const Part* part = nullptr);  // counts the read; `part` of the tile
    Shape mask_tile() const { return mask_tile_; }

    void begin_head(int head);
    void end_head();
    // Closes the recording: memory footprint, last step. Record mode only.
    Trace take_trace(std::string algorithm);
    Memory memory() const;
    const std::vector<Tensor>& tensors() const { return trace_.tensors; }

    // For the words below.
    int step() const { return static_cast<int>(trace_.steps.size()) - 1; }
    void begin_step(int line);
    int loop_i = -1, loop_j = -1, loop_w = -1;
    // Computes and notes an operation; b may be null, and a too.
    Value value(const Expr& expr, const Value* a, const Value* b) {
        if (recording()) return recorded(expr, a, b);
        return {this, {expr.rows, expr.cols}, nullptr, -1};
    }
    void count(const Cost& cost);
    void count_barrier() { ++totals_.traffic.barriers; }
    void jump(const Totals& delta, std::int64_t times) { totals_.add_scaled(delta, times); }
    void stop_modelling_sram() { trace_.sram_modelled = false; }
    bool sram_modelled() const { return trace_.sram_modelled; }

  private:
    friend class Hbm;
    friend class Sram;
    friend class Stream;

    Value recorded(Expr expr, const Value* a, const Value* b);
    const Matrix* keep(Matrix values);  // to the end of the step
    int tensor(const Tensor& like);     // finds it by name and space, or adds it
    int add_version(int tensor, int copy, int block, const Matrix& data, int expr, int step);
    int leaf(int version);
    void touch_hbm(TouchKind kind, int tensor, int block, int partner, std::int64_t bytes, int version);
    void note_inputs(int tensor);  // step 0 holds the inputs
    void resize_tile(std::int64_t& held, std::int64_t bytes);
    void close_step();

    Mode mode_;
    Problem problem_;
    Given given_;
    const Fault* fault_;
    Task task_;
    double expected_flops_ = 0;  // 0: not known
    Totals totals_;
    std::int64_t sram_used_ = 0, sram_peak_ = 0;
    int line_ = 0, head_ = 0;
    bool rows_outer_ = true;
    int mask_tensor_ = -1;
    Shape mask_tile_;                 // rows and columns of a score tile, also where the mask has one row
    std::vector<Touch> reads_;        // of the open step, not yet sorted
    std::deque<Matrix> temporaries_;  // of the open step
    std::vector<int> leaves_;         // by version
    Trace trace_;
};

// What a load from HBM gives. Only a tile accepts it.
struct Loaded {
    int tensor, block, version;
    std::int64_t bytes;
    Value value;
};

// A named on-chip tile. Assignment is the recorded write, scope is residency, capacity is checked at every assignment.
class Sram {
  public:
    Sram(Machine& machine, const char* name, TensorKind kind = TensorKind::Operand)
        : Sram(machine, name, kind, false) {}
    Sram(const Sram&) = delete;
    ~Sram();

    Sram& operator=(Loaded&& loaded);  // the end of a load
    Sram& operator=(const Value& value);
    Sram& operator=(const Sram& other) { return *this = static_cast<Value>(other); }
    operator Value() const;              // an operand: one read
    Value part(const Part& part) const;  // an operand: one read of these elements
    Value rows(int first, int count) const { return part({first, count, 0, shape_.cols}); }
    Shape shape() const { return shape_; }
    Machine& machine() const { return machine_; }

  protected:
    Sram(Machine& machine, const char* name, TensorKind kind, bool registers);

  private:
    friend class Hbm;
    void write(const Value& value);
    Value operand(std::int64_t bytes) const;

    Machine& machine_;
    const char* name_;
    TensorKind kind_;
    bool registers_;
    int element_bytes_;
    bool written_ = false;
    Shape shape_;
    std::int64_t held_ = 0;  // bytes of SRAM
    int tensor_ = -1, version_ = -1;
    Matrix data_;
};

// A tile that a warp keeps in its registers: it takes no SRAM, and reading or writing it moves no SRAM bytes.
class Registers : public Sram {
  public:
    Registers(Machine& machine, const char* name, TensorKind kind = TensorKind::Operand)
        : Sram(machine, name, kind, true) {}
    using Sram::operator=;
};

// A matrix in HBM, cut into blocks. It has no arithmetic: blocks are loaded to tiles and stored from tiles.
class Hbm {
  public:
    // Row blocks of `block_rows` rows; block_cols 0: blocks span all columns.
    Hbm(Machine& machine, const char* name, TensorKind kind, Shape shape, int block_rows, Role role,
        PerHead per = PerHead::Query, int block_cols = 0);
    Hbm(Machine& machine, const char* name, Shape shape, int block_rows, Role role, PerHead per = PerHead::Query,
        int block_cols = 0)
        : Hbm(machine, name, TensorKind::Operand, shape, block_rows, role, per, block_cols) {}

    int blocks() const { return info_.row_blocks(); }
    Loaded load(int i, int j = 0) const;
    void store(int i, const Sram& tile) { store(i, 0, tile); }
    void store(int i, int j, const Sram& tile);
    // Fills the whole matrix before the loops. Counted as a write and as initialisation.
    void init(double number);
    void init_for_group(double number);  // the same, once for the query heads that share the matrix
    // Block += tile, as an atomic add does it: one read and one write of the block.
    void atomic_add(int i, const Sram& tile);
    // Stores the tile for the first query head of a group; the others of the group add to what is there.
    void store_or_add_in_group(int i, const Sram& tile);

  private:
    void write(int block, int partner, const Value& value, TouchKind kind);
    std::int64_t block_bytes(int block, Shape& shape) const;
    Machine& machine_;
    Tensor info_;
    int tensor_;
};

// A matrix in HBM that library calls stream through the chip: as an operand it is read once as a whole, as the target
// of an assignment written once. What the call keeps on chip is not modelled.
class Stream {
  public:
    Stream(Machine& machine, const char* name, TensorKind kind, Shape shape, Role role, PerHead per = PerHead::Query);
    Stream(Machine& machine, const char* name, Shape shape, Role role, PerHead per = PerHead::Query)
        : Stream(machine, name, TensorKind::Operand, shape, role, per) {}
    Stream(const Stream&) = delete;
    Stream& operator=(const Value& value);
    // Writes the value for the first query head of a group; the others of the group add to what is there.
    void store_or_add_in_group(const Value& value);
    operator Value() const;

  private:
    Machine& machine_;
    Tensor info_;
    int tensor_;
};

// The cursor in the pseudo-code: at(9) starts line 9, loop_i / loop_j start a loop's line at every iteration.
class At {
  public:
    explicit At(Machine& machine) : machine_(machine) {}
    void operator()(int line) { machine_.begin_step(line); }

    class Loop {
      public:
        Loop(Machine& machine, int& slot, int line, int first, int count, bool alike)
            : machine_(machine), slot_(slot), line_(line), first_(first), count_(count), alike_(alike) {}
        struct Iterator {
            Loop* loop;
            int index;
            bool operator!=(const Iterator& end) const { return index != end.index; }
            int operator*() const { return loop->enter(index); }
            Iterator& operator++() {
                index = loop->next(index);
                return *this;
            }
        };
        Iterator begin() { return {this, first_}; }
        Iterator end() { return {this, count_}; }

      private:
        int enter(int index);
        int next(int index);
        Machine& machine_;
        int& slot_;
        int line_, first_, count_;
        bool alike_;
        Machine::Totals before_;
    };
    Loop loop_i(int line, int count) { return {machine_, machine_.loop_i, line, 0, count, false}; }
    Loop loop_j(int line, int count) { return {machine_, machine_.loop_j, line, 0, count, false}; }
    Loop loop_w(int line, int count) { return {machine_, machine_.loop_w, line, 0, count, false}; }  // over warps
    Loop loop_i(int line, int first, int count) { return {machine_, machine_.loop_i, line, first, count, false}; }
    // Iterations that move and compute exactly the same amounts: Count runs one and multiplies.
    Loop each_i(int line, int count) { return {machine_, machine_.loop_i, line, 0, count, true}; }
    Loop each_j(int line, int count) { return {machine_, machine_.loop_j, line, 0, count, true}; }

  private:
    Machine& machine_;
};

// ---- The words. Shapes are those of matrices; FLOPs: 2mnk of a product, one per element otherwise. ----

Value operator*(const Value& a, const Value& b);  // matrix product
Value operator*(double factor, const Value& a);
Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);  // b may be a column
Value hadamard(const Value& a, const Value& b);   // element by element
Value operator/(const Value& a, const Value& b);  // 0 where b is 0
Value T(const Value& a);
Value max(const Value& a, const Value& b);
Value rowmax(const Value& a);
Value rowsum(const Value& a);
Value exp(const Value& a);
Value log(const Value& a);
Value diag_matrix(const Value& row);             // square, the row on its diagonal
Value exp_diff(const Value& a, const Value& b);  // e^(a - b), with e^(-inf - -inf) = 0; b may be a column
Value rescale(const Value& m_old,
              const Value& m_new);  // e^(m_old - m_new): what a value kept relative to m_old is worth
// -inf where the problem's mask hides the key, after its additive mask is read from HBM and added; tile (i, j).
Value mask(const Value& scores, int i, int j);
Value mask(const Value& scores, int i, int j, const Part& part);  // `scores` is this part of the tile
Value mask(const Value& scores);                                  // the whole score matrix
Value in_base(const Value& L);  // a natural logarithm in the base of the exponentials: log2(e) L for base 2
Value natural(const Value& m);  // the way back: ln(2) m for base 2
Value stack(const Value& above, const Value& below);
inline void barrier(Machine& machine) { machine.count_barrier(); }  // all warps of the thread block wait for each other
Value softmax(const Value& scores);                                 // row by row, as one library call
Value softmax_gradient(const Value& P, const Value& dP);            // P o (dP - rowsum(P o dP)), as one library call
Value zeros(Machine& machine, Shape shape);
Value fill(Machine& machine, Shape shape, double number);
inline Shape rows(const Sram& tile) { return {tile.shape().rows, 1}; }  // a column with as many rows

// diag(v) times a matrix scales its rows; inv(diag(v)) divides them, and gives 0 where v is 0.
struct Diagonal {
    Value column;
};
Diagonal diag(Value column);
Diagonal inv(Diagonal diagonal);
Value operator*(const Diagonal& factor, const Value& a);

}  // namespace flashstep
