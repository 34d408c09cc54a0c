// Problem sizes, their limits, and reproducible inputs.
#include "core/problem.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/say.h"

namespace flashstep {
namespace {

void require(bool ok, const Sentence& what, auto value, const Sentence& limit) {
    if (!ok) throw Error(say("{} is {}, but has to be {}", "{} 为 {}，应{}", what, value, limit));
}

void require_range(const char* what, int value, int most) {
    require(value >= 1 && value <= most, what, value, say("from 1 to {}", "在 1 到 {} 之间", most));
}

// SplitMix64: small, the same everywhere, good enough for test inputs.
std::uint64_t next_random(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

std::vector<Matrix> random_matrices(std::uint64_t seed, int salt, int count, int rows, int cols) {
    std::vector<Matrix> matrices;
    for (int head = 0; head < count; ++head) {
        std::uint64_t state = seed * 0x2545f4914f6cdd1dULL + static_cast<std::uint64_t>(salt);
        state = next_random(state) ^ static_cast<std::uint64_t>(head);
        Matrix values(rows, cols);
        for (double& value : values.reshaped<Eigen::RowMajor>())
            value = static_cast<double>(static_cast<int>(next_random(state) % 257) - 128) / 128.0;
        matrices.push_back(std::move(values));
    }
    return matrices;
}

void require_shapes(std::string_view what, const std::vector<Matrix>& matrices, int count, int rows, int cols) {
    if (static_cast<int>(matrices.size()) != count)
        throw Error(say("{} holds {} heads, but the problem has {}", "{} 有 {} 个 head，而问题要求 {} 个", what,
                        matrices.size(), count));
    for (const Matrix& values : matrices)
        if (values.rows() != rows || values.cols() != cols)
            throw Error(say("{} is {} x {}, but the problem asks for {} x {}",
                            "{} 的尺寸是 {} × {}，而问题要求 {} × {}", what, values.rows(), values.cols(), rows, cols));
}

}  // namespace

int Problem::visible_blocks(int i) const {
    if (!causal) return col_blocks();
    const int last_row = std::min((i + 1) * br, n) - 1;
    const int last_key = last_row + nk - n;  // the last key that the block's last row sees
    return last_key < 0 ? 0 : std::min(last_key / bc + 1, col_blocks());
}

int Problem::first_visible_row_block(int j) const {
    if (!causal) return 0;
    const int first_row = std::max(j * bc - (nk - n), 0);  // the first row that sees the block's first key
    return first_row >= n ? row_blocks() : first_row / br;
}

void validate(const Problem& p) {
    require_range("n", p.n, kMaxRows);
    require_range("nk", p.nk, kMaxRows);
    require_range("d", p.d, kMaxHeadDim);
    require_range("dv", p.dv, kMaxHeadDim);
    require_range("br", p.br, kMaxRows);
    require_range("bc", p.bc, kMaxRows);
    require_range("batch", p.batch, kMaxHeads);
    require_range("heads", p.heads, kMaxHeads);
    require_range("kv-heads", p.kv_heads, kMaxHeads);
    require(p.heads % p.kv_heads == 0, "kv-heads", p.kv_heads,
            say("a divisor of heads, {}", "能整除 heads（{}）", p.heads));
    require(std::int64_t{p.batch} * p.heads <= kMaxHeads, {"batch times heads", "batch × heads"},
            say("{} times {}", "{} × {}", p.batch, p.heads), say("at most {}", "不超过 {}", kMaxHeads));
    require(std::isfinite(p.scale), {"scale", "缩放系数"}, p.scale, {"a finite number", "为有限数"});
    require(p.sram_bytes >= 0, "sram", p.sram_bytes, {"a number of bytes, or 0 for no limit", "为字节数，0 表示不限"});
}

void validate(const Problem& p, const Inputs& in) {
    require_shapes("Q", in.Q, p.total_heads(), p.n, p.d);
    require_shapes("K", in.K, p.batch * p.kv_heads, p.nk, p.d);
    require_shapes("V", in.V, p.batch * p.kv_heads, p.nk, p.dv);
    require_shapes("dO", in.dO, p.total_heads(), p.n, p.dv);
    if (!in.X.empty()) require_shapes("X", in.X, p.total_heads(), p.n, p.nk);
    const int mask_rows = p.mask == MaskShape::None ? 0 : p.mask == MaskShape::Keys ? 1 : p.n;
    if (in.mask.rows() != mask_rows || (mask_rows > 0 && in.mask.cols() != p.nk))
        throw Error(say("the mask is {} x {}, but the problem asks for {} x {}",
                        "掩码的尺寸是 {} × {}，而问题要求 {} × {}", in.mask.rows(), in.mask.cols(), mask_rows,
                        mask_rows > 0 ? p.nk : 0));
}

Inputs make_inputs(const Problem& p) {
    const int heads = p.total_heads(), kv = p.batch * p.kv_heads;
    return {
        .Q = random_matrices(p.seed, 1, heads, p.n, p.d),
        .K = random_matrices(p.seed, 2, kv, p.nk, p.d),
        .V = random_matrices(p.seed, 3, kv, p.nk, p.dv),
        .dO = random_matrices(p.seed, 4, heads, p.n, p.dv),
        .X = {},
        .mask = p.mask == MaskShape::None ? Matrix() : Matrix(Matrix::Zero(p.mask == MaskShape::Keys ? 1 : p.n, p.nk))};
}

bool has_non_finite(const Inputs& in) {
    for (const auto* group : {&in.Q, &in.K, &in.V, &in.dO, &in.X})
        for (const Matrix& values : *group)
            if (!values.allFinite()) return true;
    for (double value : in.mask.reshaped())
        if (std::isnan(value) || value == kInf) return true;
    return false;
}

Blocks paper_blocks(std::int64_t sram_elements, int d) {
    const std::int64_t bc = std::max<std::int64_t>(1, (sram_elements + 4 * d - 1) / (4 * d));
    return {.br = static_cast<int>(std::min<std::int64_t>(bc, d)),
            .bc = static_cast<int>(std::min<std::int64_t>(bc, kMaxRows))};
}

}  // namespace flashstep
