// A matrix per head from a .npy or .csv file.
#pragma once

#include <string>
#include <vector>

#include "core/matrix.h"

namespace flashstep::io {

struct TensorFile {
    std::string path;
    int rows = 0, cols = 0;  // of one head
    int batch = 1, heads = 1;
    bool has_heads = false;        // the file has the dimensions batch and heads
    std::vector<Matrix> matrices;  // batch-major
};

// [N, d], [N] (a column) or [batch, heads, N, d]. Throws Error: what read_npy and read_csv throw, another number of
// dimensions, a dimension of 0, a name that ends in neither .npy nor .csv.
TensorFile read_tensor(const std::string& path);

// Writes float64 in C order: [N, d], or [N] for one column that is to be a vector; with leading [batch, heads] unless
// both are 1 (Leading::Always: also then, where other matrices of the same problem have several heads).
enum class Columns { Keep, AsVector };
enum class Leading { IfSeveral, Always };
void write_tensor(const std::string& path, const std::vector<Matrix>& matrices, int batch, int heads, Columns columns,
                  Leading leading = Leading::IfSeveral);

}  // namespace flashstep::io
