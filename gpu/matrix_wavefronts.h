// How shared memory serves the eight rows that ldmatrix reads at once, by the rule that the executor counts with.
#pragma once

namespace flashstep::gpu {

// Where the rows of a tile of 16-byte chunks lie: one every `row_bytes`, a multiple of 16; chunk c of row r at
// c xor (r / rows_alike mod chunks). `chunks` is a power of two; 1: chunks lie in order.
struct RowLayout {
    int row_bytes, rows_alike, chunks;
};

// Wavefronts for chunk 0 of rows 0 to 7: 1 if they fall into different banks, 8 if all fall into the same. Throws
// Error: no such layout.
int matrix_wavefronts(const RowLayout& layout);

}  // namespace flashstep::gpu
