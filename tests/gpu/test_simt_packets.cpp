// 16-bit elements and accesses of several elements at once, in the executor.
#include <cmath>

#include "tests/gpu/simt_machine.h"

namespace flashstep::gpu {

namespace {

template <class T>
void copy_16(Global<const T> in, Global<T> copy, Global<float> out, int from, int to, int count) {
    auto chip = shared_memory();
    Shared<T> tile = chip.take<T>("tile", count);
    const int first = thread_idx().x * Packet<T, 16>::kCount;
    store_16(tile, first, load_16(in, from + first));
    sync_block();
    store_16(copy, to + first, load_16(tile, first));
    out[thread_idx().x] = 0.0f;
}

template <class T>
std::string error_of_copy(Machine& m, int threads, int from, int to, int missing = 0) {
    const int count = threads * Packet<T, 16>::kCount;
    m.executor.add_input<T>("in", std::vector<T>(static_cast<std::size_t>(count), T{}));
    m.executor.add_temporary<T>("copy", count);
    return error_of(m.executor, launch_of(threads, 16 * threads), copy_16<T>, m.executor.read<T>("in"),
                    m.executor.write<T>("copy"), m.out(), from, to, count - missing);
}

template <class T>
void check_bytes() {
    for (Checks checks : {Checks::On, Checks::Off}) {
        Machine m(64, {.checks = checks});
        CHECK(error_of_copy<T>(m, 64, 0, 0) == "");
        for (const simt::Tensor& tensor : m.executor.tensors()) {
            CHECK(tensor.read_bytes == (tensor.name == "in" ? 1024 : 0));
            if (tensor.name == "copy") CHECK(tensor.write_bytes == 1024);
        }
        CHECK(m.counters().shared_read_bytes == (checks == Checks::On ? 1024 : 0));
        CHECK(m.counters().shared_write_bytes == (checks == Checks::On ? 1024 : 0));
        CHECK(m.counters().wavefronts == (checks == Checks::On ? 2 * 2 * 4 : 0));
    }
}

enum class Wrong { Nothing, Misaligned, Unwritten, Race };
template <Wrong wrong>
void use_shared(Global<float> out) {
    auto chip = shared_memory();
    Shared<Half> tile = chip.take<Half>("tile", 512);
    const int t = thread_idx().x;
    for (int k = 0; k < 8; ++k) {
        if (!(wrong == Wrong::Unwritten && t == 2 && k == 7)) tile[8 * t + k] = to_half(static_cast<float>(8 * t + k));
    }
    if (wrong != Wrong::Race) sync_block();
    const int row = 8 * ((t + 1) % block_dim().x);
    const auto packet = load_16(tile, wrong == Wrong::Misaligned ? row + (t == 1 ? 4 : 0) : row);
    float sum = 0.0f;
    for (Half h : packet.v) sum += to_float(h);
    out[t] = sum;
}

// Threads that write neighbouring halves of a 4-byte word; the tile of floats before it is taken first.
void neighbours(Global<float> out, int skipped) {
    auto chip = shared_memory();
    Shared<float> floats = chip.take<float>("floats", 32);
    floats[thread_idx().x] = 1.0f;
    Shared<Half> tile = chip.take<Half>("tile", 32);
    if (thread_idx().x != skipped) tile[thread_idx().x] = to_half(2.0f);
    sync_block();
    const int other = thread_idx().x ^ 1;
    out[thread_idx().x] = floats[other] + to_float(tile[other]);
}

void pairs(Global<Half> halves, Global<float> out) {
    const int t = thread_idx().x;
    store_pair(halves, 2 * t, pack_floats<Half>(static_cast<float>(t), -1.5f));
    sync_block();
    const std::uint32_t pair = load_pair(halves, 2 * ((t + 1) % block_dim().x));
    out[t] = to_float(lower_of<Half>(pair)) + to_float(upper_of<Half>(pair));
}

// Every thread reads 16 bytes at a time, `stride` floats on from its neighbour.
void strided(Global<float> out, int stride, int rounds) {
    auto chip = shared_memory();
    Shared<float> tile = chip.take<float>("tile", 2048);
    for (int k = thread_idx().x; k < 2048; k += 32) tile[k] = 0.0f;
    sync_block();
    for (int k = 0; k < rounds; ++k) load_16(tile, thread_idx().x * stride % 2048);
    out[thread_idx().x] = 0.0f;
}

std::pair<std::int64_t, std::int64_t> wavefronts(int stride) {
    Machine m(32), base(32);
    CHECK(error_of(m.executor, launch_of(32, 8192), strided, m.out(), stride, 1) == "");
    CHECK(error_of(base.executor, launch_of(32, 8192), strided, base.out(), stride, 0) == "");
    return {m.counters().wavefronts - base.counters().wavefronts,
            m.counters().ideal_wavefronts - base.counters().ideal_wavefronts};
}

std::pair<std::int64_t, std::int64_t> wavefronts_of_8(int stride) {
    std::uint32_t places[32];
    for (int lane = 0; lane < 32; ++lane) places[lane] = static_cast<std::uint32_t>(lane * stride * 4);
    const simt::Wavefronts found = simt::wavefronts(places, 32, 8);
    return {found.actual, found.ideal};
}

void write_half(Global<Half> halves, Global<float> out) {
    if (thread_idx().x != 3) halves[thread_idx().x] = to_half(1.0f);
    out[thread_idx().x] = 0.0f;
}

void powers(Global<const float> in, Global<float> out) {
    const int t = thread_idx().x;
    out[t] = exp2_of(in[t]);
}

}  // namespace

TEST_CASE("16 bytes at once are counted as their bytes, in global and shared memory") {
    check_bytes<Half>();
    check_bytes<BFloat>();
    check_bytes<float>();
}

TEST_CASE("16 bytes at once have to be aligned and within bounds to the last element") {
    Machine from(64), to(64), past(64), chip(64);
    says(error_of_copy<Half>(from, 64, 4, 0), "bytes at a time at byte");
    says(error_of_copy<float>(to, 64, 0, 2), "writes global copy[");
    says(error_of_copy<Half>(past, 64, 8, 0),
         "thread (63, 0, 0): reads global in[519], out of bounds: this view has 512 elements");
    says(error_of_copy<BFloat>(chip, 64, 0, 0, 3),
         "writes shared tile[511], out of bounds: this view has 509 elements");
}

TEST_CASE("16 bytes of shared memory at once are checked for alignment, initialised elements and races") {
    const auto error = [](auto kernel, std::uint64_t seed) {
        Machine m(64, {.seed = seed});
        const std::string message = error_of(m.executor, launch_of(64, 1024), kernel, m.out());
        if (message.empty()) CHECK(m.values()[63] == 28.0f);
        return message;
    };
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CHECK(error(use_shared<Wrong::Nothing>, seed) == "");
        says(error(use_shared<Wrong::Misaligned>, seed),
             "thread (1, 0, 0): reads shared tile[20] 16 bytes at a time at byte 40, which is not a multiple of 16");
        says(error(use_shared<Wrong::Unwritten>, seed), "reads shared tile[23], which nobody has written");
        says(error(use_shared<Wrong::Race>, seed), "shared tile[");
    }
}

TEST_CASE("Threads may write neighbouring 16-bit elements, and each has to be written before it is read") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Machine right(32, {.seed = seed}), wrong(32, {.seed = seed});
        CHECK(error_of(right.executor, launch_of(32, 192), neighbours, right.out(), -1) == "");
        CHECK(right.values() == std::vector<float>(32, 3.0f));
        says(error_of(wrong.executor, launch_of(32, 192), neighbours, wrong.out(), 7),
             "reads shared tile[7], which nobody has written");
    }
}

TEST_CASE("Pairs of 16-bit elements are stored lower half first") {
    Machine m(32);
    m.executor.add_temporary<Half>("halves", 64);
    CHECK(error_of(m.executor, launch_of(32), pairs, m.executor.write<Half>("halves"), m.out()) == "");
    CHECK(m.values()[4] == 5.0f - 1.5f);
    CHECK(to_float(m.executor.values<Half>("halves")[10]) == 5.0f);
    CHECK(to_float(m.executor.values<Half>("halves")[11]) == -1.5f);
}

TEST_CASE("Wide accesses go phase by phase: 8 lanes at 16 bytes, 16 lanes at 8 bytes") {
    CHECK(wavefronts(4) == std::pair<std::int64_t, std::int64_t>{4, 4});    // one after another
    CHECK(wavefronts(32) == std::pair<std::int64_t, std::int64_t>{32, 4});  // all lanes in the same four banks
    CHECK(wavefronts(36) == std::pair<std::int64_t, std::int64_t>{4, 4});   // padded
    CHECK(wavefronts(8) == std::pair<std::int64_t, std::int64_t>{8, 4});
    // 8 bytes a lane, as cp_async_8 writes them.
    CHECK(wavefronts_of_8(2) == std::pair<std::int64_t, std::int64_t>{2, 2});
    CHECK(wavefronts_of_8(4) == std::pair<std::int64_t, std::int64_t>{4, 2});
    CHECK(wavefronts_of_8(32) == std::pair<std::int64_t, std::int64_t>{32, 2});
}

TEST_CASE("A 16-bit output element that nobody wrote is reported, with checks on and off") {
    for (Checks checks : {Checks::On, Checks::Off}) {
        Machine m(8, {.checks = checks});
        m.executor.add_output<Half>("halves", 8);
        says(error_of(m.executor, launch_of(8), write_half, m.executor.write<Half>("halves"), m.out()),
             "output halves[3] was never written");
    }
}

TEST_CASE("Powers of two are counted as exponentials") {
    Machine m(4);
    m.executor.add_input<float>("in", std::vector<float>{0.0f, minus_infinity(), -3.0f, 0.5f});
    CHECK(error_of(m.executor, launch_of(4), powers, m.executor.read("in"), m.out()) == "");
    CHECK(m.values() == std::vector<float>{1.0f, 0.0f, 0.125f, std::exp2(0.5f)});
    CHECK(m.counters().exponentials == 4);
}

}  // namespace flashstep::gpu
