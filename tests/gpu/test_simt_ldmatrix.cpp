// ldmatrix in the executor: layouts, bank conflicts, and kernels that are wrong in one way each.
#include <algorithm>
#include <random>

#include "gpu/matrix_wavefronts.h"
#include "tests/gpu/fragments.h"
#include "tests/gpu/simt_machine.h"

namespace flashstep::gpu {

namespace {

int lane() { return thread_idx().x % 32; }

constexpr int kRows = 32;  // four matrices of eight rows

// Row r of the tile starts at an element that this says; rows need not follow each other.
enum class Rows { InOrder, Padded, Scattered };
template <Rows rows>
int row_start(int r) {
    return rows == Rows::InOrder ? r * 8 : rows == Rows::Padded ? r * 24 : (r * 13 + 5) % kRows * 8;
}

// Element (r, c) of the tile has the bits 8 r + c; each lane stores the registers that it gets.
template <Rows rows, int matrices, bool transposed>
void load_matrices(Global<float> out) {
    auto chip = shared_memory();
    Shared<Half> tile = chip.take<Half>("tile", kRows * 24);
    for (int c = 0; c < 8; ++c) {
        tile[row_start<rows>(lane()) + c] = Half{static_cast<std::uint16_t>(8 * lane() + c)};
    }
    sync_warp();
    std::uint32_t registers[matrices];
    const int row = row_start<rows>(lane() % (8 * matrices));  // lanes that give no row repeat one
    if constexpr (matrices == 1)
        transposed ? ldmatrix_x1_trans(registers, tile, row) : ldmatrix_x1(registers, tile, row);
    if constexpr (matrices == 2)
        transposed ? ldmatrix_x2_trans(registers, tile, row) : ldmatrix_x2(registers, tile, row);
    if constexpr (matrices == 4)
        transposed ? ldmatrix_x4_trans(registers, tile, row) : ldmatrix_x4(registers, tile, row);
    for (int k = 0; k < matrices; ++k) {
        out[(lane() * matrices + k) * 2] = static_cast<float>(registers[k] & 0xffff);
        out[(lane() * matrices + k) * 2 + 1] = static_cast<float>(registers[k] >> 16);
    }
}

template <Rows rows, int matrices, bool transposed>
void check_layout() {
    Machine m(32 * matrices * 2);
    const std::int64_t bytes = kRows * 24 * 2;
    CHECK(error_of(m.executor, launch_of(32, bytes), load_matrices<rows, matrices, transposed>, m.out()) == "");
    int wrong = 0;
    for (int l = 0; l < 32; ++l) {
        for (int k = 0; k < matrices; ++k) {
            for (int half = 0; half < 2; ++half) {
                const Place place = ldmatrix_places(l, transposed)[static_cast<std::size_t>(half)];
                const int expected = 8 * (8 * k + place.row) + place.col;
                wrong +=
                    m.values()[static_cast<std::size_t>((l * matrices + k) * 2 + half)] != static_cast<float>(expected);
            }
        }
    }
    CHECK(wrong == 0);
    CHECK(m.counters().ldmatrix == 1);
    CHECK(m.counters().shared_read_bytes == 128 * matrices);
}

template <int matrices>
void check_layouts() {
    check_layout<Rows::InOrder, matrices, false>();
    check_layout<Rows::InOrder, matrices, true>();
    check_layout<Rows::Padded, matrices, false>();
    check_layout<Rows::Padded, matrices, true>();
    check_layout<Rows::Scattered, matrices, false>();
    check_layout<Rows::Scattered, matrices, true>();
}

// S (16 x 16) = Q (16 x 16) K^T, K (16 x 16); then O (16 x 16) = S V. As attention kernels do it: Q by x4, K by x2, the
// accumulators of two adjacent tiles packed into the next A, V by x2 transposed.
template <class T>
void two_products(Global<const T> Q_all, Global<const T> K_all, Global<const T> V_all, Global<float> out) {
    auto chip = shared_memory();
    Shared<T> Q = chip.take<T>("Q", 256), K = chip.take<T>("K", 256), V = chip.take<T>("V", 256);
    store_16(Q, lane() * 8, load_16(Q_all, lane() * 8));
    store_16(K, lane() * 8, load_16(K_all, lane() * 8));
    store_16(V, lane() * 8, load_16(V_all, lane() * 8));
    sync_warp();
    std::uint32_t a[4], b[2], p[4];
    ldmatrix_x4(a, Q, (lane() & 15) * 16 + (lane() >> 4) * 8);
    float S[2][4] = {}, O[2][4] = {};
    for (int n = 0; n < 2; ++n) {
        ldmatrix_x2(b, K, (8 * n + (lane() & 7)) * 16 + (lane() >> 3 & 1) * 8);
        mma_m16n8k16<T>(S[n], a, b, S[n]);
    }
    for (int n = 0; n < 2; ++n) {
        p[2 * n] = pack_floats<T>(S[n][0], S[n][1]);
        p[2 * n + 1] = pack_floats<T>(S[n][2], S[n][3]);
    }
    for (int n = 0; n < 2; ++n) {
        ldmatrix_x2_trans(b, V, (lane() & 15) * 16 + 8 * n);
        mma_m16n8k16<T>(O[n], p, b, O[n]);
        for (int e = 0; e < 4; ++e) {
            const Place place = c_place(lane(), e);
            out[place.row * 16 + 8 * n + place.col] = O[n][e];
        }
    }
}

// One matrix whose rows lie as the layout says, read once after the tile was written.
void load_one_matrix(Global<float> out, RowLayout layout) {
    auto chip = shared_memory();
    Shared<Half> tile = chip.take<Half>("tile", 8 * layout.row_bytes / 2);
    for (int e = lane(); e < 8 * layout.row_bytes / 2; e += 32) tile[e] = Half{};
    sync_warp();
    const int r = lane() % 8;
    std::uint32_t registers[1];
    ldmatrix_x1(registers, tile, r * layout.row_bytes / 2 + r / layout.rows_alike % layout.chunks * 8);
    out[lane()] = static_cast<float>(registers[0]);
}

}  // namespace

TEST_CASE("the wavefronts of a layout are those that the executor counts for a kernel that reads it") {
    for (const RowLayout layout : {RowLayout{128, 1, 1},
                                   {128, 1, 8},
                                   {128, 2, 8},
                                   {64, 1, 1},
                                   {64, 1, 4},
                                   {64, 2, 4},
                                   {32, 1, 2},
                                   {32, 4, 2},
                                   {144, 1, 1},
                                   {256, 1, 8},
                                   {256, 1, 4}}) {
        CAPTURE(layout.row_bytes);
        CAPTURE(layout.rows_alike);
        CAPTURE(layout.chunks);
        Machine m(32);
        CHECK(error_of(m.executor, launch_of(32, 8 * layout.row_bytes), load_one_matrix, m.out(), layout) == "");
        const auto& c = m.counters();  // all other accesses are free of conflicts
        CHECK(matrix_wavefronts(layout) == 1 + c.wavefronts - c.ideal_wavefronts);
    }
}

TEST_CASE(
    "ldmatrix gives each lane the elements that the PTX ISA says, plain and transposed, one, two and four at a time") {
    check_layouts<1>();
    check_layouts<2>();
    check_layouts<4>();
}

TEST_CASE_TEMPLATE("Two chained products by ldmatrix and mma equal the plain ones, over seeds bit for bit", T, Half,
                   BFloat) {
    std::mt19937 random(2);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    std::vector<T> Q(256), K(256), V(256);
    for (auto* matrix : {&Q, &K, &V}) {
        for (T& x : *matrix) x = to_element<T>(uniform(random));
    }
    std::vector<float> expected(256, 0.0f);
    for (std::size_t r = 0; r < 16; ++r) {
        for (std::size_t key = 0; key < 16; ++key) {
            float S = 0.0f;
            for (std::size_t x = 0; x < 16; ++x) S += to_float(Q[r * 16 + x]) * to_float(K[key * 16 + x]);
            const float P = to_float(to_element<T>(S));
            for (std::size_t x = 0; x < 16; ++x) expected[r * 16 + x] += P * to_float(V[key * 16 + x]);
        }
    }
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Machine m(256, {.seed = seed, .target = seed % 2 == 0 ? 90 : std::is_same_v<T, Half> ? 75 : 80});
        m.executor.add_input<T>("Q", Q);
        m.executor.add_input<T>("K", K);
        m.executor.add_input<T>("V", V);
        CHECK(error_of(m.executor, launch_of(32, 3 * 512), two_products<T>, m.executor.read<T>("Q"),
                       m.executor.read<T>("K"), m.executor.read<T>("V"), m.out()) == "");
        CHECK(m.values() == expected);
    }
}

// ---- bank conflicts

namespace {

// One x4 load of 32 rows of 64 columns, `stride` elements apart, the 16-byte units of a row exchanged by `swizzle`.
void load_rows(Global<float> out, int stride, int swizzle, int count) {
    auto chip = shared_memory();
    Shared<Half> tile = chip.take<Half>("tile", 32 * 80);
    for (int e = lane(); e < 32 * 80; e += 32) tile[e] = Half{0};
    sync_warp();
    std::uint32_t registers[4];
    for (int k = 0; k < count; ++k) ldmatrix_x4(registers, tile, lane() * stride + (swizzle != 0 ? lane() % 8 * 8 : 0));
    out[lane()] = 0.0f;
}

}  // namespace

TEST_CASE("Eight rows of ldmatrix take as many wavefronts as rows share banks: 8 unswizzled, 1 padded or swizzled") {
    const auto wavefronts = [](int stride, int swizzle) {
        Machine m(32), base(32);
        CHECK(error_of(m.executor, launch_of(32, 5120), load_rows, m.out(), stride, swizzle, 1) == "");
        CHECK(error_of(base.executor, launch_of(32, 5120), load_rows, base.out(), stride, swizzle, 0) == "");
        CHECK(m.counters().ideal_wavefronts - base.counters().ideal_wavefronts == 4);
        return m.counters().wavefronts - base.counters().wavefronts;
    };
    CHECK(wavefronts(64, 0) == 4 * 8);  // 128 bytes a row: all rows of a matrix in the same four banks
    CHECK(wavefronts(32, 0) == 4 * 4);
    CHECK(wavefronts(16, 0) == 4 * 2);
    CHECK(wavefronts(8, 0) == 4);
    CHECK(wavefronts(72, 0) == 4);  // 16 bytes of padding
    CHECK(wavefronts(64, 1) == 4);
    CHECK(wavefronts(0, 0) == 4);  // one row for all
}

// ---- wrong kernels

namespace {

enum class Wrong { Nothing, Misaligned, Unwritten, PastTheEnd, LaneMissing, OtherCount, SpareLane };

template <Wrong wrong>
void load_wrong(Global<float> out) {
    auto chip = shared_memory();
    Shared<BFloat> tile = chip.take<BFloat>("tile", 256 + 8);
    Shared<BFloat> behind = chip.take<BFloat>("behind", 8);  // so that memory past the tile is there, and written
    for (int c = 0; c < 8; ++c) {
        if (!(wrong == Wrong::Unwritten && lane() == 9 && c == 5)) tile[lane() * 8 + c] = BFloat{1};
        if (lane() == 0) tile[256 + c] = behind[c] = BFloat{1};
    }
    sync_warp();
    std::uint32_t x4[4] = {}, x2[2] = {}, x1[1] = {};
    int row = lane() * 8;
    if (wrong == Wrong::Misaligned && lane() == 3) row += 4;
    if (wrong == Wrong::PastTheEnd && lane() == 31) row = 264;
    if (wrong == Wrong::SpareLane) {  // lanes from 8 on give no row, only garbage
        ldmatrix_x1(x1, tile, lane() < 8 ? row : 1000000 + lane());
    } else if (wrong == Wrong::LaneMissing && lane() == 30) {
        sync_block();
    } else if (wrong == Wrong::OtherCount && lane() == 30) {
        ldmatrix_x2(x2, tile, row);
    } else {
        ldmatrix_x4(x4, tile, row);
    }
    out[lane()] = static_cast<float>(x4[0] + x2[0] + x1[0]);
}

template <Wrong wrong>
std::string error_of_load(int target = 90) {
    Machine m(32, {.target = target});
    return error_of(m.executor, launch_of(32, 544 + 16), load_wrong<wrong>, m.out());
}

// Lane `writer` writes the row of matrix 0 that lane `writer` gives the address of: before the load or after it.
enum class Sync { No, Yes };
template <Sync before, Sync after>
void write_around(Global<float> out, int first, int second) {
    auto chip = shared_memory();
    Shared<Half> tile = chip.take<Half>("tile", 256);
    for (int c = 0; c < 8; ++c) tile[lane() * 8 + c] = Half{1};
    sync_warp();
    if (lane() == first) tile[lane() * 8] = Half{2};
    if (before == Sync::Yes) sync_warp();
    std::uint32_t registers[4];
    ldmatrix_x4(registers, tile, lane() * 8);
    if (after == Sync::Yes) sync_warp();
    if (lane() == second) tile[lane() * 8] = Half{3};
    out[lane()] = static_cast<float>(registers[0]);
}

template <Sync before, Sync after>
std::string error_around(int first, int second, std::uint64_t seed) {
    Machine m(32, {.seed = seed});
    return error_of(m.executor, launch_of(32, 512), write_around<before, after>, m.out(), first, second);
}

}  // namespace

TEST_CASE("A wrong row of ldmatrix is named: not aligned, not written, out of bounds") {
    CHECK(error_of_load<Wrong::Nothing>() == "");
    const std::string misaligned = error_of_load<Wrong::Misaligned>();
    says(misaligned,
         "thread (3, 0, 0): reads shared tile[28] 16 bytes at a time at byte 56, which is not a multiple of 16");
    says(error_of_load<Wrong::Unwritten>(), "thread (9, 0, 0): reads shared tile[77], which nobody has written");
    says(error_of_load<Wrong::PastTheEnd>(),
         "thread (31, 0, 0): reads shared tile[271], out of bounds: this view has 264 elements");
}

TEST_CASE("An ldmatrix that not all lanes reach, or not all with the same number of matrices, is caught") {
    says(error_of_load<Wrong::LaneMissing>(),
         "31 of 32 lanes of its warp are at ldmatrix_x4 at test_simt_ldmatrix.cpp:");
    says(error_of_load<Wrong::OtherCount>(), "divergent warp: at ldmatrix_x");
}

TEST_CASE("Lanes whose rows ldmatrix does not take may point anywhere, except on sm_75") {
    CHECK(error_of_load<Wrong::SpareLane>(80) == "");
    says(error_of_load<Wrong::SpareLane>(75), "out of bounds");
}

TEST_CASE("The whole warp reads a row of ldmatrix: a warp barrier has to lie between it and any lane's write") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CHECK(error_around<Sync::Yes, Sync::Yes>(5, 6, seed) == "");
        CHECK(error_around<Sync::No, Sync::No>(-1, -1, seed) == "");  // nobody writes
        says(error_around<Sync::No, Sync::Yes>(5, 6, seed), "race on shared tile[40]: reads what thread 5 wrote");
        says(error_around<Sync::Yes, Sync::No>(5, 6, seed), "race on shared tile[48]: writes what several threads");
    }
}

}  // namespace flashstep::gpu
