// Times kernels that do one thing many times.
#include "gpu/executor_costs.h"

#include <time.h>

#include <algorithm>

#include "gpu/device.h"
#include "gpu/simt/executor.h"

namespace flashstep::gpu {

namespace {

using simt::Executor;
using simt::kWarp;

constexpr int kThreads = 128, kWarps = kThreads / kWarp, kRounds = 2000, kRuns = 5;

void nothing(int) {}
void block_barriers(int rounds) {
    for (int k = 0; k < rounds; ++k) sync_block();
}
void warp_barriers(int rounds) {
    for (int k = 0; k < rounds; ++k) sync_warp();
}
void shuffles(int rounds) {
    float sum = 0.0f;
    for (int k = 0; k < rounds; ++k) sum += shuffle_xor(sum, 1);
}
template <class T>
void products(int rounds) {
    const std::uint32_t one = pack_floats<T>(1.0f, -1.0f), a[4] = {one, one, one, one}, b[2] = {one, one};
    float d[4] = {};
    for (int k = 0; k < rounds; ++k) mma_m16n8k16<T>(d, a, b, d);
}

// A tile of 64 rows of 64 columns, of which each warp loads 16, swizzled.
template <class Body>
void on_tile(Body body) {
    auto chip = shared_memory();
    Shared<Half> tile = chip.take<Half>("tile", 64 * 64);
    for (int e = 8 * thread_idx().x; e < 64 * 64; e += 8 * block_dim().x) store_16(tile, e, Packet<Half, 16>{});
    sync_block();
    body(tile, thread_idx().x % kWarp, thread_idx().x / kWarp);
}
void matrix_loads(int rounds) {
    on_tile([rounds](const Shared<Half>& tile, int lane, int warp) {
        std::uint32_t registers[4];
        for (int k = 0; k < rounds; ++k) {
            const int row = 16 * warp + lane % 16, unit = (lane / 16 + 2 * (k % 4)) ^ row % 8;
            ldmatrix_x4(registers, tile, row * 64 + unit * 8);
        }
    });
}

void async_copies(Global<const Half> in, int rounds) {
    auto chip = shared_memory();
    Shared<Half> tile = chip.take<Half>("tile", kThreads * 8);
    for (int k = 0; k < rounds; ++k) {
        cp_async_16(tile, thread_idx().x * 8, in, thread_idx().x * 8);
        cp_async_commit();
        cp_async_wait<0>();
    }
}

// Of this thread at work: what others do on the machine meanwhile is left out.
double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class... Parameters, class... Arguments>
double seconds(Executor& machine, void (*kernel)(Parameters...), const Arguments&... arguments) {
    const Launch launch{.name = "bench", .block = {kThreads, 1, 1}, .shared_bytes = 64 * 64 * 2};
    std::vector<double> runs;
    for (int run = 0; run < kRuns; ++run) {
        const double start = now();
        machine.launch(launch, kernel, arguments...);
        runs.push_back(now() - start);
    }
    std::sort(runs.begin(), runs.end());
    return runs[kRuns / 2];
}

}  // namespace

std::vector<ExecutorCost> executor_costs(Checks checks) {
    Executor machine({.checks = checks});
    machine.add_input<Half>("in", std::vector<Half>(kThreads * 8, Half{0}));
    std::vector<ExecutorCost> costs;
    const auto add = [&](std::string what, std::int64_t in_a_round, auto kernel, const auto&... arguments) {
        const double base = seconds(machine, kernel, arguments..., 0);
        const double all = seconds(machine, kernel, arguments..., kRounds);
        const std::int64_t count = in_a_round * kRounds;
        costs.push_back({std::move(what), 1e9 * (all - base) / static_cast<double>(count), count});
    };
    costs.push_back({"block of 128 threads", 1e9 * seconds(machine, nothing, 0), 1});
    add("sync_block, per thread switch", kThreads, block_barriers);
    add("sync_warp, per warp", kWarps, warp_barriers);
    add("shuffle_xor, per warp", kWarps, shuffles);
    add("ldmatrix_x4, per warp", kWarps, matrix_loads);
    add("mma_m16n8k16 fp16, per warp", kWarps, products<Half>);
    add("mma_m16n8k16 bf16, per warp", kWarps, products<BFloat>);
    add("cp_async_16, per thread", kThreads, async_copies, machine.read<Half>("in"));
    return costs;
}

}  // namespace flashstep::gpu
