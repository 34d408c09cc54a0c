// The ordered table of algorithms, and how they are run.
#include "core/algorithms.h"

#include <fmt/format.h>

#include <array>

#include "core/algorithms/bodies.h"
#include "core/algorithms/warps.h"
#include "core/starting_values.h"

namespace flashstep {
namespace {

constexpr std::int64_t kMostStoredValues = std::int64_t{1} << 28;  // 2 GiB of doubles
constexpr std::int64_t kMostSteps = std::int64_t{1} << 21;         // about 1 KiB each, with what happened in it

const std::array kAlgorithms = {&kNaiveSoftmax,    &kSafeSoftmax,       &kOnlineSoftmax,    &kOnlineSoftmaxBlocks,
                                &kSoftmaxBackward, &kStandardAttention, &kStandardBackward, &kFa1Forward,
                                &kFa1Backward,     &kFa2Forward,        &kFa2Backward,      &kFa2BackwardTwoPass,
                                &kWarpsSplitK,     &kWarpsSplitQ};

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
        throw Error(fmt::format("{} with n {}, nk {} in blocks of br {}, bc {} visits {} tiles, the limit is {}",
                                algorithm.id, p.n, p.nk, p.br, p.bc, tiles, kMostTiles),
                    "use larger blocks (--br, --bc)");
}

// A bound on every total of any algorithm here, with room to spare: totals are 64-bit.
void refuse_overflow(const Algorithm& algorithm, const Problem& p) {
    // Operations per score: one by one in a softmax; through the Jacobian of a row in its gradient; else along d and
    // d_v.
    const double depth =
        algorithm.reads_scores ? 1.0 : double{1} * p.d + p.dv + (algorithm.mask_tiles == MaskTiles::None ? p.nk : 0);
    if (64.0 * p.n * p.nk * depth * p.total_heads() >= 0x1p63)
        throw Error(
            fmt::format("the totals of {} with n {}, nk {}, d {}, dv {} and {} heads in all may pass the limit of 2^63",
                        algorithm.id, p.n, p.nk, p.d, p.dv, p.total_heads()),
            "count fewer heads and multiply, or use a smaller problem");
}

// An overflow's message gains what would fit.
template <typename F>
auto with_fitting_blocks(const Algorithm& algorithm, const Problem& problem, F run) {
    try {
        return run();
    } catch (const Error& error) {
        if (problem.sram_bytes == 0 || std::string_view(error.what()).find("SRAM overflow") == std::string_view::npos)
            throw;
        const int fits = largest_fitting_block(algorithm, problem);
        throw Error(
            error.what(),
            fits == 0 ? std::string("not even B_r = B_c = 1 fits: allow more SRAM or a smaller d")
                      : fmt::format("the largest square block that fits is B_r = B_c = {0} (--br {0} --bc {0})", fits));
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

// What an algorithm starts from: the inputs, and where it needs them the scores, or what its forward pass left in HBM.
struct Start {
    std::vector<Matrix> mask;
    std::map<std::string, std::vector<Matrix>> values;
    Machine::Given given;

    Start(const Algorithm& algorithm, const Problem& problem, const Inputs& in)
        : values(starting_values(algorithm, problem, in)) {
        given = {{"Q", &in.Q}, {"K", &in.K}, {"V", &in.V}, {"dO", &in.dO}};
        if (problem.mask != MaskShape::None) {
            mask.push_back(in.mask);
            given["M"] = &mask;
        }
        for (const auto& [name, matrices] : values) given[name] = &matrices;
    }
    Start(const Start&) = delete;
};

}  // namespace

std::span<const Algorithm> algorithms() {
    static const std::array<Algorithm, kAlgorithms.size()> table = [] {
        std::array<Algorithm, kAlgorithms.size()> copies{};
        for (std::size_t k = 0; k < copies.size(); ++k) copies[k] = *kAlgorithms[k];
        return copies;
    }();
    return table;
}

const Algorithm* find_algorithm(std::string_view id) {
    for (const Algorithm& algorithm : algorithms())
        if (algorithm.id == id) return &algorithm;
    return nullptr;
}

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

Counts count(const Algorithm& algorithm, const Problem& given) {
    validate(given);
    const Problem problem = as_tiled(algorithm, given);
    refuse_endless(algorithm, problem);
    refuse_overflow(algorithm, problem);
    return with_fitting_blocks(algorithm, problem, [&] {
        Machine machine(Mode::Count, problem);
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

Trace record(const Algorithm& algorithm, const Problem& given, const Inputs& inputs, const Fault* fault) {
    validate(given, inputs);
    const Problem problem = as_tiled(algorithm, given);
    if (fault && fault->algorithm != algorithm.id)
        throw Error(fmt::format("the fault {} is one of {}, not of {}", fault->id, fault->algorithm, algorithm.id));
    const Counts expected = count(algorithm, problem);
    if (expected.stored_values > kMostStoredValues)
        throw Error(fmt::format("recording {} would keep {} numbers, the limit is {}", algorithm.id,
                                expected.stored_values, kMostStoredValues),
                    "use a smaller problem, or `count`, which needs no values");
    if (expected.steps > kMostSteps)
        throw Error(
            fmt::format("recording {} would take {} steps, the limit is {}", algorithm.id, expected.steps, kMostSteps),
            "use a smaller problem or larger blocks, or `count`, which needs no values");
    const Start start(algorithm, problem, inputs);
    Machine machine(Mode::Record, problem, start.given, fault);
    declare_mask(algorithm, problem, machine);
    for (int head = 0; head < problem.total_heads(); ++head) {
        machine.begin_head(head);
        algorithm.run(machine, problem);
        machine.end_head();
    }
    return machine.take_trace(std::string(algorithm.id));
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

int largest_fitting_block(const Algorithm& algorithm, const Problem& problem) {
    const auto fits = [&](int block) {
        Problem one_tile = problem;
        one_tile.n = one_tile.nk = one_tile.br = one_tile.bc = block;
        one_tile = as_tiled(algorithm, one_tile);
        one_tile.causal = false;
        one_tile.mask = MaskShape::None;
        one_tile.batch = one_tile.heads = one_tile.kv_heads = 1;
        try {
            Machine machine(Mode::Count, one_tile);
            count_heads(algorithm, one_tile, machine);
            return true;
        } catch (const Error&) { return false; }
    };
    int low = 0, high = std::max(problem.n, problem.nk) + 1;  // fits(low), not fits(high)
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        (fits(middle) ? low : high) = middle;
    }
    return low;
}

}  // namespace flashstep
