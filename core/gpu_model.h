// The shape of a GPU and what it means for an algorithm: thread blocks per SM, waves, the blocks that fit, a roofline
// estimate. Nothing here needs CUDA or a device; times are estimates, never measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/algorithms.h"

namespace flashstep {

// What one SM holds, by compute capability.
struct SmLimits {
    int capability;  // 80 for 8.0
    int threads, blocks, registers;
    int shared_bytes;           // for all its thread blocks, with what is reserved
    int shared_bytes_of_block;  // that one thread block may ask for (opt-in limit)
    int reserved_bytes;         // shared memory that the system takes for each thread block
    int shared_granularity;     // bytes; a block's share is rounded up to this
    int fp32_lanes;             // results a cycle: sums, products or both in one
    int special_lanes;          // results a cycle: 2^x, 1 / x, log2 x and the like
};

// Rules that are the same for every GPU of the table.
constexpr int kWarpThreads = 32;
constexpr int kMaxBlockThreads = 1024;
constexpr int kMaxThreadRegisters = 255;
constexpr int kWarpRegisterGranularity = 256;  // registers of a warp are rounded up to this
constexpr int kSmPartitions = 4;               // each with a quarter of the registers; a warp lives in one

struct Gpu {
    std::string_view id, title;  // title: the variant that the figures belong to
    int capability;
    int sms;
    double bandwidth;   // of its memory ("HBM" here, also where it is GDDR), bytes/s
    double fp16_flops;  // dense tensor-core peak with fp32 accumulation, 1/s
    double bf16_flops;  // the same; 0: no such tensor cores
    double fp32_flops;  // peak outside the tensor cores, an FMA counted as 2
    std::int64_t l2_bytes;
};

std::span<const Gpu> gpus();
const Gpu* find_gpu(std::string_view name);  // case and spaces do not matter; nullptr: unknown
const SmLimits& limits(const Gpu& gpu);

// What one thread block takes.
struct BlockUse {
    int threads = 128;
    int registers = 128;  // per thread
    std::int64_t shared_bytes = 0;
};

enum class Resource { Shared, Registers, Threads, Blocks };
std::string_view name(Resource resource);

// Thread blocks that an SM holds at once, and how many each resource alone would allow. A GPU whose first-level cache
// and shared memory are one is taken to give shared memory all it can.
struct Occupancy {
    int blocks = 0;  // 0: no such block can be launched
    int by_shared = 0, by_registers = 0, by_threads = 0, by_blocks = 0;
    int warps = 0;                   // of all its blocks
    double fraction = 0;             // of the warps that an SM can hold
    std::vector<Resource> limiting;  // those that allow no more than `blocks`
    std::string refusal;             // why it cannot be launched: value and limit; empty if it can
};

// Throws Error: no threads, or more than a block can have; registers outside 1..255; negative bytes.
Occupancy occupancy(const SmLimits& limits, const BlockUse& use);

// One kernel's thread blocks.
struct Grid {
    std::string_view writes;  // what the kernel leaves in HBM: "O, L"
    std::string_view shape;   // "(batch, head, row block)"
    std::int64_t blocks;
};

// The kernels that the papers make of an algorithm; empty: it is not modelled (library calls, or one row's softmax).
std::vector<Grid> grids(const Algorithm& algorithm, const Problem& problem);

// Threads of a thread block where the algorithm says how many warps it has; 0: it does not.
int own_threads(const Algorithm& algorithm);

// A grid on a GPU. Blocks go to an SM without one first. Equal blocks are assumed: a causal mask makes them unequal.
struct Waves {
    std::int64_t waves = 0;          // rounds of at most sms x blocks_per_sm thread blocks
    std::int64_t last_wave = 0;      // thread blocks of the last one
    int busy_sms = 0, idle_sms = 0;  // in the first wave
    int idle_sms_at_end = 0;         // in the last one
    double filled = 0;               // thread blocks / places in all waves
};

// blocks, blocks_per_sm and sms from 1 up.
Waves waves(std::int64_t blocks, int blocks_per_sm, int sms);

// The papers' blocks for a capacity, and what they need: K, V, Q, O tiles, which the rule budgets, and S, which it does
// not. Everything in elements of the matrices.
struct BlockRule {
    std::int64_t capacity = 0;  // M
    Blocks blocks{};
    std::int64_t needed = 0;  // (B_r + B_c)(d + d_v) + B_r B_c
    bool fits() const { return needed <= capacity; }
    int largest_square = 0;  // the largest B_r = B_c with these five tiles; 0: not even 1
};
BlockRule block_rule(std::int64_t sram_bytes, DType dtype, int d, int dv);

// SRAM peak, in bytes, of the algorithm's own tiles for one full tile of these blocks.
std::int64_t tile_bytes(const Algorithm& algorithm, const Problem& problem, Blocks blocks);

// max(HBM bytes / bandwidth, matmul FLOPs / matmul peak + other FLOPs / fp32 peak): all at peak, copies and arithmetic
// overlapped. Real kernels are slower; caches may make the first term smaller.
struct Roofline {
    double hbm_s = 0, matmul_s = 0, other_s = 0;
    double once_s = 0;          // HBM time if every input and output moved once (a cache that catches all re-reads)
    double matmul_flops = 0;    // the peak that matmuls were taken at
    bool tensor_cores = false;  // fp16, bf16 where the GPU has them; exact counts as fp32, which has none
    double flops_per_byte = 0;  // of the algorithm
    double compute_s() const { return matmul_s + other_s; }
    double seconds() const { return hbm_s > compute_s() ? hbm_s : compute_s(); }
    bool memory_bound() const { return hbm_s > compute_s(); }
};
Roofline roofline(const Gpu& gpu, const Counts& counts, DType dtype);

// An algorithm's kernels on a GPU.
struct KernelModel {
    std::int64_t rule_bytes;  // SRAM peak with the papers' blocks
    int largest_square;       // B_r = B_c
    BlockUse use;
    Occupancy occupancy;
    std::vector<Grid> grids;
};

// What is said of an algorithm on a GPU: `flashstep model` prints it, lessons quote it.
struct GpuModel {
    const Algorithm& algorithm;
    const Gpu& gpu;
    Problem problem;
    Counts counts;
    BlockRule rule;
    std::optional<KernelModel> kernels;  // absent where it is not modelled as kernels of its own
    Roofline estimate;
};

// A thread block takes the threads and registers of `use`, and as shared memory the SRAM peak. Throws Error as `count`.
GpuModel model_of(const Algorithm& algorithm, const Gpu& gpu, const Problem& problem, BlockUse use = {});

}  // namespace flashstep
