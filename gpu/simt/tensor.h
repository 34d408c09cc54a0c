// Tensor-core words of a warp: matrix products and matrix loads, run when the last lane has arrived. Fragment layouts
// are the PTX ISA's; with g = lane / 4 and t = lane % 4, and the lower half of a register first:
//   A (m x k)  register r: row g + 8 (r % 2), columns 2t + 8 (r / 2) and the next
//   B (k x n)  register r: rows 2t + 8 r and the next, column g
//   C, D (m x n, fp32)  element e: row g + 8 (e / 2), column 2t + e % 2
//   ldmatrix   register k: matrix k, row g, columns 2t and the next; transposed: rows 2t and the next, column g;
//              row r of matrix k starts where lane 8k + r points
#pragma once

#include <cstdint>
#include <string>

namespace flashstep::gpu::simt {

struct Block;
struct Warp;

// Elements of a view of shared memory that one word moves together.
struct SharedRun {
    std::byte* data;          // the first of them
    const char* view;         // name of the view,
    std::int64_t index;       // of the first in it,
    std::int64_t view_count;  // and the view's elements
    std::uint32_t place;      // bytes from the start of the block's shared memory
    int element_bytes, bytes;
};

struct MmaOperands {
    float* d;
    const std::uint32_t *a, *b;
    const float* c;
};
struct LdMatrixOperands {
    std::uint32_t* registers;
    SharedRun row;
};

enum class MmaType { Half, BFloat };

// The operand of a collective that says which variant it is.
constexpr int mma_variant(MmaType type, int k) { return k << 1 | static_cast<int>(type); }
constexpr int ldmatrix_variant(int matrices, bool transposed) { return matrices << 1 | static_cast<int>(transposed); }
std::string mma_name(int variant);
std::string ldmatrix_name(int variant);

// D = A B + C, accumulated in fp32 in the order of k. Products of two 16-bit numbers are exact in fp32.
void perform_mma(Block& block, Warp& warp);
// Checks rows for alignment, bounds, initialised bits and races (the whole warp reads them), and counts wavefronts: one
// for the eight rows of a matrix, if they fall into different banks.
void perform_ldmatrix(Block& block, Warp& warp);

}  // namespace flashstep::gpu::simt
