// Asynchronous copies in the executor: what right kernels may do, and kernels that are wrong in one way each.
#include <set>

#include "tests/gpu/simt_machine.h"

namespace flashstep::gpu {

namespace {

// A sum over `tiles` tiles of 64 x 8 numbers, double-buffered: tile j + 1 travels while tile j is added up. Each thread
// copies 8 numbers, and reads those that a thread of the other warp copied.
enum class Wrong {
    Nothing,
    NoWait,
    WaitOfWrongNumber,    // the newest group may still be on its way
    NoBarrierAfterWait,   // others' copies are not there yet
    BarrierBeforeWait,    // the barrier does not cover the copies
    OverwrittenTooEarly,  // no barrier between the readers of a buffer and the next copy into it
    ReadsOwnBeforeWait,
    WritesBeforeWait,     // a plain store into a destination in flight
    TwiceToTheSamePlace,  // two copies in flight to one place
    NotCommitted,         // the wait covers committed groups only
    EndsWithPending,
};

template <Wrong wrong>
void sum_tiles(Global<const Half> in, Global<float> out, int tiles) {
    auto chip = shared_memory();
    Shared<Half> buffer = chip.take<Half>("buffer", 2 * 512);
    const int t = thread_idx().x, mine = 8 * t, other = 8 * (t ^ 32);
    float sum = 0.0f;
    cp_async_16(buffer, mine, in, mine);
    cp_async_commit();
    for (int j = 0; j < tiles; ++j) {
        if (j + 1 < tiles) {
            cp_async_16(buffer, (j + 1) % 2 * 512 + mine, in, (j + 1) * 512 + mine);
            if (wrong == Wrong::TwiceToTheSamePlace) cp_async_16(buffer, (j + 1) % 2 * 512 + mine, in, mine);
        }
        if (wrong != Wrong::NotCommitted) cp_async_commit();  // the last one is empty, and counts
        if (wrong == Wrong::ReadsOwnBeforeWait) sum += to_float(buffer[j % 2 * 512 + mine]);
        if (wrong == Wrong::WritesBeforeWait) buffer[j % 2 * 512 + mine] = to_half(0.0f);
        if (wrong == Wrong::BarrierBeforeWait) sync_block();
        if (wrong == Wrong::WaitOfWrongNumber) {
            cp_async_wait<2>();
        } else if (wrong != Wrong::NoWait) {
            cp_async_wait<1>();
        }
        if (wrong != Wrong::NoBarrierAfterWait && wrong != Wrong::BarrierBeforeWait) sync_block();
        for (int k = 0; k < 8; ++k) sum += to_float(buffer[j % 2 * 512 + other + k]);
        if (wrong != Wrong::OverwrittenTooEarly) sync_block();  // its readers are done
    }
    if (wrong != Wrong::EndsWithPending) {
        cp_async_wait<0>();
    } else {
        cp_async_4(buffer, 2 * t, in, 2 * t);
    }
    out[t] = sum;
}

constexpr int kTiles = 5;

std::vector<Half> numbers() {
    std::vector<Half> in(kTiles * 512);
    for (std::size_t k = 0; k < in.size(); ++k) in[k] = to_half(static_cast<float>(k % 1021));
    return in;
}

template <Wrong wrong>
std::string error_of_sum(std::uint64_t seed, int tiles = kTiles, int target = 90) {
    Machine m(64, {.seed = seed, .target = target});
    m.executor.add_input<Half>("in", numbers());
    return error_of(m.executor, launch_of(64, 2048), sum_tiles<wrong>, m.executor.read<Half>("in"), m.out(), tiles);
}

constexpr std::uint64_t kSeeds = 30;

// Every seed finds the mistake, and says one of these.
template <Wrong wrong>
void check_caught(std::initializer_list<std::string_view> expected) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const std::string message = error_of_sum<wrong>(seed);
        INFO(message);
        bool found = false;
        for (std::string_view part : expected) found |= message.find(part) != std::string::npos;
        CHECK(found);
    }
}

}  // namespace

TEST_CASE("A right double buffer passes with every seed, bit for bit, checks on and off, and its bytes are counted") {
    std::vector<float> expected(64, 0.0f);
    const std::vector<Half> in = numbers();
    for (std::size_t t = 0; t < 64; ++t) {
        for (std::size_t j = 0; j < kTiles; ++j) {
            for (std::size_t k = 0; k < 8; ++k) expected[t] += to_float(in[j * 512 + 8 * (t ^ 32) + k]);
        }
    }
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        for (Checks checks : {Checks::On, Checks::Off}) {
            Machine m(64, {.checks = checks, .seed = seed, .target = 80});
            m.executor.add_input<Half>("in", in);
            CHECK(error_of(m.executor, launch_of(64, 2048), sum_tiles<Wrong::Nothing>, m.executor.read<Half>("in"),
                           m.out(), kTiles) == "");
            CHECK(m.values() == expected);
            CHECK(m.counters().async_copies == 64 * kTiles);
            CHECK(m.counters().async_bytes == 1024 * kTiles);
            CHECK(m.executor.tensors().back().read_bytes == 1024 * kTiles);
            if (checks == Checks::On) CHECK(m.counters().shared_write_bytes == 1024 * kTiles);
        }
    }
}

TEST_CASE("A missing wait, or one that leaves too many groups, is a race with the copy, whatever the seed") {
    check_caught<Wrong::NoWait>({"what an asynchronous copy of thread"});
    check_caught<Wrong::WaitOfWrongNumber>({"what an asynchronous copy of thread"});
    check_caught<Wrong::NotCommitted>({"what an asynchronous copy of thread"});
    says(error_of_sum<Wrong::NoWait>(1), "race on shared buffer[");
    says(error_of_sum<Wrong::NoWait>(1), "may still be writing, because thread");
}

TEST_CASE("A missing barrier after the wait, or one before it, is caught") {
    for (const std::string_view part : {"shared buffer["}) {
        check_caught<Wrong::NoBarrierAfterWait>({part});
        check_caught<Wrong::BarrierBeforeWait>({part});
    }
}

TEST_CASE("A double buffer overwritten before its readers are done is a race") {
    check_caught<Wrong::OverwrittenTooEarly>({"race on shared buffer["});
}

TEST_CASE("Until its wait nobody may touch a copy's destination, not even its own thread or another copy") {
    check_caught<Wrong::ReadsOwnBeforeWait>({"reads what an asynchronous copy of this thread may still be writing"});
    check_caught<Wrong::WritesBeforeWait>({"writes what an asynchronous copy of this thread may still be writing"});
    check_caught<Wrong::TwiceToTheSamePlace>({"writes what an asynchronous copy of this thread may still be writing"});
}

TEST_CASE("A thread that ends with copies pending is reported, with the place that issued them") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const std::string message = error_of_sum<Wrong::EndsWithPending>(seed);
        says(message, "ends with 1 asynchronous copies that it did not wait for, the first into shared buffer[");
        says(message, "issued at test_simt_async.cpp:");
    }
}

TEST_CASE("sm_75 has no asynchronous copies, and the message names the word and the target") {
    says(error_of_sum<Wrong::Nothing>(1, kTiles, 75), "cp_async_16 needs sm_80 or later, and this run is for sm_75");
}

// ---- groups

namespace {

// Three copies in groups of their own, then `empty` empty groups; then waits for all but `left`, and reads number
// `read`.
template <int left>
void groups(Global<const float> in, Global<float> out, int empty, int read) {
    auto chip = shared_memory();
    Shared<float> buffer = chip.take<float>("buffer", 12);
    for (int k = 0; k < 3; ++k) {
        cp_async_16(buffer, 4 * k, in, 4 * k);
        cp_async_commit();
    }
    for (int k = 0; k < empty; ++k) cp_async_commit();
    cp_async_wait<left>();
    out[0] = buffer[4 * read + 3];
    cp_async_wait<0>();
}

template <int left>
bool group_arrived(int empty, int read) {
    bool all = true, none = true;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Machine m(1, {.seed = seed});
        m.executor.add_input<float>("in", std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
        const std::string message =
            error_of(m.executor, launch_of(1, 48), groups<left>, m.executor.read("in"), m.out(), empty, read);
        const bool arrived = message.empty() && m.values()[0] == static_cast<float>(4 * read + 3);
        all &= arrived;
        none &= message.find("may still be writing") != std::string::npos;
    }
    CHECK((all || none));
    return all;
}

}  // namespace

TEST_CASE("A wait leaves the newest groups, in order, and empty groups count") {
    for (int read : {0, 1, 2}) {
        CHECK(group_arrived<0>(0, read));
        CHECK(group_arrived<1>(0, read) == (read < 2));
        CHECK(group_arrived<2>(0, read) == (read < 1));
        CHECK(!group_arrived<3>(0, read));
        CHECK(group_arrived<1>(1, read));
        CHECK(group_arrived<2>(1, read) == (read < 2));
        CHECK(group_arrived<5>(2, read) == false);
        CHECK(group_arrived<2>(2, read));
    }
}

// ---- sizes, alignment, zero filling, the source

namespace {

template <int bytes>
void copy(Global<const Half> in, Global<float> out, int to, int from, int source_bytes) {
    auto chip = shared_memory();
    Shared<Half> buffer = chip.take<Half>("buffer", 32);
    if constexpr (bytes == 16) cp_async_16(buffer, to, in, from, source_bytes);
    if constexpr (bytes == 8) cp_async_8(buffer, to, in, from, source_bytes);
    if constexpr (bytes == 4) cp_async_4(buffer, to, in, from, source_bytes);
    cp_async_commit();
    cp_async_wait<0>();
    for (int k = 0; k < bytes / 2; ++k) out[k] = to_float(buffer[to + k]);
}

struct Copied {
    std::string error;
    std::vector<float> values;
    std::int64_t read_bytes;
};
template <int bytes>
Copied copied(int to, int from, int source_bytes, std::uint64_t seed = 1) {
    Machine m(bytes / 2, {.seed = seed});
    std::vector<Half> in(20);
    for (std::size_t k = 0; k < in.size(); ++k) in[k] = to_half(static_cast<float>(k + 1));
    m.executor.add_input<Half>("in", in);
    const std::string error = error_of(m.executor, launch_of(1, 64), copy<bytes>, m.executor.read<Half>("in"), m.out(),
                                       to, from, source_bytes);
    return {error, m.values(), m.executor.tensors().back().read_bytes};
}

enum class Source { Kept, ChangedBySelf, ChangedByOther };
template <Source source>
void change_source(Global<float> scratch, Global<float> out) {
    auto chip = shared_memory();
    Shared<float> buffer = chip.take<float>("buffer", 128);
    const int t = thread_idx().x;
    for (int k = 0; k < 4; ++k) scratch[4 * t + k] = static_cast<float>(t);
    sync_block();
    cp_async_16(buffer, 4 * t, scratch, 4 * (31 - t));
    cp_async_commit();
    if (source == Source::ChangedByOther) sync_block();
    if (source != Source::Kept) scratch[4 * (31 - t) + 1] = 100.0f;
    cp_async_wait<0>();
    sync_block();
    out[t] = buffer[4 * t + 1];
}

template <Source source>
std::string error_of_source(std::uint64_t seed) {
    Machine m(32, {.seed = seed});
    m.executor.add_temporary<float>("scratch", 128);
    return error_of(m.executor, launch_of(32, 512), change_source<source>, m.executor.write("scratch"), m.out());
}

// How many of 64 destinations of copies hold their bytes at three moments; nothing is read through the view.
void moments(Global<const float> in, Global<float> out, int* arrived) {
    auto chip = shared_memory();
    Shared<float> buffer = chip.take<float>("buffer", 256);
    const int t = thread_idx().x;
    const auto here = [&] { return *reinterpret_cast<const float*>(buffer.run(4 * t, 16).data) == 1.0f; };
    cp_async_16(buffer, 4 * t, in, 4 * t);
    cp_async_commit();
    arrived[0] += here();
    for (int k = 0; k < 4; ++k) sync_block();
    arrived[1] += here();
    cp_async_wait<0>();
    arrived[2] += here();
    out[t] = buffer[4 * t];
}

}  // namespace

TEST_CASE("Copies of 16, 8 and 4 bytes move their bytes; what is not read is zero and not counted") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CHECK(copied<16>(8, 8, 16, seed).values == std::vector<float>{9, 10, 11, 12, 13, 14, 15, 16});
        CHECK(copied<8>(4, 12, 8, seed).values == std::vector<float>{13, 14, 15, 16});
        CHECK(copied<4>(2, 18, 4, seed).values == std::vector<float>{19, 20});
        const Copied part = copied<16>(0, 16, 8, seed);  // the last 4 elements: the rest of the 16 bytes is not there
        CHECK(part.error == "");
        CHECK(part.values == std::vector<float>{17, 18, 19, 20, 0, 0, 0, 0});
        CHECK(part.read_bytes == 8);
        const Copied none = copied<16>(0, 8000, 0, seed);  // nothing is read, so it may be anywhere
        CHECK(none.error == "");
        CHECK(none.values == std::vector<float>(8, 0.0f));
        CHECK(none.read_bytes == 0);
    }
}

TEST_CASE("A copy that is not aligned, or leaves its views, is refused on either side") {
    says(copied<16>(4, 0, 16).error,
         "writes shared buffer[4] 16 bytes at a time at byte 8, which is not a multiple of 16");
    says(copied<16>(0, 4, 16).error, "reads global in[4] 16 bytes at a time at byte 8, which is not a multiple of 16");
    says(copied<8>(2, 0, 8).error, "writes shared buffer[2] 8 bytes at a time at byte 4, which is not a multiple of 8");
    says(copied<4>(0, 3, 4).error, "reads global in[3] 4 bytes at a time at byte 6, which is not a multiple of 4");
    says(copied<16>(32, 0, 16).error, "writes shared buffer[39], out of bounds: this view has 32 elements");
    says(copied<16>(0, 16, 16).error, "reads global in[23], out of bounds: this view has 20 elements");
    says(copied<16>(0, -8, 16).error, "reads global in[-8], out of bounds");
    says(copied<16>(0, 0, 17).error, "reads 17 bytes: 0 to 16 can be read, the rest is filled with zeros");
}

TEST_CASE("The source of a copy may not change until its wait") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CHECK(error_of_source<Source::Kept>(seed) == "");
        for (const std::string& message :
             {error_of_source<Source::ChangedBySelf>(seed), error_of_source<Source::ChangedByOther>(seed)}) {
            says(message, "global scratch changed under the asynchronous copy into shared buffer[");
        }
    }
}

TEST_CASE("The seed decides when a copy's bytes arrive: at once, at a later barrier, at the wait") {
    int arrived[3] = {};
    std::set<int> different;
    const int runs = 20, threads = 64;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
        Machine m(threads, {.seed = seed});
        m.executor.add_input<float>("in", std::vector<float>(4 * threads, 1.0f));
        const int before = arrived[0];
        CHECK(error_of(m.executor, launch_of(threads, 4 * 256), moments, m.executor.read("in"), m.out(), arrived) ==
              "");
        different.insert(arrived[0] - before);
    }
    const int all = runs * threads;
    CHECK(arrived[0] > all / 5);
    CHECK(arrived[1] > arrived[0] + all / 10);
    CHECK(arrived[1] < all * 4 / 5);
    CHECK(arrived[2] == all);
    CHECK(different.size() > 3);
}

TEST_CASE("Taking the line of a wait or of a barrier out is caught by the same checks") {
    const auto error = [](int line) {
        Machine m(64, {.without_barrier = {"", line}});
        m.executor.add_input<Half>("in", numbers());
        return error_of(m.executor, launch_of(64, 2048), sum_tiles<Wrong::Nothing>, m.executor.read<Half>("in"),
                        m.out(), kTiles);
    };
    int caught = 0, waits = 0;
    for (int line = 1; line < 100; ++line) {  // lines that sum_tiles does not pass change nothing
        const std::string message = error(line);
        caught += !message.empty();
        waits += message.find("an asynchronous copy of") != std::string::npos;
    }
    CHECK(caught == 3);  // the wait of the loop and its two barriers; the last wait has only an empty group left
    CHECK(waits >= 1);
}

}  // namespace flashstep::gpu
