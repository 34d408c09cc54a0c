// Counters against closed forms, ==, for random ragged problems: those of the registry, and the papers' printed ones.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "core/algorithms.h"

using namespace flashstep;

namespace {

constexpr int kShapes = 60;

// The same numbers with every compiler and library.
class Dice {
  public:
    explicit Dice(std::uint32_t seed) : engine_(seed) {}
    int from(int least, int most) {
        return least + static_cast<int>(engine_() % static_cast<std::uint32_t>(most - least + 1));
    }
    bool one_in(int sides) { return from(1, sides) == 1; }

  private:
    std::mt19937 engine_;
};

// Ragged, tiny, wide and tall; blocks smaller and larger than the matrices; every mask, format and head grouping.
Problem random_problem(Dice& dice) {
    Problem p;
    const int most = dice.one_in(3) ? 8 : 90;
    p.n = dice.from(1, most), p.nk = dice.one_in(3) ? p.n : dice.from(1, most);
    p.d = dice.from(1, 20), p.dv = dice.one_in(2) ? p.d : dice.from(1, 20);
    p.br = dice.from(1, dice.one_in(4) ? 100 : 17), p.bc = dice.from(1, dice.one_in(4) ? 100 : 17);
    p.causal = dice.one_in(2);
    p.mask = static_cast<MaskShape>(dice.from(0, 2));
    p.batch = dice.from(1, 3);
    p.kv_heads = dice.from(1, 3);
    p.heads = p.kv_heads * dice.from(1, 3);
    p.dtype = static_cast<DType>(dice.from(0, 3));
    p.base2 = dice.one_in(3);
    return p;
}

std::string describe(const Problem& p) {
    return fmt::format("n {} nk {} d {} dv {} br {} bc {} causal {} mask {} batch {} heads {} kv {} {} base2 {}", p.n,
                       p.nk, p.d, p.dv, p.br, p.bc, p.causal, static_cast<int>(p.mask), p.batch, p.heads, p.kv_heads,
                       name(p.dtype), p.base2);
}

std::string text(const HbmBytes& b) { return fmt::format("read {} write {} init {}", b.read, b.write, b.init); }

// The first number that the form predicts wrongly; empty if there is none.
std::string difference(const Counts& counted, const ClosedForm& form) {
    HbmBytes all;
    for (const auto& [matrix, bytes] : counted.hbm) {
        const auto row = form.hbm.find(matrix);
        const HbmBytes expected = row == form.hbm.end() ? HbmBytes{} : row->second;
        if (bytes != expected)
            return fmt::format("{}: counted {}, closed form {}", matrix, text(bytes), text(expected));
        all.read += bytes.read, all.write += bytes.write, all.init += bytes.init;
    }
    for (const auto& [matrix, bytes] : form.hbm)
        if (bytes != HbmBytes{} && !counted.hbm.contains(matrix))
            return fmt::format("{}: not counted, closed form {}", matrix, text(bytes));
    const Traffic& t = counted.traffic;
    if (all != HbmBytes{t.hbm_read, t.hbm_write, t.hbm_init}) return "the matrices do not sum up to the total";
    const auto check = [](const char* what, std::int64_t one, std::int64_t other) {
        return one == other ? std::string() : fmt::format("{}: counted {}, closed form {}", what, one, other);
    };
    for (const std::string& found :
         {check("matmul FLOPs", t.flops_matmul, form.flops_matmul),
          check("other FLOPs", t.flops_other, form.flops_other), check("exponentials", t.flops_exp, form.flops_exp),
          form.counts_sram ? check("SRAM read", t.sram_read, form.sram_read) : "",
          form.counts_sram ? check("SRAM write", t.sram_write, form.sram_write) : "",
          form.counts_sram ? check("barriers", t.barriers, form.barriers) : ""})
        if (!found.empty()) return found;
    return {};
}

// The papers' elements of one head with N = Nk, d = d_v, no mask.
struct Printed {
    const char* algorithm;
    std::int64_t matrices, statistics;  // elements of size element_bytes(dtype), and of 4 bytes
    std::int64_t init_matrices, init_statistics;
};

std::vector<Printed> printed(const Problem& p) {
    const std::int64_t N = p.n, d = p.d, Tr = p.row_blocks(), Tc = p.col_blocks();
    return {
        {"standard_attention", 4 * N * d + 4 * N * N, 0, 0, 0},
        {"standard_backward", 8 * N * d + 7 * N * N, 0, 0, 0},
        {"fa1_forward", (3 + 3 * Tc) * N * d, (2 + 4 * Tc) * N, N * d, 2 * N},
        {"fa1_backward", 7 * N * d + Tc * 5 * N * d, Tc * 2 * N, 3 * N * d, 0},
        {"fa2_forward", 2 * N * d + 2 * Tr * N * d, N, 0, 0},
        {"fa2_backward", (7 + 4 * Tc) * N * d, (1 + 2 * Tc) * N, N * d, 0},
        {"fa2_backward_two_pass", (9 + 2 * Tr + 2 * Tc) * N * d, (3 + 2 * Tc) * N, 0, 0},
    };
}

}  // namespace

TEST_CASE("every counter of every algorithm equals its closed form for random ragged problems") {
    std::uint32_t seed = 20220527;
    for (const Algorithm& algorithm : algorithms()) {
        Dice dice(seed++);
        for (int k = 0; k < kShapes; ++k) {
            const Problem p = random_problem(dice);
            const std::string wrong = difference(count(algorithm, p), closed_form(algorithm, p));
            CHECK_MESSAGE(wrong.empty(), algorithm.id << ": " << wrong << " (" << describe(p) << ")");
        }
    }
}

TEST_CASE("the bytes are those of the papers' formulas for random ragged N, d and blocks") {
    Dice dice(20230717);
    for (int k = 0; k < kShapes; ++k) {
        Problem p = random_problem(dice);
        p.nk = p.n, p.dv = p.d, p.causal = p.base2 = false, p.mask = MaskShape::None;
        p.kv_heads = p.heads;
        const std::int64_t bytes = element_bytes(p.dtype), heads = p.total_heads();
        for (const Printed& form : printed(p)) {
            const Traffic t = count(*find_algorithm(form.algorithm), p).traffic;
            INFO(form.algorithm << " " << describe(p));
            CHECK(t.hbm_read + t.hbm_write == heads * (bytes * form.matrices + 4 * form.statistics));
            CHECK(t.hbm_init == heads * (bytes * form.init_matrices + 4 * form.init_statistics));
        }
    }
}

TEST_CASE("the random problems reach every kind that closed forms get wrong") {
    Dice dice(20220527);
    int ragged_rows = 0, ragged_columns = 0, one_block = 0, blind_rows = 0, grouped = 0, masks = 0, wide = 0;
    for (int k = 0; k < kShapes; ++k) {
        const Problem p = random_problem(dice);
        ragged_rows += p.n > p.br && p.n % p.br != 0;
        ragged_columns += p.nk > p.bc && p.nk % p.bc != 0;
        one_block += p.br >= p.n && p.bc >= p.nk;
        blind_rows += p.causal && p.nk < p.n;
        grouped += p.heads > p.kv_heads && p.batch > 1;
        masks += p.causal && p.mask == MaskShape::Scores;
        wide += p.d != p.dv;
    }
    for (const int found : {ragged_rows, ragged_columns, one_block, blind_rows, grouped, masks, wide})
        CHECK(found >= 3);
}

TEST_CASE("a closed form that is wrong by a little is found, and named") {
    const Algorithm& fa2 = *find_algorithm("fa2_forward");
    Problem p;
    p.n = 7, p.nk = 10, p.br = 3, p.bc = 4, p.causal = true;
    const Counts counted = count(fa2, p);
    const ClosedForm right = closed_form(fa2, p);
    REQUIRE(difference(counted, right).empty());

    const auto found = [&](auto change) {
        ClosedForm wrong = right;
        change(wrong);
        return difference(counted, wrong);
    };
    CHECK(found([](ClosedForm& f) { f.hbm["K"].read += 4; }).starts_with("K: "));
    CHECK(found([](ClosedForm& f) { f.hbm.erase("O"); }).starts_with("O: "));
    CHECK(found([](ClosedForm& f) { f.hbm["O"].init += 4; }).starts_with("O: "));
    CHECK(found([](ClosedForm& f) { f.hbm["dQ"].read = 4; }).starts_with("dQ: not counted"));
    CHECK(found([](ClosedForm& f) { ++f.flops_matmul; }).starts_with("matmul"));
    CHECK(found([](ClosedForm& f) { --f.flops_other; }).starts_with("other"));
    CHECK(found([](ClosedForm& f) { ++f.flops_exp; }).starts_with("exponentials"));

    // Mistakes of the kinds that whole blocks hide: floor for ceiling, no skipped tiles, keys for rows.
    Problem all_tiles = p, whole = p, swapped = p;
    all_tiles.causal = false;
    whole.n = 6;
    std::swap(swapped.n, swapped.nk);
    for (const Problem& other : {all_tiles, whole, swapped})
        CHECK(!difference(counted, closed_form(fa2, other)).empty());
}
