// One attention problem: sizes, blocks, scale, mask, precision, and its input matrices.
#pragma once

#include <cstdint>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "core/matrix.h"

namespace flashstep {

// What validate() allows.
constexpr int kMaxRows = 1 << 24;  // rows of Q or K: positions then fit an int with room for blocks
constexpr int kMaxHeadDim = 1 << 14;
constexpr int kMaxHeads = 1 << 16;

// A matrix that is added to the scaled scores; -inf hides a key. The same for all heads.
enum class MaskShape {
    None,
    Keys,    // [1, nk]: key padding
    Scores,  // [n, nk]
};

// O = softmax(scale Q K^T + mask) V for `batch` x `heads` independent heads.
// Q is [n, d], K is [nk, d], V is [nk, dv]; query head h reads K, V of head h / (heads / kv_heads).
struct Problem {
    int n = 4, nk = 4;                  // rows of Q (queries), rows of K and V (keys)
    int d = 3, dv = 3;                  // head dimension of Q and K, of V and O
    int br = 2, bc = 2;                 // rows of a query block (B_r), of a key/value block (B_c)
    double scale = 0.5773502691896258;  // tau; the default is 1/sqrt(d)
    bool causal = false;                // bottom-right: key c is visible to query r iff c <= r + nk - n
    MaskShape mask = MaskShape::None;   // of Inputs::mask; adds to causal
    int batch = 1, heads = 1, kv_heads = 1;
    DType dtype = DType::Fp32;
    bool base2 = false;  // exponentials as 2^x, log2(e) folded into the scale; L stays natural (FlashAttention-2 only)
    std::uint64_t seed = 1;       // of the random inputs
    std::int64_t sram_bytes = 0;  // capacity of the on-chip memory in bytes; 0: no limit

    // What QK^T is multiplied by: tau, with log2(e) folded in for base-2 exponentials.
    double score_scale() const { return base2 ? scale * std::numbers::log2e : scale; }
    int row_blocks() const { return (n + br - 1) / br; }   // T_r
    int col_blocks() const { return (nk + bc - 1) / bc; }  // T_c
    int total_heads() const { return batch * heads; }
    // Index into Inputs::K and V of the key/value head that query head `head` (0-based, in batch-major order) reads.
    int kv_index(int head) const { return head / heads * kv_heads + head % heads / (heads / kv_heads); }
    bool visible(int row, int col) const { return !causal || col <= row + nk - n; }
    // Number of leading key blocks that query block i (0-based) has to look at: a block is skipped iff its first key is
    // invisible to the block's last row.
    int visible_blocks(int i) const;
    // The first query block that looks at key block j; row_blocks() if none does. Those after it do too.
    int first_visible_row_block(int j) const;

    bool operator==(const Problem&) const = default;
};

// Matrices by head, batch-major: Q, dO have batch*heads entries, K and V batch*kv_heads. X (softmax algorithms) is
// empty unless given, then batch*heads entries of [n, nk].
struct Inputs {
    std::vector<Matrix> Q, K, V, dO, X;
    Matrix mask;  // empty, [1, nk] or [n, nk], as Problem::mask says
};

// What an algorithm starts from beside the inputs, by matrix, an entry per query head: see core/starting_values.h.
using StartingValues = std::map<std::string, std::vector<Matrix>>;

// Throws Error naming the field, its value and the limit.
void validate(const Problem& problem);

// Throws Error naming the matrix, its shape and the shape that the problem asks for.
void validate(const Problem& problem, const Inputs& inputs);

// Pseudo-random inputs, the same on every machine: Q, K, V, dO uniform in [-1, 1] in steps of 1/128, which every format
// holds exactly, so that all formats start from the same numbers.
Inputs make_inputs(const Problem& problem);

// True if any element is NaN or infinite (-inf in the mask is what masks are for).
bool has_non_finite(const Inputs& inputs);

// The papers' block rule: B_c = ceil(M / 4d), B_r = min(B_c, d) with M elements of on-chip memory.
struct Blocks {
    int br, bc;
};
Blocks paper_blocks(std::int64_t sram_elements, int d);

}  // namespace flashstep
