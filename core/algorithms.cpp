// The ordered table of algorithms, and how they are run.
#include "core/algorithms.h"

#include <fmt/format.h>

#include <array>

#include "core/algorithms/warps.h"
#include "core/say.h"
#include "core/starting_values.h"

namespace flashstep {

template <typename File>
const Algorithm& row_of();  // defined in core/algorithms/bodies.h, instantiated by each algorithm's file

// The algorithms in order, a line each: it declares the type that the algorithm's file defines with its row.
constexpr std::array kRows = {
    row_of<struct NaiveSoftmax>,        row_of<struct SafeSoftmax>,     row_of<struct OnlineSoftmax>,
    row_of<struct OnlineSoftmaxBlocks>, row_of<struct SoftmaxBackward>, row_of<struct StandardAttention>,
    row_of<struct StandardBackward>,    row_of<struct Fa1Forward>,      row_of<struct Fa1Backward>,
    row_of<struct Fa2Forward>,          row_of<struct Fa2Backward>,     row_of<struct Fa2BackwardTwoPass>,
    row_of<struct WarpsSplitK>,         row_of<struct WarpsSplitQ>,
};

namespace {

constexpr std::int64_t kMostStoredValues = std::int64_t{1} << 28;  // 2 GiB of doubles
constexpr std::int64_t kMostSteps = std::int64_t{1} << 21;         // about 1 KiB each, with what happened in it

// Counting visits every tile of one head; this many take about a minute.
constexpr std::int64_t kMostTiles = 200'000'000;

bool in_tiles(const Algorithm& algorithm) {
    return algorithm.mask_tiles == MaskTiles::Blocks || algorithm.mask_tiles == MaskTiles::WarpRows;
}

// The problem as the algorithm takes it: in its own blocks, and without what it has no use for.
Problem as_tiled(const Algorithm& algorithm, Problem problem) {
    if (algorithm.mask_tiles == MaskTiles::Rows) problem.br = 1;
    problem.base2 = problem.base2 && algorithm.base2;
    return problem;
}

void refuse_endless(const Algorithm& algorithm, const Problem& p) {
    std::int64_t tiles = 0;
    if (in_tiles(algorithm) || algorithm.mask_tiles == MaskTiles::Rows)
        tiles = std::int64_t{p.row_blocks()} * p.col_blocks();
    if (tiles > kMostTiles)
        throw Error(say("{} with n {}, nk {} in blocks of br {}, bc {} visits {} tiles, the limit is {}",
                        "{}：n {}、nk {} 按 br {}、bc {} 分块，要遍历 {} 个 tile，上限是 {}", algorithm.id, p.n, p.nk,
                        p.br, p.bc, tiles, kMostTiles),
                    {"use larger blocks (--br, --bc)", "请增大分块（--br、--bc）"});
}

// A bound on every total of any algorithm here, with room to spare: totals are 64-bit.
void refuse_overflow(const Algorithm& algorithm, const Problem& p) {
    // Operations per score: one by one in a softmax; through the Jacobian of a row in its gradient; else along d and
    // d_v.
    const double depth =
        algorithm.reads_scores ? 1.0 : double{1} * p.d + p.dv + (algorithm.mask_tiles == MaskTiles::None ? p.nk : 0);
    if (64.0 * p.n * p.nk * depth * p.total_heads() >= 0x1p63)
        throw Error(say("the totals of {} with n {}, nk {}, d {}, dv {} and {} heads in all may pass the limit of 2^63",
                        "{}：n {}、nk {}、d {}、dv {}、共 {} 个 head 时，总量可能超过上限 2^63", algorithm.id, p.n,
                        p.nk, p.d, p.dv, p.total_heads()),
                    {"count fewer heads and multiply, or use a smaller problem",
                     "请只统计较少的 head 再按比例相乘，或缩小问题规模"});
}

// An overflow's message gains what would fit.
template <typename F>
auto with_fitting_blocks(const Algorithm& algorithm, const Problem& problem, const Task& task, F run) {
    try {
        return run();
    } catch (const Error& error) {
        if (problem.sram_bytes == 0 || std::string_view(error.what()).find("SRAM overflow") == std::string_view::npos)
            throw;
        const int fits = largest_fitting_block(algorithm, problem, task);
        throw Error(error.message(),
                    fits == 0 ? Sentence("not even B_r = B_c = 1 fits: allow more SRAM or a smaller d",
                                         "连 B_r = B_c = 1 也放不下：请增大 SRAM 或减小 d")
                              : say("the largest square block that fits is B_r = B_c = {0} (--br {0} --bc {0})",
                                    "放得下的最大方形分块是 B_r = B_c = {0}（--br {0} --bc {0}）", fits));
    }
}

void declare_mask(const Algorithm& algorithm, const Problem& p, Machine& machine) {
    switch (algorithm.mask_tiles) {
        case MaskTiles::None:
            break;
        case MaskTiles::Whole:
            machine.declare_mask(p.n, p.nk);
            break;
        case MaskTiles::Rows:
            machine.declare_mask(1, p.bc);
            break;
        case MaskTiles::Blocks:
        case MaskTiles::WarpRows:
            machine.declare_mask(p.br, p.bc);
            break;
    }
}

// Control flow depends on shapes only, so that all groups of heads that share K and V count the same; within a group
// the first head may differ (it stores what the others add to).
Machine::Totals count_heads(const Algorithm& algorithm, const Problem& problem, Machine& machine) {
    declare_mask(algorithm, problem, machine);
    const int group = algorithm.forward.empty() ? 1 : problem.heads / problem.kv_heads;
    for (int head = 0; head < group; ++head) {
        machine.begin_head(head);
        algorithm.run(machine, problem);
        machine.end_head();
    }
    const Machine::Totals one = machine.totals();
    return Machine::Totals().add_scaled(one, problem.total_heads() / group);
}

// What is given to the machine, by name.
struct Given {
    std::vector<Matrix> mask;
    Machine::Given matrices;

    Given(const Problem& problem, const Inputs& in, const StartingValues& start) {
        matrices = {{"Q", &in.Q}, {"K", &in.K}, {"V", &in.V}, {"dO", &in.dO}};
        if (problem.mask != MaskShape::None) {
            mask.push_back(in.mask);
            matrices["M"] = &mask;
        }
        for (const auto& [name, all] : start) matrices[name] = &all;
    }
    Given(const Given&) = delete;
};

// The count of what is to be recorded, if it can be.
Counts checked_count(const Algorithm& algorithm, const Problem& given, const Inputs& inputs, const Fault* fault,
                     const Task& task) {
    validate(given, inputs);
    if (fault && fault->algorithm != algorithm.id)
        throw Error(say("the fault {} is one of {}, not of {}", "典型错误 {} 属于 {}，不属于 {}", fault->id,
                        fault->algorithm, algorithm.id));
    const Counts expected = count(algorithm, given, task);
    if (expected.stored_values > kMostStoredValues)
        throw Error(say("recording {} would keep {} numbers, the limit is {}", "记录 {} 需要保存 {} 个数，上限是 {}",
                        algorithm.id, expected.stored_values, kMostStoredValues),
                    {"use a smaller problem, or `count`, which needs no values", "请缩小问题规模，或在命令行只计数"});
    if (expected.steps > kMostSteps)
        throw Error(say("recording {} would take {} steps, the limit is {}", "记录 {} 需要 {} 步，上限是 {}",
                        algorithm.id, expected.steps, kMostSteps),
                    {"use a smaller problem or larger blocks, or `count`, which needs no values",
                     "请缩小问题规模、增大分块，或在命令行只计数"});
    return expected;
}

Trace record_from(const Algorithm& algorithm, const Problem& problem, const Inputs& inputs, const StartingValues& start,
                  const Fault* fault, const Counts& expected, const Task& task) {
    const Given given(problem, inputs, start);
    Machine machine(Mode::Record, problem, given.matrices, fault, task);
    machine.expect(expected.traffic, expected.stored_values);
    declare_mask(algorithm, problem, machine);
    for (int head = 0; head < problem.total_heads(); ++head) {
        machine.begin_head(head);
        algorithm.run(machine, problem);
        machine.end_head();
    }
    return machine.take_trace(std::string(algorithm.id));
}

}  // namespace

std::span<const Algorithm> algorithms() {
    static const std::array<Algorithm, kRows.size()> table = [] {
        std::array<Algorithm, kRows.size()> copies{};
        for (std::size_t k = 0; k < copies.size(); ++k) copies[k] = kRows[k]();
        return copies;
    }();
    return table;
}

const Algorithm* find_algorithm(std::string_view id) {
    for (const Algorithm& algorithm : algorithms())
        if (algorithm.id == id) return &algorithm;
    return nullptr;
}

const Algorithm* yardstick_of(const Algorithm& algorithm) { return find_algorithm(algorithm.yardstick); }

ClosedForm closed_form(const Algorithm& algorithm, const Problem& problem) {
    ClosedForm form = algorithm.closed_form(as_tiled(algorithm, problem));
    if (problem.mask == MaskShape::None || algorithm.mask_tiles == MaskTiles::None) return form;
    Problem p = as_tiled(algorithm, problem);
    if (algorithm.mask_tiles == MaskTiles::Whole) p.br = p.n, p.bc = p.nk, p.causal = false;
    const std::int64_t heads = p.total_heads() * algorithm.mask_passes, bytes = element_bytes(p.dtype);
    for (int i = 0; i < p.row_blocks(); ++i) {
        const std::int64_t keys = std::min(p.visible_blocks(i) * p.bc, p.nk), rows = std::min(p.br, p.n - i * p.br);
        const std::int64_t readers = algorithm.mask_tiles == MaskTiles::WarpRows ? warps_at_work(p.br, rows) : 1;
        const std::int64_t elements = heads * keys * (p.mask == MaskShape::Keys ? readers : rows);
        form.hbm["M"].read += bytes * elements;
        form.flops_other += heads * rows * keys + (p.base2 ? elements : 0);
    }
    return form;
}

Counts count(const Algorithm& algorithm, const Problem& given, const Task& task) {
    validate(given);
    const Problem problem = as_tiled(algorithm, given);
    refuse_endless(algorithm, problem);
    refuse_overflow(algorithm, problem);
    return with_fitting_blocks(algorithm, problem, task, [&] {
        Machine machine(Mode::Count, problem, {}, nullptr, task);
        const Machine::Totals totals = count_heads(algorithm, problem, machine);
        Counts counts{.traffic = totals.traffic,
                      .hbm = {},
                      .sram_peak = machine.sram_peak(),
                      .sram_modelled = machine.sram_modelled(),
                      .memory = machine.memory(),
                      .steps = totals.steps,
                      .stored_values = totals.stored_values};
        for (std::size_t t = 0; t < machine.tensors().size(); ++t)
            counts.hbm[machine.tensors()[t].name] = totals.hbm[t];
        return counts;
    });
}

Recorded record_with_start(const Algorithm& algorithm, const Problem& given, const Inputs& inputs, const Fault* fault,
                           const Task& task) {
    const Counts expected = checked_count(algorithm, given, inputs, fault, task);
    const Problem problem = as_tiled(algorithm, given);
    StartingValues start = starting_values(algorithm, problem, inputs, task);
    Trace trace = record_from(algorithm, problem, inputs, start, fault, expected, task);
    return {std::move(start), std::move(trace)};
}

Trace record(const Algorithm& algorithm, const Problem& problem, const Inputs& inputs, const Fault* fault,
             const Task& task) {
    return record_with_start(algorithm, problem, inputs, fault, task).trace;
}

Trace record(const Algorithm& algorithm, const Problem& given, const Inputs& inputs, const StartingValues& start,
             const Fault* fault, const Task& task) {
    const Counts expected = checked_count(algorithm, given, inputs, fault, task);
    return record_from(algorithm, as_tiled(algorithm, given), inputs, start, fault, expected, task);
}

Counts counts_of(const Trace& trace) {
    Counts counts{.traffic = trace.steps.back().total,
                  .hbm = {},
                  .sram_peak = trace.sram_peak,
                  .sram_modelled = trace.sram_modelled,
                  .memory = trace.memory,
                  .steps = trace.last_step(),
                  .stored_values = 0};
    for (std::size_t t = 0; t < trace.tensors.size(); ++t)
        if (trace.tensors[t].space == Space::Hbm)
            counts.hbm[trace.tensors[t].name] = trace.hbm_bytes(static_cast<int>(t), trace.last_step());
    for (const Version& version : trace.versions)
        if (version.step > 0) counts.stored_values += std::int64_t{version.rows} * version.cols;
    return counts;
}

int largest_fitting_block(const Algorithm& algorithm, const Problem& problem, const Task& task) {
    const auto fits = [&](int block) {
        Problem one_tile = problem;
        one_tile.n = one_tile.nk = one_tile.br = one_tile.bc = block;
        one_tile = as_tiled(algorithm, one_tile);
        one_tile.causal = false;
        one_tile.mask = MaskShape::None;
        one_tile.batch = one_tile.heads = one_tile.kv_heads = 1;
        try {
            Machine machine(Mode::Count, one_tile, {}, nullptr, task);
            count_heads(algorithm, one_tile, machine);
            return true;
        } catch (const Cancelled&) { throw; } catch (const Error&) {
            return false;
        }
    };
    int low = 0, high = std::max(problem.n, problem.nk) + 1;  // fits(low), not fits(high)
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        (fits(middle) ? low : high) = middle;
    }
    return low;
}

}  // namespace flashstep
