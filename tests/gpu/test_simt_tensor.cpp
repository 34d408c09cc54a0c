// Tensor-core words in the executor: fragment layouts, products, and kernels that are wrong in one way each.
#include <algorithm>
#include <cmath>
#include <random>

#include "tests/gpu/fragments.h"
#include "tests/gpu/simt_machine.h"

namespace flashstep::gpu {

namespace {

int lane() { return thread_idx().x % 32; }

// The fragments of row-major matrices in global memory, loaded element by element.
template <int registers, class T>
void load_a(std::uint32_t (&a)[registers], const Global<const T>& A, int stride) {
    for (int r = 0; r < registers; ++r) {
        const Place lower = a_place(lane(), 2 * r), upper = a_place(lane(), 2 * r + 1);
        a[r] = pack(A[lower.row * stride + lower.col], A[upper.row * stride + upper.col]);
    }
}
template <int registers, class T>
void load_b(std::uint32_t (&b)[registers], const Global<const T>& B) {  // (k x 8)
    for (int r = 0; r < registers; ++r) {
        const Place lower = b_place(lane(), 2 * r), upper = b_place(lane(), 2 * r + 1);
        b[r] = pack(B[lower.row * 8 + lower.col], B[upper.row * 8 + upper.col]);
    }
}
void load_c(float (&c)[4], const Global<const float>& C) {  // (16 x 8)
    for (int e = 0; e < 4; ++e) c[e] = C[c_place(lane(), e).row * 8 + c_place(lane(), e).col];
}
void store_c(const Global<float>& out, const float (&d)[4]) {
    for (int e = 0; e < 4; ++e) out[c_place(lane(), e).row * 8 + c_place(lane(), e).col] = d[e];
}

enum class Mistake { None, RegistersOfA, RegistersOfB, HalvesOfA, RegistersOfC };

template <class T, Mistake mistake>
void product(Global<const T> A, Global<const T> B, Global<const float> C, Global<float> out) {
    std::uint32_t a[4], b[2];
    float c[4];
    load_a(a, A, 16);
    load_b(b, B);
    load_c(c, C);
    if (mistake == Mistake::RegistersOfA) std::swap(a[1], a[2]);
    if (mistake == Mistake::RegistersOfB) std::swap(b[0], b[1]);
    if (mistake == Mistake::HalvesOfA) a[0] = a[0] << 16 | a[0] >> 16;
    if (mistake == Mistake::RegistersOfC) std::swap(c[1], c[2]);
    mma_m16n8k16<T>(c, a, b, c);
    store_c(out, c);
}

template <class T>
void product_in_two(Global<const T> A, Global<const T> B, Global<const float> C, Global<float> out) {
    std::uint32_t a[4], b[2];
    float c[4], d[4];
    load_a(a, A, 16);
    load_b(b, B);
    load_c(c, C);
    mma_m16n8k8<T>(d, {a[0], a[1]}, {b[0]}, c);
    mma_m16n8k8<T>(d, {a[2], a[3]}, {b[1]}, d);
    store_c(out, d);
}

template <class T>
struct Matrices {
    std::vector<T> A, B;
    std::vector<float> C;
    explicit Matrices(std::uint32_t seed) : A(16 * 16), B(16 * 8), C(16 * 8) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
        for (T& x : A) x = to_element<T>(uniform(random));
        for (T& x : B) x = to_element<T>(uniform(random));
        for (float& x : C) x = uniform(random);
    }
    std::vector<float> product() const {  // fp32, in the order of k
        std::vector<float> D = C;
        for (std::size_t m = 0; m < 16; ++m) {
            for (std::size_t n = 0; n < 8; ++n) {
                for (std::size_t k = 0; k < 16; ++k) D[m * 8 + n] += to_float(A[m * 16 + k]) * to_float(B[k * 8 + n]);
            }
        }
        return D;
    }
    template <class Kernel>
    std::vector<float> run(Kernel kernel, simt::Options options = {}, std::string_view expected = "") const {
        Machine m(128, options);
        m.executor.add_input<T>("A", A);
        m.executor.add_input<T>("B", B);
        m.executor.add_input<float>("C", C);
        says(error_of(m.executor, launch_of(32), kernel, m.executor.read<T>("A"), m.executor.read<T>("B"),
                      m.executor.read("C"), m.out()),
             expected);
        if (expected.empty()) CHECK(m.counters().mma == (options.target < 80 || kernel == &product_in_two<T> ? 2 : 1));
        return m.values();
    }
};

// Element `hot` (lane, index) of one operand is 1, everything else of it 0: what comes out names its place.
enum class Operand { A, B, C };
template <class T, Operand operand, int k_size>
void one_hot(Global<const T> other, Global<float> out) {
    constexpr int kElements = operand == Operand::A ? k_size / 2 : operand == Operand::B ? k_size / 4 : 4;
    for (int hot = 0; hot < 32 * kElements; ++hot) {
        std::uint32_t a[k_size / 4] = {}, b[k_size / 8] = {};
        float c[4] = {};
        const bool mine = lane() == hot / kElements;
        const int i = hot % kElements;
        const std::uint32_t one = std::uint32_t{to_element<T>(1.0f).bits} << (i % 2 == 0 ? 0 : 16);
        if constexpr (operand == Operand::A) {
            load_b(b, other);
            if (mine) a[i / 2] = one;
        } else if constexpr (operand == Operand::B) {
            load_a(a, other, k_size);
            if (mine) b[i / 2] = one;
        } else if (mine) {
            c[i] = 1.0f;
        }
        if constexpr (k_size == 16) {
            mma_m16n8k16<T>(c, a, b, c);
        } else {
            mma_m16n8k8<T>(c, a, b, c);
        }
        store_c(slice(out, hot * 128, 128), c);
    }
}

// Runs one_hot with a matrix whose elements all differ in the other operand; [lane * elements + i] is a 16 x 8 result.
template <class T, Operand operand, int k_size>
std::vector<float> one_hot_results() {
    const int count = operand == Operand::A ? 16 * k_size : operand == Operand::B ? 8 * k_size : 128;
    Machine m(count * 128);
    std::vector<T> other(256);
    for (std::size_t e = 0; e < other.size(); ++e) other[e] = to_element<T>(static_cast<float>(e + 1));  // exact
    m.executor.add_input<T>("other", other);
    CHECK(error_of(m.executor, launch_of(32), one_hot<T, operand, k_size>, m.executor.read<T>("other"), m.out()) == "");
    return m.values();
}

template <class T, int k_size>
void check_layouts() {
    int wrong = 0;
    const auto a = one_hot_results<T, Operand::A, k_size>();
    const auto b = one_hot_results<T, Operand::B, k_size>();
    const auto c = one_hot_results<T, Operand::C, k_size>();
    const auto result = [](const std::vector<float>& all, int hot, int m, int n) {
        return all[static_cast<std::size_t>(hot * 128 + m * 8 + n)];
    };
    for (int l = 0; l < 32; ++l) {
        for (int m = 0; m < 16; ++m) {
            for (int n = 0; n < 8; ++n) {
                for (int i = 0; i < k_size / 2; ++i) {  // D = the row of B that the element multiplies, in its own row
                    const auto [row, k] = a_place(l, i);
                    wrong += result(a, l * k_size / 2 + i, m, n) != (m == row ? static_cast<float>(k * 8 + n + 1) : 0);
                }
                for (int i = 0; i < k_size / 4; ++i) {  // D = a column of A, in the element's own column
                    const auto [k, col] = b_place(l, i);
                    wrong +=
                        result(b, l * k_size / 4 + i, m, n) != (n == col ? static_cast<float>(m * k_size + k + 1) : 0);
                }
                for (int i = 0; i < 4; ++i) {
                    wrong += result(c, l * 4 + i, m, n) != (c_place(l, i) == Place{m, n} ? 1.0f : 0.0f);
                }
            }
        }
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("The fragment tables hold what the PTX ISA's figures show at a few lanes") {
    CHECK(a_place(0, 0) == Place{0, 0});
    CHECK(a_place(5, 3) == Place{9, 3});  // lane 5, second register, upper half
    CHECK(a_place(31, 7) == Place{15, 15});
    CHECK(a_place(2, 4) == Place{0, 12});
    CHECK(b_place(6, 2) == Place{12, 1});  // lane 6, second register, lower half
    CHECK(b_place(31, 3) == Place{15, 7});
    CHECK(c_place(31, 3) == Place{15, 7});
    CHECK(c_place(4, 1) == Place{1, 1});
    CHECK(ldmatrix_places(7, false)[1] == Place{1, 7});
    CHECK(ldmatrix_places(7, true)[1] == Place{7, 1});
}

TEST_CASE_TEMPLATE("Every element of A, B and C is where the PTX ISA puts it", T, Half, BFloat) {
    check_layouts<T, 16>();
    check_layouts<T, 8>();
}

TEST_CASE_TEMPLATE("mma is the matrix product, accumulated in fp32 in the order of k", T, Half, BFloat) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        const Matrices<T> matrices(seed);
        const std::vector<float> D = matrices.product();
        CHECK(matrices.run(&product<T, Mistake::None>) == D);
        CHECK(matrices.run(&product<T, Mistake::None>, {.checks = Checks::Off, .seed = seed}) == D);
        for (std::size_t e = 0; e < D.size(); ++e) {  // the same in double, within the rounding of 16 sums
            double sum = matrices.C[e], magnitude = std::abs(sum);
            for (std::size_t k = 0; k < 16; ++k) {
                const double term = double{to_float(matrices.A[e / 8 * 16 + k])} * to_float(matrices.B[k * 8 + e % 8]);
                sum += term;
                magnitude += std::abs(term);
            }
            CHECK(std::abs(D[e] - sum) <= 16 * 0x1p-24 * magnitude);
        }
    }
}

TEST_CASE_TEMPLATE("m16n8k16 is two m16n8k8", T, Half, BFloat) {
    const Matrices<T> matrices(3);
    CHECK(matrices.run(&product_in_two<T>) == matrices.product());
}

TEST_CASE("sm_75 does m16n8k16 of fp16 in two instructions, and refuses bf16") {
    const Matrices<Half> half(4);
    CHECK(half.run(&product<Half, Mistake::None>, {.target = 75}) == half.product());
    CHECK(half.run(&product_in_two<Half>, {.target = 75}) == half.product());
    const Matrices<BFloat> bfloat(4);
    bfloat.run(&product<BFloat, Mistake::None>, {.target = 75},
               "mma_m16n8k16<BFloat> needs sm_80 or later, and this run is for sm_75");
    bfloat.run(&product_in_two<BFloat>, {.target = 75}, "mma_m16n8k8<BFloat> needs sm_80");
    CHECK(bfloat.run(&product<BFloat, Mistake::None>, {.target = 80}) == bfloat.product());
}

TEST_CASE_TEMPLATE("A fragment with two registers or halves exchanged gives another result", T, Half, BFloat) {
    const Matrices<T> matrices(5);
    const std::vector<float> D = matrices.product();
    CHECK(matrices.run(&product<T, Mistake::RegistersOfA>) != D);
    CHECK(matrices.run(&product<T, Mistake::RegistersOfB>) != D);
    CHECK(matrices.run(&product<T, Mistake::HalvesOfA>) != D);
    CHECK(matrices.run(&product<T, Mistake::RegistersOfC>) != D);
}

// ---- collectives

namespace {

enum class Warp { Whole, LaneMissing, LaneElsewhere, OtherType, OtherWord };

template <Warp warp>
void mma_of_warp(Global<float> out) {
    float d[4] = {};
    const std::uint32_t a[4] = {}, b[2] = {};
    const bool odd = thread_idx().x == 17;
    if (odd && warp == Warp::LaneMissing) {
        out[17] = 0.0f;
        return;
    }
    if (odd && warp == Warp::LaneElsewhere) {
        mma_m16n8k16<Half>(d, a, b, d);
    } else if (odd && warp == Warp::OtherType) {
        mma_m16n8k16<BFloat>(d, a, b, d);
    } else if (odd && warp == Warp::OtherWord) {
        shuffle_xor(1.0f, 1);
    } else {
        mma_m16n8k16<Half>(d, a, b, d);
    }
    out[thread_idx().x] = d[0];
}

}  // namespace

TEST_CASE("A warp whose lanes are not all at the same mma is caught") {
    const auto error = [](auto kernel, int threads) {
        Machine m(threads);
        return error_of(m.executor, launch_of(threads), kernel, m.out());
    };
    CHECK(error(mma_of_warp<Warp::Whole>, 64) == "");
    says(error(mma_of_warp<Warp::LaneMissing>, 32),
         "31 of 32 lanes of its warp are at mma_m16n8k16<Half> at test_simt");
    says(error(mma_of_warp<Warp::LaneElsewhere>, 32), "divergent warp: at mma_m16n8k16<Half> at test_simt_tensor.cpp:");
    says(error(mma_of_warp<Warp::OtherType>, 32), "mma_m16n8k16<BFloat> at test_simt_tensor.cpp:");
    says(error(mma_of_warp<Warp::OtherWord>, 32), "shuffle_xor (1) at test_simt_tensor.cpp:");
    says(error(mma_of_warp<Warp::Whole>, 48), "needs a warp of 32 lanes, and this one has 16");
}

}  // namespace flashstep::gpu
