// Counting and recording.
#include "core/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/ops/operation.h"
#include "core/say.h"

namespace flashstep {
namespace {

constexpr int kAlive = std::numeric_limits<int>::max();

// The format in which a matrix is kept in HBM.
DType format_of(TensorKind kind, const Problem& problem) {
    return is_statistic(kind) && problem.dtype != DType::Exact ? DType::Fp32 : problem.dtype;
}

int element_bytes_of(TensorKind kind, const Problem& problem) {
    return is_statistic(kind) ? 4 : element_bytes(problem.dtype);
}

std::int64_t size(Shape shape) { return std::int64_t{shape.rows} * shape.cols; }

}  // namespace

Machine::Totals& Machine::Totals::add_scaled(const Totals& delta, std::int64_t times) {
    const auto add = [&](auto field) { traffic.*field += delta.traffic.*field * times; };
    for (auto field :
         {&Traffic::hbm_read, &Traffic::hbm_write, &Traffic::hbm_init, &Traffic::sram_read, &Traffic::sram_write,
          &Traffic::flops_matmul, &Traffic::flops_other, &Traffic::flops_exp, &Traffic::barriers})
        add(field);
    for (int t = 0; t < kMaxTensors; ++t) {
        hbm[t].read += delta.hbm[t].read * times;
        hbm[t].write += delta.hbm[t].write * times;
        hbm[t].init += delta.hbm[t].init * times;
    }
    steps += delta.steps * times;
    stored_values += delta.stored_values * times;
    return *this;
}

Machine::Totals Machine::Totals::minus(const Totals& other) const { return Totals(*this).add_scaled(other, -1); }

namespace {
double flops_of(const Traffic& traffic) { return static_cast<double>(traffic.flops_matmul + traffic.flops_other); }
}  // namespace

void Machine::expect(const Traffic& whole, std::int64_t stored_values) {
    expected_flops_ = flops_of(whole);
    if (!recording()) return;
    std::int64_t inputs = 0;
    for (const auto& [name, matrices] : given_)
        for (const Matrix& matrix : *matrices) inputs += matrix.size();
    trace_.values.reserve(static_cast<std::size_t>(stored_values + inputs));
}

Machine::Machine(Mode mode, const Problem& problem, Given given, const Fault* fault, const Task& task)
    : mode_(mode), problem_(problem), given_(std::move(given)), fault_(fault), task_(task) {
    trace_.problem = problem;
    if (recording()) trace_.steps.emplace_back();
}

void Machine::declare_mask(int tile_rows, int tile_cols) {
    mask_tile_ = {tile_rows, tile_cols};
    if (problem_.mask == MaskShape::None) return;
    Tensor info;
    info.name = "M";
    info.kind = TensorKind::Mask;
    info.space = Space::Hbm;
    info.per = PerHead::Shared;
    info.rows = problem_.mask == MaskShape::Keys ? 1 : problem_.n;
    info.cols = problem_.nk;
    info.block_rows = std::min(tile_rows, info.rows);
    info.block_cols = std::min(tile_cols, info.cols);
    info.element_bytes = element_bytes(problem_.dtype);
    mask_tensor_ = tensor(info);
}

Value Machine::load_mask(int i, int j, const Part* part) {
    const Tensor& info = trace_.tensors[mask_tensor_];
    const int block = (info.rows == 1 ? 0 : i) * info.col_blocks() + j;
    const Trace::Range range = trace_.block_range(mask_tensor_, block);
    Value value{this, {range.rows, range.cols}, nullptr, -1};
    int version = -1;
    if (recording()) {
        version = trace_.version_at(mask_tensor_, step(), 0, block);
        value.data = keep(trace_.value(trace_.versions[version]));
        value.expr = leaf(version);
    }
    if (part) {
        const Part own = info.rows == 1 ? Part{0, 1, part->col0, part->cols} : *part;
        const Value whole = value;
        value = this->value({.op = Op::Part, .rows = own.rows, .cols = own.cols, .row0 = own.row0, .col0 = own.col0},
                            &whole, nullptr);
    }
    touch_hbm(TouchKind::Load, mask_tensor_, block, -1, size(value.shape) * info.element_bytes, version);
    return value;
}

void Machine::count(const Cost& cost) {
    totals_.traffic.flops_matmul += cost.matmul;
    totals_.traffic.flops_other += cost.other;
    totals_.traffic.flops_exp += cost.exp;
}

void Machine::begin_head(int head) {
    head_ = head;
    loop_i = loop_j = loop_w = -1;
}

void Machine::end_head() { close_step(); }

Trace Machine::take_trace(std::string algorithm) {
    trace_.algorithm = std::move(algorithm);
    trace_.memory = memory();
    trace_.sram_peak = sram_peak_;
    return std::move(trace_);
}

Memory Machine::memory() const {
    Memory memory;
    for (const Tensor& t : trace_.tensors) {
        if (t.space != Space::Hbm) continue;
        const std::int64_t copies = t.per == PerHead::Shared     ? 1
                                    : t.per == PerHead::KeyValue ? std::int64_t{problem_.batch} * problem_.kv_heads
                                                                 : problem_.total_heads();
        auto& sum = t.role == Role::Input ? memory.inputs : t.role == Role::Output ? memory.outputs : memory.extra;
        sum += copies * t.rows * t.cols * t.element_bytes;
    }
    return memory;
}

void Machine::begin_step(int line) {
    task_.checkpoint();
    if (expected_flops_ > 0) task_.report(flops_of(totals_.traffic), expected_flops_);
    close_step();
    line_ = line;
    ++totals_.steps;
    if (!recording()) return;
    temporaries_.clear();
    if ((loop_i < 0) != (loop_j < 0)) rows_outer_ = loop_i >= 0;  // the outer loop is entered first
    Step step;
    step.rows_outer = rows_outer_;
    step.line = line;
    step.i = loop_i;
    step.j = loop_j;
    step.w = loop_w;
    step.head = head_;
    step.touch_begin = static_cast<int>(trace_.touches.size());
    step.version_begin = static_cast<int>(trace_.versions.size());
    step.sram_bytes = sram_used_;
    trace_.steps.push_back(step);
}

// Sorts and merges the step's operand reads: C++ leaves the order of operands open, and a trace must not depend on it.
void Machine::close_step() {
    if (!recording()) return;
    std::sort(reads_.begin(), reads_.end(), [](const Touch& a, const Touch& b) {
        return std::pair(a.tensor, a.version) < std::pair(b.tensor, b.version);
    });
    for (const Touch& read : reads_) {
        Touch* last = trace_.touches.empty() ? nullptr : &trace_.touches.back();
        if (last && last->kind == TouchKind::Read && last->version == read.version &&
            static_cast<int>(trace_.touches.size()) > trace_.steps.back().touch_begin)
            last->bytes += read.bytes;
        else
            trace_.touches.push_back(read);
    }
    reads_.clear();
    Step& step = trace_.steps.back();
    step.touch_end = static_cast<int>(trace_.touches.size());
    step.version_end = static_cast<int>(trace_.versions.size());
    step.total = totals_.traffic;
}

int Machine::tensor(const Tensor& like) {
    const int found = trace_.find(like.name, like.space);
    if (found >= 0) return found;
    const auto count = trace_.tensors.size();
    if (like.space == Space::Hbm && count >= kMaxTensors)
        throw Error(fmt::format("more than {} matrices in HBM", kMaxTensors));
    trace_.tensors.push_back(like);
    trace_.history.emplace_back();
    trace_.lifetimes.emplace_back();
    trace_.byte_history.emplace_back();
    if (like.space == Space::Hbm && like.role == Role::Input && recording()) note_inputs(static_cast<int>(count));
    return static_cast<int>(count);
}

void Machine::note_inputs(int tensor) {
    const Tensor info = trace_.tensors[tensor];
    const auto found = given_.find(info.name);
    if (found == given_.end()) throw Error(fmt::format("no input is called {}", info.name));
    const std::vector<Matrix>* source = found->second;
    const DType format = format_of(info.kind, problem_);
    for (std::size_t copy = 0; copy < source->size(); ++copy)
        for (int block = 0; block < info.blocks(); ++block) {
            const Trace::Range range = trace_.block_range(tensor, block);
            Matrix data = (*source)[copy].block(range.row0, range.col0, range.rows, range.cols);
            round_all(data, format, task_);
            trace_.exprs.push_back({.op = Op::Input, .rows = range.rows, .cols = range.cols});
            add_version(tensor, static_cast<int>(copy), block, data, static_cast<int>(trace_.exprs.size()) - 1, 0);
        }
    if (step() == 0) trace_.steps[0].version_end = static_cast<int>(trace_.versions.size());
}

int Machine::add_version(int tensor, int copy, int block, const Matrix& data, int expr, int step) {
    const int index = static_cast<int>(trace_.versions.size());
    trace_.versions.push_back({.step = step,
                               .tensor = tensor,
                               .copy = copy,
                               .block = block,
                               .rows = static_cast<int>(data.rows()),
                               .cols = static_cast<int>(data.cols()),
                               .offset = trace_.values.size(),
                               .expr = expr});
    task_.checkpoint();
    trace_.values.insert(trace_.values.end(), data.data(), data.data() + data.size());
    leaves_.push_back(-1);
    Tensor& info = trace_.tensors[tensor];
    auto& lists = trace_.history[tensor];
    std::size_t slot = 0;
    if (info.space == Space::Hbm) {
        slot = static_cast<std::size_t>(copy) * (info.blocks() + 1) + block + 1;
    } else {
        info.rows = std::max(info.rows, static_cast<int>(data.rows()));
        info.cols = std::max(info.cols, static_cast<int>(data.cols()));
    }
    if (lists.size() <= slot) lists.resize(slot + 1);
    lists[slot].push_back(index);
    return index;
}

int Machine::leaf(int version) {
    if (leaves_[version] < 0) {
        const Version& v = trace_.versions[version];
        trace_.exprs.push_back({.op = Op::Leaf, .version = version, .rows = v.rows, .cols = v.cols});
        leaves_[version] = static_cast<int>(trace_.exprs.size()) - 1;
    }
    return leaves_[version];
}

void Machine::touch_hbm(TouchKind kind, int tensor, int block, int partner, std::int64_t bytes, int version) {
    const bool writes = kind != TouchKind::Load;
    auto& total = writes ? totals_.traffic.hbm_write : totals_.traffic.hbm_read;
    auto& own = writes ? totals_.hbm[tensor].write : totals_.hbm[tensor].read;
    if (kind == TouchKind::Init) {
        totals_.traffic.hbm_init += bytes;
        totals_.hbm[tensor].init += bytes;
    }
    total += bytes;
    own += bytes;
    if (!recording()) return;
    trace_.touches.push_back(
        {.kind = kind, .tensor = tensor, .block = block, .partner = partner, .bytes = bytes, .version = version});
    auto& history = trace_.byte_history[tensor];
    if (history.empty() || history.back().first != step()) history.emplace_back(step(), HbmBytes{});
    history.back().second = totals_.hbm[tensor];
}

void Machine::resize_tile(std::int64_t& held, std::int64_t bytes) {
    const std::int64_t needed = sram_used_ - held + bytes;
    if (problem_.sram_bytes > 0 && needed > problem_.sram_bytes)
        throw Error(say("line {}: SRAM overflow, {} of {} bytes",
                        "伪代码第 {} 行：片上 SRAM 溢出，需要 {} 字节，容量为 {} 字节", line_, needed,
                        problem_.sram_bytes));
    sram_used_ = needed;
    held = bytes;
    sram_peak_ = std::max(sram_peak_, sram_used_);
}

const Matrix* Machine::keep(Matrix values) { return &temporaries_.emplace_back(std::move(values)); }

Value Machine::recorded(Expr expr, const Value* a, const Value* b) {
    if (a) expr.a = a->expr;
    if (b) expr.b = b->expr;
    Value result{this,
                 {expr.rows, expr.cols},
                 keep(apply(expr, a ? a->data : nullptr, b ? b->data : nullptr, problem_, task_)),
                 0};
    trace_.exprs.push_back(expr);
    result.expr = static_cast<int>(trace_.exprs.size()) - 1;
    return result;
}

// ---- Sram ----

Sram::Sram(Machine& machine, const char* name, TensorKind kind, bool registers)
    : machine_(machine),
      name_(name),
      kind_(kind),
      registers_(registers),
      element_bytes_(element_bytes_of(kind, machine.problem())) {}

Sram::~Sram() {
    if (!written_) return;
    machine_.close_step();  // a tile is on chip to the end of the step in which it is last used
    machine_.sram_used_ -= held_;
    if (machine_.recording()) machine_.trace_.lifetimes[tensor_].back().last = machine_.step();
}

void Sram::write(const Value& value) {
    const std::int64_t bytes = registers_ ? 0 : size(value.shape) * element_bytes_;
    machine_.resize_tile(held_, bytes);
    machine_.totals_.traffic.sram_write += bytes;
    machine_.totals_.stored_values += size(value.shape);
    shape_ = value.shape;
    written_ = true;
    if (!machine_.recording()) return;
    Trace& trace = machine_.trace_;
    if (tensor_ < 0) {
        Tensor info;
        info.name = name_;
        info.kind = kind_;
        info.element_bytes = element_bytes_;
        info.registers = registers_;
        tensor_ = machine_.tensor(info);
        trace.lifetimes[tensor_].push_back({machine_.step(), kAlive});
    }
    data_ = *value.data;
    version_ = machine_.add_version(tensor_, 0, 0, *value.data, value.expr, machine_.step());
    trace.touches.push_back({.kind = TouchKind::Write, .tensor = tensor_, .bytes = bytes, .version = version_});
    Step& step = trace.steps.back();
    step.sram_bytes = std::max(step.sram_bytes, machine_.sram_used_);
}

Sram& Sram::operator=(const Value& value) {
    if (machine_.meaning(Word::StoreStatistic) == Meaning::HalfPrecision && is_statistic(kind_))
        write(machine_.value({.op = Op::ToHalf, .rows = value.shape.rows, .cols = value.shape.cols}, &value, nullptr));
    else
        write(value);
    return *this;
}

Sram& Sram::operator=(Loaded&& loaded) {
    write(loaded.value);
    machine_.touch_hbm(TouchKind::Load, loaded.tensor, loaded.block, tensor_, loaded.bytes, loaded.version);
    return *this;
}

Sram::operator Value() const { return operand(held_); }

Value Sram::part(const Part& part) const {
    const Value whole = operand(registers_ ? 0 : std::int64_t{part.rows} * part.cols * element_bytes_);
    return machine_.value({.op = Op::Part, .rows = part.rows, .cols = part.cols, .row0 = part.row0, .col0 = part.col0},
                          &whole, nullptr);
}

Value Sram::operand(std::int64_t bytes) const {
    if (!written_) throw Error(fmt::format("line {}: tile {} is read before it is written", machine_.line(), name_));
    machine_.totals_.traffic.sram_read += bytes;
    Value value{&machine_, shape_, nullptr, -1};
    if (machine_.recording()) {
        machine_.reads_.push_back({.kind = TouchKind::Read, .tensor = tensor_, .bytes = bytes, .version = version_});
        value.data = &data_;
        value.expr = machine_.leaf(version_);
    }
    return value;
}

// ---- Hbm ----

Hbm::Hbm(Machine& machine, const char* name, TensorKind kind, Shape shape, int block_rows, Role role, PerHead per,
         int block_cols)
    : machine_(machine) {
    info_.name = name;
    info_.kind = kind;
    info_.space = Space::Hbm;
    info_.role = role;
    info_.per = per;
    info_.rows = shape.rows;
    info_.cols = shape.cols;
    info_.block_rows = std::min(block_rows, shape.rows);
    info_.block_cols = block_cols ? block_cols : shape.cols;
    info_.element_bytes = element_bytes_of(kind, machine.problem());
    tensor_ = machine.tensor(info_);
}

std::int64_t Hbm::block_bytes(int block, Shape& shape) const {
    const int row0 = block / info_.col_blocks() * info_.block_rows,
              col0 = block % info_.col_blocks() * info_.block_cols;
    shape = {std::min(info_.block_rows, info_.rows - row0), std::min(info_.block_cols, info_.cols - col0)};
    return size(shape) * info_.element_bytes;
}

Loaded Hbm::load(int i, int j) const {
    Loaded loaded{tensor_, i * info_.col_blocks() + j, -1, 0, {&machine_, {}, nullptr, -1}};
    loaded.bytes = block_bytes(loaded.block, loaded.value.shape);
    if (!machine_.recording()) return loaded;
    const Trace& trace = machine_.trace_;
    loaded.version = trace.version_at(tensor_, machine_.step(), trace.copy_of(tensor_, machine_.head()), loaded.block);
    if (loaded.version < 0)
        throw Error(
            fmt::format("line {}: block {} of {} is loaded before it is written", machine_.line(), i + 1, info_.name));
    loaded.value.data = machine_.keep(trace.value(trace.versions[loaded.version]));
    loaded.value.expr = machine_.leaf(loaded.version);
    if (machine_.meaning(Word::Load) == Meaning::ZeroFilledTail && loaded.value.shape.rows < info_.block_rows)
        loaded.value = machine_.value({.op = Op::PadRows, .rows = info_.block_rows, .cols = loaded.value.shape.cols},
                                      &loaded.value, nullptr);
    return loaded;
}

void Hbm::write(int block, int partner, const Value& value, TouchKind kind) {
    Shape shape;
    const std::int64_t bytes = block_bytes(block, shape);
    if (!(value.shape == shape))
        throw Error(fmt::format("line {}: a {} x {} tile is stored to a {} x {} block of {}", machine_.line(),
                                value.shape.rows, value.shape.cols, shape.rows, shape.cols, info_.name));
    machine_.totals_.stored_values += size(shape);
    int version = -1;
    if (machine_.recording()) {
        Matrix data = *value.data;
        round_all(data, format_of(info_.kind, machine_.problem()), machine_.task_);
        const int copy = machine_.trace_.copy_of(tensor_, machine_.head());
        version = machine_.add_version(tensor_, copy, block, data, value.expr, machine_.step());
    }
    machine_.touch_hbm(kind, tensor_, block, partner, bytes, version);
}

void Hbm::store(int i, int j, const Sram& tile) {
    write(i * info_.col_blocks() + j, tile.tensor_, tile, TouchKind::Store);
}

void Hbm::init(double number) {
    for (int block = 0; block < info_.blocks(); ++block) {
        Shape shape;
        block_bytes(block, shape);
        write(block, -1, fill(machine_, shape, number), TouchKind::Init);
    }
}

void Hbm::init_for_group(double number) {
    if (machine_.first_of_group()) init(number);
}

void Hbm::atomic_add(int i, const Sram& tile) {
    const Loaded old = load(i);
    machine_.touch_hbm(TouchKind::Load, tensor_, old.block, tile.tensor_, old.bytes, old.version);
    write(old.block, tile.tensor_, old.value + tile, TouchKind::Store);
}

void Hbm::store_or_add_in_group(int i, const Sram& tile) {
    machine_.first_of_group() ? store(i, tile) : atomic_add(i, tile);
}

// ---- Stream ----

Stream::Stream(Machine& machine, const char* name, TensorKind kind, Shape shape, Role role, PerHead per)
    : machine_(machine) {
    info_.name = name;
    info_.kind = kind;
    info_.space = Space::Hbm;
    info_.role = role;
    info_.per = per;
    info_.rows = info_.block_rows = shape.rows;
    info_.cols = info_.block_cols = shape.cols;
    info_.element_bytes = element_bytes_of(kind, machine.problem());
    tensor_ = machine.tensor(info_);
    machine.stop_modelling_sram();
}

Stream::operator Value() const {
    const Shape shape{info_.rows, info_.cols};
    Value value{&machine_, shape, nullptr, -1};
    int version = -1;
    if (machine_.recording()) {
        const Trace& trace = machine_.trace_;
        version = trace.version_at(tensor_, machine_.step(), trace.copy_of(tensor_, machine_.head()));
        if (version < 0)
            throw Error(fmt::format("line {}: {} is read before it is written", machine_.line(), info_.name));
        value.data = machine_.keep(trace.value(trace.versions[version]));
        value.expr = machine_.leaf(version);
    }
    machine_.touch_hbm(TouchKind::Load, tensor_, -1, -1, size(shape) * info_.element_bytes, version);
    return value;
}

Stream& Stream::operator=(const Value& value) {
    if (!(value.shape == Shape{info_.rows, info_.cols}))
        throw Error(fmt::format("line {}: a {} x {} value is written to {}, {} x {}", machine_.line(), value.shape.rows,
                                value.shape.cols, info_.name, info_.rows, info_.cols));
    machine_.totals_.stored_values += size(value.shape);
    int version = -1;
    if (machine_.recording()) {
        Matrix data = *value.data;
        round_all(data, format_of(info_.kind, machine_.problem()), machine_.task_);
        const int copy = machine_.trace_.copy_of(tensor_, machine_.head());
        version = machine_.add_version(tensor_, copy, -1, data, value.expr, machine_.step());
    }
    machine_.touch_hbm(TouchKind::Store, tensor_, -1, -1, size(value.shape) * info_.element_bytes, version);
    return *this;
}

void Stream::store_or_add_in_group(const Value& value) {
    *this = machine_.first_of_group() ? value : static_cast<Value>(*this) + value;
}

// ---- At ----

int At::Loop::enter(int index) {
    if (alike_ && !machine_.recording()) before_ = machine_.totals();
    slot_ = index;
    machine_.begin_step(line_);
    return index;
}

int At::Loop::next(int index) {
    slot_ = -1;
    if (!alike_ || machine_.recording()) return index + 1;
    machine_.jump(machine_.totals().minus(before_), count_ - first_ - 1);
    return count_;
}

}  // namespace flashstep
