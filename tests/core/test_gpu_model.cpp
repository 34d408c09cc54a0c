// The GPU's shape: the table, thread blocks per SM, waves, the papers' blocks against what fits, the roofline.
#include <doctest/doctest.h>

#include <array>
#include <set>

#include "core/error.h"
#include "core/gpu_model.h"
#include "gpu/launch.h"

using namespace flashstep;

namespace {

const Gpu& device(const char* name) {
    const Gpu* found = find_gpu(name);
    REQUIRE(found);
    return *found;
}

const Algorithm& algorithm(const char* id) { return *find_algorithm(id); }

Problem problem(int n, int d, int br, int bc, DType dtype) {
    Problem p;
    p.n = p.nk = n, p.d = p.dv = d, p.br = br, p.bc = bc, p.dtype = dtype;
    return p;
}

}  // namespace

TEST_CASE("vector G: the papers' rule budgets Q, K, V, O but not S, and fits in one of five") {
    struct Row {
        int kib;
        DType dtype;
        int d, bc, br;
        std::int64_t needed, capacity;
        bool fits;
    };
    for (const Row& row :
         {Row{48, DType::Fp32, 64, 48, 48, 14592, 12288, false}, Row{99, DType::Fp16, 128, 99, 99, 60489, 50688, false},
          Row{163, DType::Fp32, 64, 163, 64, 39488, 41728, true},
          Row{163, DType::Fp16, 128, 163, 128, 95360, 83456, false},
          Row{227, DType::Fp16, 128, 227, 128, 119936, 116224, false}}) {
        CAPTURE(row.kib);
        const BlockRule rule = block_rule(row.kib * 1024, row.dtype, row.d, row.d);
        CHECK(rule.capacity == row.capacity);
        CHECK(rule.blocks.bc == row.bc);
        CHECK(rule.blocks.br == row.br);
        CHECK(rule.needed == row.needed);
        CHECK(rule.fits() == row.fits);
        // Without S every one of them would fit, but for the rounding up of B_c.
        CHECK(rule.needed - row.br * row.bc <= row.capacity + 4 * row.d);
        const auto tiles = [&](std::int64_t b) { return 4 * b * row.d + b * b; };
        CHECK(tiles(rule.largest_square) <= row.capacity);
        CHECK(tiles(rule.largest_square + 1) > row.capacity);
    }
    CHECK(block_rule(8, DType::Fp32, 64, 64).largest_square == 0);
    const BlockRule wide = block_rule(1024, DType::Fp16, 8, 24);  // d_v counts: 512 elements, blocks 16 and 8
    CHECK(wide.needed == 24 * 32 + 8 * 16);
}

TEST_CASE("every GPU has limits, one name, and peaks in their order; names are matched without case and spaces") {
    std::set<std::string_view> names;
    for (const Gpu& one : gpus()) {
        CAPTURE(one.id);
        CHECK(names.insert(one.id).second);
        CHECK(find_gpu(one.id) == &one);
        const SmLimits& sm = limits(one);
        CHECK(sm.capability == one.capability);
        CHECK(sm.shared_bytes_of_block + sm.reserved_bytes == sm.shared_bytes);
        CHECK(sm.shared_bytes_of_block == gpu::opt_in_shared_bytes(one.capability));
        CHECK(one.fp16_flops > one.fp32_flops);
        CHECK((one.bf16_flops == one.fp16_flops || (one.bf16_flops == 0 && one.capability < 80)));
        // An FMA per clock and lane: a clock of 1.4 to 2.6 GHz.
        const double clock = one.fp32_flops / (2 * sm.fp32_lanes * one.sms);
        CHECK((clock > 1.3e9 && clock < 2.6e9));
        CHECK(sm.special_lanes == 16);
    }
    CHECK(find_gpu("rtx4090") == find_gpu("RTX 4090"));
    CHECK(find_gpu(" a 100 ") == find_gpu("A100"));
    CHECK(find_gpu("A10") == nullptr);
    CHECK(find_gpu("") == nullptr);
    CHECK(gpus().size() == 7);
    CHECK(device("A100").sms == 108);
    CHECK(device("H100").bandwidth == 3.35e12);
    CHECK(device("H200").bandwidth == 4.8e12);
    CHECK(device("A100").fp16_flops / device("A100").fp32_flops == 16);  // a FLOP outside matmuls costs 16 (Dao 2023)
}

TEST_CASE("occupancy agrees with the worked examples of NVIDIA's Best Practices Guide") {
    // "Calculating Occupancy": compute capability 7.0, 37 registers per thread.
    const SmLimits volta{70, 2048, 32, 65536, 96 * 1024, 96 * 1024, 0, 256, 64, 16};
    const Occupancy small = occupancy(volta, {.threads = 128, .registers = 37});
    CHECK(small.blocks == 12);
    CHECK(small.fraction == 0.75);
    CHECK(small.limiting == std::vector{Resource::Registers});
    const Occupancy odd = occupancy(volta, {.threads = 320, .registers = 37});
    CHECK(odd.blocks == 4);
    CHECK(odd.fraction == 0.625);
    // All 2048 threads need 32 registers at most.
    CHECK(occupancy(volta, {.threads = 256, .registers = 32}).fraction == 1);
    CHECK(occupancy(volta, {.threads = 256, .registers = 33}).fraction < 1);
}

TEST_CASE("occupancy: each resource limits in turn, and the reserved KiB counts") {
    const SmLimits& sm = limits(device("A100"));
    CHECK(occupancy(sm, {.threads = 1024, .registers = 16}).limiting == std::vector{Resource::Threads});
    CHECK(occupancy(sm, {.threads = 32, .registers = 16}).limiting == std::vector{Resource::Blocks});
    CHECK(occupancy(sm, {.threads = 128, .registers = 255}).limiting == std::vector{Resource::Registers});
    const BlockUse half{.threads = 128, .registers = 128, .shared_bytes = 82 * 1024};
    CHECK(occupancy(sm, half).blocks == 1);  // 2 x 82 KiB are the SM's 164, but each takes one more
    CHECK(occupancy(sm, half).limiting == std::vector{Resource::Shared});
    SmLimits wrong = sm;
    wrong.reserved_bytes = 0;
    CHECK(occupancy(wrong, half).blocks == 2);
    CHECK(occupancy(sm, {.shared_bytes = 81 * 1024}).blocks == 2);
    CHECK(occupancy(sm, {.shared_bytes = 81 * 1024 + 1}).blocks == 1);           // rounded up to 128 bytes
    CHECK(occupancy(limits(device("T4")), {.registers = 32}).by_shared > 1000);  // no limit without shared memory
}

TEST_CASE("thread blocks per SM equal those of NVIDIA's calculator, and a rule left out is seen") {
    // From cuda_occupancy.h of the CUDA 13.0 toolkit, all of the SM's memory given to shared memory, opt-in limit
    // raised.
    struct Row {
        const char* gpu;
        std::array<int, 13> blocks;
    };
    constexpr std::array kRows = {
        Row{"T4", {8, 3, 10, 3, 0, 1, 4, 4, 3, 1, 0, 16, 16}},
        Row{"A100", {12, 4, 16, 3, 0, 1, 3, 4, 3, 1, 0, 32, 32}},
        Row{"RTX 3090", {12, 4, 16, 3, 0, 1, 3, 4, 3, 1, 0, 16, 16}},
        Row{"RTX 4090", {12, 4, 16, 3, 0, 1, 3, 4, 3, 1, 0, 24, 24}},
        Row{"H100", {12, 4, 16, 3, 0, 1, 3, 4, 3, 1, 0, 32, 32}},
        Row{"H200", {12, 4, 16, 3, 0, 1, 3, 4, 3, 1, 0, 32, 32}},
        Row{"B200", {12, 4, 16, 3, 0, 1, 3, 4, 3, 1, 0, 32, 32}},
    };
    CHECK(kRows.size() == gpus().size());
    for (const Row& row : kRows) {
        CAPTURE(row.gpu);
        const SmLimits& sm = limits(device(row.gpu));
        const std::int64_t quarter = sm.shared_bytes / 4, own = quarter - sm.reserved_bytes,
                           most = sm.shared_bytes_of_block;
        const std::array<BlockUse, 13> uses = {
            BlockUse{128, 37, 0}, {320, 37, 0},       {96, 40, 0},    {288, 72, 0},       {1024, 65, 0},
            {160, 200, 0},        {256, 32, quarter}, {256, 32, own}, {256, 32, own + 1}, {32, 24, most},
            {32, 24, most + 1},   {32, 16, 1000},     {32, 16, 2100},
        };
        for (std::size_t k = 0; k < uses.size(); ++k) {
            CAPTURE(k);
            CHECK(occupancy(sm, uses[k]).blocks == row.blocks[k]);
        }
    }
    const SmLimits& sm = limits(device("A100"));
    CHECK(sm.registers / (37 * 128) != kRows[1].blocks[0]);      // registers by thread: 13 blocks
    CHECK(sm.registers / (200 * 32) / 5 != kRows[1].blocks[5]);  // without partitions: 2 blocks
    SmLimits no_reserve = sm, bytewise = sm;
    no_reserve.reserved_bytes = 0, bytewise.shared_granularity = 1;
    CHECK(occupancy(no_reserve, {256, 32, sm.shared_bytes / 4}).blocks != kRows[1].blocks[6]);
    const BlockUse split{32, 16, sm.shared_bytes / 31 - 1024};  // 31 blocks byte by byte
    CHECK(occupancy(bytewise, split).blocks == 31);
    CHECK(occupancy(sm, split).blocks == 30);
}

TEST_CASE("a block that cannot be launched is refused with both numbers") {
    const SmLimits& sm = limits(device("A100"));
    const Occupancy most = occupancy(sm, {.shared_bytes = 163 * 1024});
    CHECK(most.blocks == 1);
    CHECK(most.refusal.empty());
    const Occupancy over = occupancy(sm, {.shared_bytes = 163 * 1024 + 1});
    CHECK(over.blocks == 0);
    CHECK(over.refusal == "a thread block needs 166913 bytes of shared memory, the limit is 166912");
    const Occupancy registers = occupancy(sm, {.threads = 1024, .registers = 65});
    CHECK(registers.blocks == 0);
    CHECK(registers.refusal == "a thread block needs 73728 registers (32 warps of 2304), the limit is 65536");
    CHECK(occupancy(sm, {.threads = 1024, .registers = 64}).blocks == 1);
    for (const BlockUse& use :
         {BlockUse{0, 32, 0}, BlockUse{1025, 32, 0}, BlockUse{32, 0, 0}, BlockUse{32, 256, 0}, BlockUse{32, 32, -1}})
        CHECK_THROWS_AS(occupancy(sm, use), Error);
}

TEST_CASE("the articles' batch of 2 with 8 heads keeps 16 of 108 SMs busy in FA1's grid, all of them in FA2's") {
    Problem p = problem(4096, 64, 64, 64, DType::Fp16);
    p.batch = 2, p.heads = p.kv_heads = 8;
    const auto fa1 = grids(algorithm("fa1_forward"), p), fa2 = grids(algorithm("fa2_forward"), p);
    REQUIRE((fa1.size() == 1 && fa2.size() == 1));
    CHECK(fa1[0].blocks == 16);
    CHECK(fa1[0].shape == "(batch, head)");
    CHECK(fa2[0].blocks == 16 * 64);
    CHECK(fa2[0].shape == "(batch, head, row block)");
    const int sms = device("A100").sms;
    const Waves few = waves(fa1[0].blocks, 2, sms);
    CHECK((few.waves == 1 && few.busy_sms == 16 && few.idle_sms == 92 && few.idle_sms_at_end == 92));
    CHECK(few.filled == 16.0 / 216);
    const Waves many = waves(fa2[0].blocks, 2, sms);
    CHECK((many.waves == 5 && many.last_wave == 160 && many.busy_sms == 108 && many.idle_sms == 0));
    CHECK(many.filled == 1024.0 / 1080);
    CHECK(waves(216, 2, sms).waves == 1);
    const Waves one_more = waves(217, 2, sms);
    CHECK((one_more.waves == 2 && one_more.last_wave == 1 && one_more.idle_sms_at_end == 107));
}

TEST_CASE("every algorithm that works in tiles has a grid, and the two-pass backward has two") {
    Problem p = problem(100, 8, 32, 16, DType::Fp16);
    p.nk = 70, p.batch = 3, p.heads = 4;
    for (const Algorithm& one : algorithms()) {
        CAPTURE(one.id);
        const bool tiles = one.mask_tiles == MaskTiles::Blocks || one.mask_tiles == MaskTiles::WarpRows;
        const std::vector<Grid> found = grids(one, p);
        CHECK(found.empty() == (!tiles || one.reads_scores));
        for (const Grid& grid : found) {
            const std::int64_t blocks = grid.shape == "(batch, head)"              ? 12
                                        : grid.shape == "(batch, head, row block)" ? 12 * 4
                                                                                   : 12 * 5;
            CHECK(grid.blocks == blocks);
        }
    }
    const auto two = grids(algorithm("fa2_backward_two_pass"), p);
    REQUIRE(two.size() == 2);
    CHECK((two[0].blocks == 60 && two[1].blocks == 48));
    CHECK(grids(algorithm("fa2_backward"), p).at(0).shape == "(batch, head, column block)");
    CHECK(own_threads(algorithm("warps_split_k")) == 128);
    CHECK(own_threads(algorithm("fa2_forward")) == 0);
    CHECK(own_threads(algorithm("standard_attention")) == 0);
}

TEST_CASE(
    "an algorithm's own tiles need more than the five of the rule, and the largest block that fits is the largest") {
    const Algorithm& fa2 = algorithm("fa2_forward");
    Problem p = problem(4096, 128, 64, 64, DType::Fp16);
    const int limit = limits(device("A100")).shared_bytes_of_block;
    CHECK(tile_bytes(fa2, p, {64, 64}) == count(fa2, p).sram_peak);
    CHECK(tile_bytes(fa2, p, {128, 163}) > 2 * block_rule(limit, DType::Fp16, 128, 128).needed);
    p.sram_bytes = limit;
    const int largest = largest_fitting_block(fa2, p);
    CHECK(tile_bytes(fa2, p, {largest, largest}) <= limit);
    CHECK(tile_bytes(fa2, p, {largest + 1, largest + 1}) > limit);
}

TEST_CASE("the roofline is the larger of memory and arithmetic, with tensor cores where the format has them") {
    Counts counts;
    counts.traffic.hbm_read = 2'000'000'000, counts.traffic.hbm_write = 39'000'000;  // 1 ms on an A100
    counts.traffic.flops_matmul = 312'000'000'000, counts.traffic.flops_other = 39'000'000'000;
    counts.memory.inputs = 2'039'000, counts.memory.outputs = 2'039'000, counts.memory.extra = 1'000'000'000;
    const Roofline fp16 = roofline(device("A100"), counts, DType::Fp16);
    CHECK(fp16.hbm_s == doctest::Approx(1e-3));
    CHECK(fp16.matmul_s == doctest::Approx(1e-3));
    CHECK(fp16.other_s == doctest::Approx(2e-3));
    CHECK(fp16.once_s == doctest::Approx(2e-6));
    CHECK(fp16.seconds() == fp16.matmul_s + fp16.other_s);
    CHECK_FALSE(fp16.memory_bound());
    CHECK(fp16.flops_per_byte == doctest::Approx(351.0 / 2.039));
    CHECK(roofline(device("A100"), counts, DType::Bf16).seconds() == fp16.seconds());
    for (const DType dtype : {DType::Fp32, DType::Exact}) {
        const Roofline plain = roofline(device("A100"), counts, dtype);
        CHECK_FALSE(plain.tensor_cores);
        CHECK(plain.matmul_s == doctest::Approx(16e-3));
    }
    CHECK(roofline(device("T4"), counts, DType::Fp16).tensor_cores);
    CHECK_FALSE(roofline(device("T4"), counts, DType::Bf16).tensor_cores);  // Turing has none for bf16
    counts.traffic.hbm_read *= 10;
    const Roofline slow = roofline(device("A100"), counts, DType::Fp16);
    CHECK(slow.memory_bound());
    CHECK(slow.seconds() == slow.hbm_s);
}

TEST_CASE("at N = 4096 the estimate of standard attention is bound by memory and above FlashAttention-2's") {
    Problem p = problem(4096, 64, 128, 128, DType::Fp16);
    p.batch = 2, p.heads = p.kv_heads = 8;
    for (const Gpu& one : gpus()) {
        CAPTURE(one.id);
        const Roofline standard = roofline(one, count(algorithm("standard_attention"), p), p.dtype);
        const Roofline fa2 = roofline(one, count(algorithm("fa2_forward"), p), p.dtype);
        CHECK(standard.hbm_s / fa2.hbm_s == doctest::Approx(2 * 128 / 64.0).epsilon(0.02));  // 4N^2 / (2 T_r N d)
        CHECK(standard.memory_bound());
        CHECK(standard.seconds() > fa2.seconds());
    }
}
