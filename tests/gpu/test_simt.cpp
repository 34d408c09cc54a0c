// The executor: every check catches a kernel that is wrong in just that way, and lets the right version pass.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/gpu/simt_machine.h"

namespace flashstep::gpu {

namespace {

// ---- barriers

void write_own(Global<float> out) { out[thread_idx().x] = static_cast<float>(thread_idx().x); }

void half_waits(Global<float> out) {
    if (thread_idx().x < 40) sync_block();
    write_own(out);
}

void two_barriers(Global<float> out) {
    if (thread_idx().x % 2 == 0) {
        sync_block();
    } else {
        sync_block();
    }
    write_own(out);
}

void half_warp_waits(Global<float> out) {
    if (thread_idx().x % 32 < 16) sync_warp();
    write_own(out);
}

void warp_splits(Global<float> out) {
    if (thread_idx().x % 32 < 16) {
        sync_warp();
    } else {
        sync_block();
    }
    write_own(out);
}

void shuffles_differ(Global<float> out) { out[thread_idx().x] = shuffle_xor(1.0f, thread_idx().x < 7 ? 1 : 2); }

void all_wait(Global<float> out) {
    sync_block();
    sync_warp();
    sync_block();
    write_own(out);
}

}  // namespace

TEST_CASE("A block whose threads do not all reach a barrier is a deadlock, and the message counts them") {
    Machine m(64);
    const std::string error = error_of(m.executor, launch_of(64), half_waits, m.out());
    says(error, "deadlock: 40 of 64 threads wait at the block barrier at test_simt.cpp:");
    says(error, "24 have ended");
    says(error, "test, block (0, 0, 0), thread (");
}

TEST_CASE("Threads of a block at two different barriers are divergent") {
    Machine m(64);
    const std::string error = error_of(m.executor, launch_of(64), two_barriers, m.out());
    says(error, "divergent barrier: waits at test_simt.cpp:");
}

TEST_CASE("A warp whose lanes do not all arrive is a deadlock at warp scope") {
    Machine a(64), b(64), c(64);
    says(error_of(a.executor, launch_of(64), half_warp_waits, a.out()), "16 of 32 lanes of its warp are at sync_warp");
    says(error_of(b.executor, launch_of(64), warp_splits, b.out()), "waits at the block barrier");
    says(error_of(c.executor, launch_of(64), shuffles_differ, c.out()), "divergent warp: at shuffle_xor");
}

TEST_CASE("Barriers that all threads reach pass, with one thread, ragged warps and the largest block") {
    for (int threads : {1, 5, 32, 33, 64, 1000, 1024}) {
        Machine m(threads);
        CHECK(error_of(m.executor, launch_of(threads), all_wait, m.out()) == "");
        CHECK(m.executor.counters().barriers == 2);
        CHECK(m.executor.counters().warp_barriers == (threads + 31) / 32);
        for (int k = 0; k < threads; ++k) CHECK(m.values()[static_cast<std::size_t>(k)] == k);
    }
}

TEST_CASE("An executor that has thrown runs the next launch") {
    Machine m(64);
    for (int round = 0; round < 3; ++round) {
        CHECK(error_of(m.executor, launch_of(64), half_waits, m.out()) != "");
        CHECK(error_of(m.executor, launch_of(64), shuffles_differ, m.out()) != "");
        CHECK(error_of(m.executor, launch_of(64), all_wait, m.out()) == "");
    }
}

// ---- races

namespace {

enum class Order { None, Warp, Block };

// Each thread reads what a neighbour wrote, `distance` threads on.
template <Order order>
void read_neighbour(Global<float> out, int distance) {
    auto chip = shared_memory();
    Shared<float> tile = chip.take<float>("tile", block_dim().x);
    const int t = thread_idx().x;
    tile[t] = static_cast<float>(t);
    if (order == Order::Warp) sync_warp();
    if (order == Order::Block) sync_block();
    out[t] = tile[(t + distance) % block_dim().x];
}

// All read, then one writes: a race of a write with an earlier read.
template <Order order>
void write_after_read(Global<float> out) {
    auto chip = shared_memory();
    Shared<float> tile = chip.take<float>("tile", 1);
    if (thread_idx().x == 0) tile[0] = 1.0f;
    sync_block();
    out[thread_idx().x] = tile[0];
    if (order == Order::Warp) sync_warp();
    if (order == Order::Block) sync_block();
    if (thread_idx().x == 3) tile[0] = 2.0f;
}

template <Order order>
void global_neighbour(Global<float> scratch, Global<float> out) {
    const int t = thread_idx().x;
    scratch[t] = static_cast<float>(t);
    if (order == Order::Block) sync_block();
    out[t] = scratch[(t + 1) % block_dim().x];
}

void same_place(Global<float> out) { out[0] = 1.0f; }

void between_blocks_write(Global<float> out) { out[block_idx().x / 2] = 1.0f; }

void between_blocks_read(Global<float> scratch, Global<float> out) {
    if (block_idx().x == 0) scratch[0] = 1.0f;
    out[block_idx().x] = block_idx().x == 0 ? 0.0f : static_cast<float>(scratch[0]);
}

void between_blocks_atomic(Global<float> sum, Global<float> out) {
    if (block_idx().x == 0) atomic_add(sum, 0, 1.0f);
    out[block_idx().x] = block_idx().x == 0 ? 0.0f : static_cast<float>(sum[0]);
}

void add_all(Global<float> out) { atomic_add(out, 0, 1.0f); }

void add_and_read(Global<float> out) {
    atomic_add(out, 0, 1.0f);
    if (thread_idx().x == 0) out[1] = static_cast<float>(out[0]);
}

void add_sync_read(Global<float> out) {
    auto chip = shared_memory();
    Shared<float> sum = chip.take<float>("sum", 1);
    if (thread_idx().x == 0) sum[0] = 0.0f;
    sync_block();
    atomic_add(sum, 0, 1.0f);
    sync_block();
    out[thread_idx().x] = sum[0];
}

void add_then_warp_reads(Global<float> out) {  // one warp: its own barrier is enough
    auto chip = shared_memory();
    Shared<float> sum = chip.take<float>("sum", 1);
    if (thread_idx().x == 0) sum[0] = 0.0f;
    sync_warp();
    atomic_add(sum, 0, 1.0f);
    sync_warp();
    out[thread_idx().x] = sum[0];
}

void shuffle_is_no_barrier(Global<float> out) {
    auto chip = shared_memory();
    Shared<float> tile = chip.take<float>("tile", 32);
    const int t = thread_idx().x;
    tile[t] = 1.0f;
    out[t] = shuffle_xor(0.0f, 1) + tile[t ^ 1];
}

}  // namespace

TEST_CASE("A missing barrier is a race on shared memory, whatever the order of the threads") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Machine m(64, {.seed = seed});
        const std::string error = error_of(m.executor, launch_of(64, 256), read_neighbour<Order::None>, m.out(), 1);
        // Either the write meets an earlier read of the neighbour, or the read an earlier write, or nothing was there.
        INFO(error);
        CHECK((error.find("race on shared tile[") != std::string::npos ||
               error.find("shared tile[") != std::string::npos));
    }
}

TEST_CASE("A warp barrier orders the lanes of a warp and no others; a block barrier orders all") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Machine within(32, {.seed = seed}), across(64, {.seed = seed}), block(64, {.seed = seed});
        CHECK(error_of(within.executor, launch_of(32, 128), read_neighbour<Order::Warp>, within.out(), 1) == "");
        CHECK(error_of(across.executor, launch_of(64, 256), read_neighbour<Order::Warp>, across.out(), 32) != "");
        CHECK(error_of(block.executor, launch_of(64, 256), read_neighbour<Order::Block>, block.out(), 33) == "");
    }
}

TEST_CASE("A write that no barrier orders after earlier reads is a race") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Machine none(32, {.seed = seed}), warp(32, {.seed = seed}), warps(64, {.seed = seed}),
            block(64, {.seed = seed});
        says(error_of(none.executor, launch_of(32, 16), write_after_read<Order::None>, none.out()),
             "race on shared tile[0]");
        CHECK(error_of(warp.executor, launch_of(32, 16), write_after_read<Order::Warp>, warp.out()) == "");
        says(error_of(warps.executor, launch_of(64, 16), write_after_read<Order::Warp>, warps.out()), "race on shared");
        CHECK(error_of(block.executor, launch_of(64, 16), write_after_read<Order::Block>, block.out()) == "");
    }
}

TEST_CASE("A race on global memory inside a block is caught") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Machine racy(64, {.seed = seed}), right(64, {.seed = seed}), same(1, {.seed = seed});
        racy.executor.add_temporary<float>("scratch", 64);
        right.executor.add_temporary<float>("scratch", 64);
        const std::string error = error_of(racy.executor, launch_of(64), global_neighbour<Order::None>,
                                           racy.executor.write("scratch"), racy.out());
        says(error, "global scratch[");
        CHECK(error_of(right.executor, launch_of(64), global_neighbour<Order::Block>, right.executor.write("scratch"),
                       right.out()) == "");
        says(error_of(same.executor, launch_of(2), same_place, same.out()),
             "race on global out[0]: writes what thread");
    }
}

TEST_CASE("Blocks of one launch may not meet at an address that one of them writes; blocks of two launches may") {
    Machine write(4), read(4), apart(4);
    says(error_of(write.executor, launch_of(1, 0, 8), between_blocks_write, write.out()),
         "race between blocks on global out[");
    int caught = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Machine m(4, {.seed = seed});
        m.executor.add_temporary<float>("scratch", 1);
        m.executor.zero("scratch");
        caught +=
            says(error_of(m.executor, launch_of(1, 0, 4), between_blocks_read, m.executor.write("scratch"), m.out()),
                 "race between blocks on global scratch[0]");
    }
    CHECK(caught == 20);
    Machine atomic(4);
    atomic.executor.add_temporary<float>("sum", 1);
    atomic.executor.zero("sum");
    says(error_of(atomic.executor, launch_of(1, 0, 4), between_blocks_atomic, atomic.executor.write("sum"),
                  atomic.out()),
         "race between blocks on global sum[0]");
    CHECK(error_of(apart.executor, launch_of(4), write_own, apart.out()) == "");
    CHECK(error_of(apart.executor, launch_of(4), write_own, apart.out()) == "");
}

TEST_CASE("Atomics do not race with each other, and do with plain accesses") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Machine all(1, {.seed = seed}), mixed(2, {.seed = seed}), ordered(64, {.seed = seed}), warp(32, {.seed = seed});
        all.executor.zero("out");
        CHECK(error_of(all.executor, launch_of(64, 0, 3), add_all, all.out()) == "");
        CHECK(all.values()[0] == 192.0f);
        CHECK(all.executor.counters().atomics == 192);
        mixed.executor.zero("out");
        says(error_of(mixed.executor, launch_of(64), add_and_read, mixed.out()), "race on global out[0]");
        CHECK(error_of(ordered.executor, launch_of(64, 16), add_sync_read, ordered.out()) == "");
        CHECK(ordered.values() == std::vector<float>(64, 64.0f));
        CHECK(error_of(warp.executor, launch_of(32, 16), add_then_warp_reads, warp.out()) == "");
    }
}

TEST_CASE("A shuffle exchanges values and orders no memory") {
    Machine m(32);
    says(error_of(m.executor, launch_of(32, 128), shuffle_is_no_barrier, m.out()), "race on shared tile[");
}

// ---- bounds, initialisation, limits

namespace {

void past_the_end(Global<float> out, int index) { out[index] = 1.0f; }
void read_input(Global<const float> in, Global<float> out, int index) { out[0] = in[index]; }

void past_shared(Global<float> out, int index) {
    auto chip = shared_memory();
    Shared<float> first = chip.take<float>("first", 4);
    Shared<float> second = chip.take<float>("second", 4);
    second[0] = 1.0f;
    first[index] = 1.0f;
    out[0] = first[index];
}

void takes_too_much(Global<float> out) {
    auto chip = shared_memory();
    Shared<float> tile = chip.take<float>("tile", 1000);
    tile[0] = 0.0f;
    out[0] = tile[0];
}

void wrong_slice(Global<float> out) { slice(out, 2, 3)[0] = 1.0f; }
void slice_bounds(Global<float> out, int index) { slice(out, 2, 2)[index] = 1.0f; }

void reads_unwritten(Global<float> out) {
    auto chip = shared_memory();
    Shared<float> tile = chip.take<float>("tile", 4);
    if (thread_idx().x == 0) tile[0] = 1.0f;
    sync_block();
    out[thread_idx().x] = tile[thread_idx().x];
}

void reads_unwritten_output(Global<float> out) { out[0] += 1.0f; }

void writes_some(Global<float> out) {
    if (thread_idx().x != 2) write_own(out);
}

void uses_all_shared(Global<float> out, int count) {
    auto chip = shared_memory();
    Shared<float> tile = chip.take<float>("tile", count);
    tile[count - 1] = 1.0f;
    out[0] = tile[count - 1];
}

}  // namespace

TEST_CASE("An access out of bounds names the view, the index and the size") {
    Machine m(4);
    const std::vector<float> in{1, 2, 3};
    m.executor.add_input<float>("in", in);
    says(error_of(m.executor, launch_of(1), past_the_end, m.out(), 4),
         "writes global out[4], out of bounds: this view has 4");
    says(error_of(m.executor, launch_of(1), past_the_end, m.out(), -1), "writes global out[-1]");
    says(error_of(m.executor, launch_of(1), read_input, m.executor.read("in"), m.out(), 3), "reads global in[3]");
    says(error_of(m.executor, launch_of(1, 32), past_shared, m.out(), 4),
         "writes shared first[4], out of bounds: this view has 4");
    says(error_of(m.executor, launch_of(1, 32), takes_too_much, m.out()),
         "shared tile ends at byte 4000, and the launch asked for 32 bytes");
    says(error_of(m.executor, launch_of(1), wrong_slice, m.out()), "slice of out from 2, 3 elements, out of bounds");
    says(error_of(m.executor, launch_of(1), slice_bounds, m.out(), 2),
         "writes global out[2], out of bounds: this view has 2");
}

TEST_CASE("Accesses within bounds pass") {
    Machine m(1), part(4);
    CHECK(error_of(m.executor, launch_of(1, 32), past_shared, m.out(), 3) == "");
    part.executor.zero("out");
    CHECK(error_of(part.executor, launch_of(1), slice_bounds, part.out(), 1) == "");
    CHECK(part.values() == std::vector<float>{0, 0, 0, 1});
}

TEST_CASE("Reading shared memory or an output that nobody wrote is an error, also in the next block") {
    Machine m(4), output(1), blocks(4);
    says(error_of(m.executor, launch_of(4, 16), reads_unwritten, m.out()), "which nobody has written");
    says(error_of(output.executor, launch_of(1), reads_unwritten_output, output.out()),
         "reads global out[0], which nobody");
    // Shared memory does not survive a block, though the bytes of the one before are there.
    CHECK(error_of(blocks.executor, launch_of(1, 16), uses_all_shared, blocks.out(), 4) != "");  // out[1..3] unwritten
    says(error_of(blocks.executor, launch_of(4, 16), reads_unwritten, blocks.out()), "which nobody has written");
}

TEST_CASE("An output element that nobody wrote is reported, with checks on and off") {
    for (Checks checks : {Checks::On, Checks::Off}) {
        Machine some(4, {.checks = checks}), all(4, {.checks = checks});
        says(error_of(some.executor, launch_of(4), writes_some, some.out()), "output out[2] was never written");
        CHECK(error_of(all.executor, launch_of(4), write_own, all.out()) == "");
    }
}

TEST_CASE("Shared memory over the limit is refused with both numbers, never run") {
    // Three 32-row fp32 tiles and a 32 x 32 S.
    const auto bytes = [](int d) { return std::int64_t{4} * (3 * 32 * d + 32 * 32); };
    CHECK(bytes(64) == 28672);
    CHECK(bytes(80) == 34816);
    CHECK(bytes(96) == 40960);
    CHECK(bytes(128) == 53248);
    for (int d : {64, 80, 96}) {
        Machine m(1);
        CHECK(error_of(m.executor, launch_of(1, bytes(d)), uses_all_shared, m.out(), static_cast<int>(bytes(d) / 4)) ==
              "");
    }
    Machine m(1);
    Launch over = launch_of(1, bytes(128));
    const std::string refused = error_of(m.executor, over, uses_all_shared, m.out(), 1);
    says(refused, "needs 53248 bytes");
    says(refused, "allows 49152");
    over.limit = SharedLimit::OptIn;
    CHECK(error_of(m.executor, over, uses_all_shared, m.out(), 53248 / 4) == "");

    const std::pair<int, std::int64_t> limits[] = {{75, 65536},  {80, 166912}, {86, 101376},  {87, 166912},
                                                   {89, 101376}, {90, 232448}, {100, 232448}, {120, 101376}};
    for (const auto& [target, limit] : limits) {
        Machine at(1, {.target = target});
        Launch launch = launch_of(1, limit);
        launch.limit = SharedLimit::OptIn;
        CHECK(error_of(at.executor, launch, uses_all_shared, at.out(), static_cast<int>(limit / 4)) == "");
        launch.shared_bytes = limit + 16;
        const std::string message = error_of(at.executor, launch, uses_all_shared, at.out(), 4);
        says(message, "needs " + std::to_string(limit + 16) + " bytes of shared memory");
        says(message, "allows " + std::to_string(limit));
    }
    says(error_of(m.executor, launch_of(1025), write_own, m.out()), "a block of 1025 threads, the limit is 1024");
}

// ---- order

namespace {

void sum_by_atomics(Global<const float> in, Global<float> out) {
    atomic_add(out, 0, in[block_idx().x * block_dim().x + thread_idx().x]);
}

void sum_in_order(Global<const float> in, Global<float> out, int count) {
    float sum = 0.0f;
    for (int k = 0; k < count; ++k) sum += in[k];
    out[0] = sum;
}

void record_order(Global<float> next, Global<float> out) { out[thread_idx().x] = atomic_add(next, 0, 1.0f); }

}  // namespace

TEST_CASE("The seed shuffles the order of threads and blocks, and the same seed repeats it") {
    const auto order = [](std::uint64_t seed) {
        Machine m(64, {.seed = seed});
        m.executor.add_temporary<float>("next", 1);
        m.executor.zero("next");
        CHECK(error_of(m.executor, launch_of(64), record_order, m.executor.write("next"), m.out()) == "");
        return m.values();
    };
    CHECK(order(1) == order(1));
    CHECK(order(1) != order(2));
    std::vector<float> sorted = order(3);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 0; k < 64; ++k) CHECK(sorted[k] == static_cast<float>(k));
}

TEST_CASE("A sum whose bits depend on the order of threads shows it over seeds; a sum in a fixed order does not") {
    std::vector<float> in(256);
    for (std::size_t k = 0; k < in.size(); ++k)
        in[k] = std::ldexp(1.0f + static_cast<float>(k) / 256, static_cast<int>(k % 40) - 20);
    int differs = 0;
    float first = 0, first_in_order = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Machine atomics(1, {.seed = seed}), ordered(1, {.seed = seed});
        for (Machine* m : {&atomics, &ordered}) m->executor.add_input<float>("in", in);
        atomics.executor.zero("out");
        CHECK(error_of(atomics.executor, launch_of(64, 0, 4), sum_by_atomics, atomics.executor.read("in"),
                       atomics.out()) == "");
        CHECK(error_of(ordered.executor, launch_of(1), sum_in_order, ordered.executor.read("in"), ordered.out(), 256) ==
              "");
        if (seed == 1) first = atomics.values()[0], first_in_order = ordered.values()[0];
        differs += atomics.values()[0] != first;
        CHECK(ordered.values()[0] == first_in_order);
    }
    CHECK(differs > 0);
}

// ---- words and counters

namespace {

void warp_sums(Global<float> out) {
    float sum = static_cast<float>(thread_idx().x);
    for (int mask = 16; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
    out[thread_idx().x] = sum;
}

void strided(Global<float> out, int stride, int rounds) {
    auto chip = shared_memory();
    Shared<float> tile = chip.take<float>("tile", 32 * 32 + 1);
    for (int k = thread_idx().x; k < 32 * 32 + 1; k += block_dim().x) tile[k] = 1.0f;
    sync_block();
    float sum = 0.0f;
    for (int k = 0; k < rounds; ++k) sum += tile[(thread_idx().x % 32) * stride];
    out[thread_idx().x] = sum;
}

void count_words(Global<const float> in, Global<float> out) {
    const int t = thread_idx().x;
    out[t] = exp_diff(in[t], in[t]) + exp_diff(minus_infinity(), minus_infinity());
}

void three_dimensions(Global<float> out, Index3 grid) {
    const auto [tx, ty, tz] = thread_idx();
    const auto [bx, by, bz] = block_idx();
    const auto [nx, ny, nz] = block_dim();
    const int thread = (tz * ny + ty) * nx + tx, block = (bz * grid.y + by) * grid.x + bx;
    out[block * nx * ny * nz + thread] = static_cast<float>(block * nx * ny * nz + thread);
}

std::pair<std::int64_t, std::int64_t> bank_conflicts(int stride, int threads) {
    Machine m(threads), base(threads);
    CHECK(error_of(m.executor, launch_of(threads, 4112), strided, m.out(), stride, 10) == "");
    CHECK(error_of(base.executor, launch_of(threads, 4112), strided, base.out(), stride, 0) == "");
    return {m.executor.counters().wavefronts - base.executor.counters().wavefronts,
            m.executor.counters().ideal_wavefronts - base.executor.counters().ideal_wavefronts};
}

}  // namespace

TEST_CASE("Shuffles add up a warp, and none reads a lane that the warp has not got") {
    Machine m(64);
    CHECK(error_of(m.executor, launch_of(64), warp_sums, m.out()) == "");
    const auto values = m.values();
    for (std::size_t k = 0; k < 64; ++k) CHECK(values[k] == (k < 32 ? 496.0f : 1520.0f));
    CHECK(m.executor.counters().shuffles == 2 * 5);
    Machine ragged(5);
    says(error_of(ragged.executor, launch_of(5), warp_sums, ragged.out()), "reads lane");
}

TEST_CASE("Bank conflicts: stride 1 needs 1 wavefront, 2 needs 2, 32 needs 32, 33 and a broadcast need 1") {
    const std::pair<int, int> expected[] = {{0, 1},   {1, 1},   {2, 2},  {4, 4}, {8, 8},
                                            {16, 16}, {32, 32}, {33, 1}, {31, 1}};
    for (const auto& [stride, wavefronts] : expected) {
        if (stride == 33) continue;  // past the tile; below
        const auto [actual, ideal] = bank_conflicts(stride, 64);
        CHECK(actual == 2 * 10 * wavefronts);
        CHECK(ideal == 2 * 10);
    }
    std::vector<std::uint32_t> places(32);
    for (std::uint32_t lane = 0; lane < 32; ++lane) places[lane] = lane * 33 * 4;
    CHECK(simt::wavefronts(places.data(), 32, 4).actual == 1);
    for (std::uint32_t lane = 0; lane < 32; ++lane) places[lane] = lane * 2;  // 16 bit: two lanes share a word
    CHECK(simt::wavefronts(places.data(), 32, 2).actual == 1);
    for (std::uint32_t lane = 0; lane < 32; ++lane) places[lane] = lane % 2 * 128;  // two words of one bank
    CHECK(simt::wavefronts(places.data(), 32, 4).actual == 2);
    for (std::uint32_t lane = 0; lane < 32; ++lane) places[lane] = lane * 16;  // 16 bytes a lane, one after another
    CHECK(simt::wavefronts(places.data(), 32, 16).actual == 4);
    CHECK(simt::wavefronts(places.data(), 32, 16).ideal == 4);
}

TEST_CASE("Global bytes are counted per tensor and direction, with checks on and off") {
    for (Checks checks : {Checks::On, Checks::Off}) {
        Machine m(8, {.checks = checks});
        m.executor.add_input<float>("in", std::vector<float>(8, 1.0f));
        CHECK(error_of(m.executor, launch_of(8), count_words, m.executor.read("in"), m.out()) == "");
        CHECK(m.values() == std::vector<float>(8, 1.0f));
        CHECK(m.executor.counters().exponentials == 16);
        for (const simt::Tensor& tensor : m.executor.tensors()) {
            CHECK(tensor.read_bytes == (tensor.name == "in" ? 64 : 0));
            CHECK(tensor.write_bytes == (tensor.name == "in" ? 0 : 32));
        }
    }
}

TEST_CASE("Shared bytes are counted: each neighbour exchange writes and reads each element once") {
    Machine m(64);
    CHECK(error_of(m.executor, launch_of(64, 256), read_neighbour<Order::Block>, m.out(), 1) == "");
    CHECK(m.executor.counters().shared_read_bytes == 256);
    CHECK(m.executor.counters().shared_write_bytes == 256);
}

TEST_CASE("Grids and blocks have three dimensions, x fastest") {
    Machine m(2 * 3 * 4 * 5 * 2 * 3);
    const Launch launch{.name = "test", .grid = {2, 3, 4}, .block = {5, 2, 3}};
    CHECK(error_of(m.executor, launch, three_dimensions, m.out(), launch.grid) == "");
    for (std::size_t k = 0; k < m.values().size(); k += 7) CHECK(m.values()[k] == static_cast<float>(k));
}

TEST_CASE("A run can be cancelled and reports its progress") {
    std::atomic<bool> cancel = false;
    std::atomic<float> progress = 0;
    Machine m(4, {.cancel = &cancel, .progress = &progress, .launches = 2});
    CHECK(error_of(m.executor, launch_of(4), write_own, m.out()) == "");
    CHECK(progress == 0.5f);
    cancel = true;
    CHECK(error_of(m.executor, launch_of(4), write_own, m.out()) == "cancelled");
}

namespace {

void recurse(Global<float> out, int depth);
void (*const recurse_again)(Global<float>, int) = recurse;  // keeps the compiler from making a loop of it
void recurse(Global<float> out, int depth) {
    float local[64];
    for (int k = 0; k < 64; ++k) local[k] = static_cast<float>(k + depth);
    if (depth > 0) recurse_again(out, depth - 1);
    out[thread_idx().x] = local[depth % 64];
}

}  // namespace

TEST_CASE("Threads have room for frames of kilobytes") {
    Machine m(32);
    CHECK(error_of(m.executor, launch_of(32), recurse, m.out(), 40) == "");
}

}  // namespace flashstep::gpu
