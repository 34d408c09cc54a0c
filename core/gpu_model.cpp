// Occupancy, waves, blocks and the roofline: the arithmetic, without a device.
#include "core/gpu_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/error.h"

namespace flashstep {
namespace {

constexpr int kAny = std::numeric_limits<int>::max();

template <typename T>
constexpr T rounded_up(T value, T unit) {
    return (value + unit - 1) / unit * unit;
}

std::string_view shape(BlockPer per) {
    switch (per) {
        case BlockPer::Head:
            return "(batch, head)";
        case BlockPer::RowBlock:
            return "(batch, head, row block)";
        case BlockPer::ColumnBlock:
            return "(batch, head, column block)";
    }
    return {};
}

std::int64_t blocks_of(BlockPer per, const Problem& p) {
    const std::int64_t heads = p.total_heads();
    switch (per) {
        case BlockPer::Head:
            return heads;
        case BlockPer::RowBlock:
            return heads * p.row_blocks();
        case BlockPer::ColumnBlock:
            return heads * p.col_blocks();
    }
    return 0;
}

// K, V, Q, O and S.
std::int64_t five_tiles(std::int64_t br, std::int64_t bc, int d, int dv) { return (br + bc) * (d + dv) + br * bc; }

void require_use(const BlockUse& use) {
    const auto refuse = [](std::string_view what, std::int64_t value, std::string_view limit) {
        throw Error(fmt::format("{} is {}, but has to be {}", what, value, limit));
    };
    if (use.threads < 1 || use.threads > kMaxBlockThreads)
        refuse("the number of threads of a block", use.threads, fmt::format("from 1 to {}", kMaxBlockThreads));
    if (use.registers < 1 || use.registers > kMaxThreadRegisters)
        refuse("the number of registers of a thread", use.registers, fmt::format("from 1 to {}", kMaxThreadRegisters));
    if (use.shared_bytes < 0) refuse("the shared memory of a block in bytes", use.shared_bytes, "0 or more");
}

}  // namespace

std::string_view name(Resource resource) {
    constexpr std::array kNames = {"shared memory", "registers", "threads", "thread blocks"};
    return kNames[static_cast<std::size_t>(resource)];
}

// The rules of the CUDA occupancy calculator: shared memory by block, with the reserved part and rounded up; registers
// by warp, rounded up, each warp in one of four partitions of the SM.
Occupancy occupancy(const SmLimits& sm, const BlockUse& use) {
    require_use(use);
    Occupancy result;
    const int warps = (use.threads + kWarpThreads - 1) / kWarpThreads;
    result.by_blocks = sm.blocks;
    result.by_threads = sm.threads / kWarpThreads / warps;

    const std::int64_t shared = rounded_up<std::int64_t>(use.shared_bytes + sm.reserved_bytes, sm.shared_granularity);
    const bool shared_fits = use.shared_bytes <= sm.shared_bytes_of_block;
    result.by_shared = !shared_fits ? 0 : shared == 0 ? kAny : static_cast<int>(sm.shared_bytes / shared);

    // A launch is refused by registers as if its warps filled all partitions evenly.
    const int of_warp = rounded_up(use.registers * kWarpThreads, kWarpRegisterGranularity);
    const int assumed = of_warp * rounded_up(warps, kSmPartitions);
    const int warps_by_registers = sm.registers / kSmPartitions / of_warp * kSmPartitions;
    result.by_registers = assumed > sm.registers ? 0 : warps_by_registers / warps;

    const std::array all = {result.by_shared, result.by_registers, result.by_threads, result.by_blocks};
    result.blocks = *std::ranges::min_element(all);
    for (std::size_t k = 0; k < all.size(); ++k)
        if (all[k] == result.blocks) result.limiting.push_back(static_cast<Resource>(k));
    result.warps = result.blocks * warps;
    result.fraction = static_cast<double>(result.warps) / (sm.threads / kWarpThreads);

    if (!shared_fits)
        result.refusal = fmt::format("a thread block needs {} bytes of shared memory, the limit is {}",
                                     use.shared_bytes, sm.shared_bytes_of_block);
    else if (result.by_registers == 0)
        result.refusal = fmt::format("a thread block needs {} registers ({} warps of {}), the limit is {}", assumed,
                                     rounded_up(warps, kSmPartitions), of_warp, sm.registers);
    return result;
}

std::vector<Grid> grids(const Algorithm& algorithm, const Problem& problem) {
    std::vector<Grid> found;
    for (const Launch& launch : algorithm.launches)
        found.push_back({launch.writes, shape(launch.per), blocks_of(launch.per, problem)});
    return found;
}

int own_threads(const Algorithm& algorithm) { return algorithm.warps * kWarpThreads; }

Waves waves(std::int64_t blocks, int blocks_per_sm, int sms) {
    Waves result;
    const std::int64_t places = std::int64_t{blocks_per_sm} * sms;
    result.waves = (blocks + places - 1) / places;
    result.last_wave = blocks - (result.waves - 1) * places;
    result.busy_sms = static_cast<int>(std::min<std::int64_t>(blocks, sms));
    result.idle_sms = sms - result.busy_sms;
    result.idle_sms_at_end = sms - static_cast<int>(std::min<std::int64_t>(result.last_wave, sms));
    result.filled = static_cast<double>(blocks) / static_cast<double>(result.waves * places);
    return result;
}

BlockRule block_rule(std::int64_t sram_bytes, DType dtype, int d, int dv) {
    BlockRule rule;
    rule.capacity = sram_bytes / element_bytes(dtype);
    rule.blocks = paper_blocks(rule.capacity, d);
    rule.needed = five_tiles(rule.blocks.br, rule.blocks.bc, d, dv);
    int fits = 0, too_large = kMaxRows + 1;
    while (too_large - fits > 1) {
        const int middle = fits + (too_large - fits) / 2;
        (five_tiles(middle, middle, d, dv) <= rule.capacity ? fits : too_large) = middle;
    }
    rule.largest_square = fits;
    return rule;
}

std::int64_t tile_bytes(const Algorithm& algorithm, const Problem& problem, Blocks blocks) {
    Problem one = problem;
    one.n = one.br = blocks.br;
    one.nk = one.bc = blocks.bc;
    one.causal = false;
    one.mask = MaskShape::None;
    one.batch = one.heads = one.kv_heads = 1;
    one.sram_bytes = 0;
    return count(algorithm, one).sram_peak;
}

Roofline roofline(const Gpu& gpu, const Counts& counts, DType dtype) {
    const Traffic& t = counts.traffic;
    const double tensor = dtype == DType::Fp16 ? gpu.fp16_flops : dtype == DType::Bf16 ? gpu.bf16_flops : 0;
    const double bytes = static_cast<double>(t.hbm_read + t.hbm_write);
    Roofline result;
    result.tensor_cores = tensor > 0;
    result.matmul_flops = result.tensor_cores ? tensor : gpu.fp32_flops;
    result.hbm_s = bytes / gpu.bandwidth;
    result.once_s = static_cast<double>(counts.memory.inputs + counts.memory.outputs) / gpu.bandwidth;
    result.matmul_s = static_cast<double>(t.flops_matmul) / result.matmul_flops;
    result.other_s = static_cast<double>(t.flops_other) / gpu.fp32_flops;
    result.flops_per_byte = bytes > 0 ? static_cast<double>(t.flops_matmul + t.flops_other) / bytes : 0;
    return result;
}

GpuModel model_of(const Algorithm& algorithm, const Gpu& gpu, const Problem& problem, BlockUse use) {
    const SmLimits& sm = limits(gpu);
    GpuModel model{.algorithm = algorithm,
                   .gpu = gpu,
                   .problem = problem,
                   .counts = count(algorithm, problem),
                   .rule = block_rule(sm.shared_bytes_of_block, problem.dtype, problem.d, problem.dv),
                   .kernels = {},
                   .estimate = {}};
    model.estimate = roofline(gpu, model.counts, problem.dtype);
    std::vector<Grid> launched = grids(algorithm, problem);
    if (launched.empty()) return model;
    Problem limited = problem;
    limited.sram_bytes = sm.shared_bytes_of_block;
    limited.n = limited.nk =
        sm.shared_bytes_of_block;  // a row takes a byte at least; more than this problem's rows count
    use.shared_bytes = model.counts.sram_peak;
    model.kernels = KernelModel{.rule_bytes = tile_bytes(algorithm, problem, model.rule.blocks),
                                .largest_square = largest_fitting_block(algorithm, limited),
                                .use = use,
                                .occupancy = occupancy(sm, use),
                                .grids = std::move(launched)};
    return model;
}

}  // namespace flashstep
