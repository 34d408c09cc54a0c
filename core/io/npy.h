// NumPy's .npy files: format versions 1, 2 and 3, numbers only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flashstep::io {

struct NpyArray {
    std::vector<std::int64_t> shape;  // empty: a single number
    std::vector<double> values;       // C order, whatever the file's order was
};

// Parses the bytes of a file; `name` stands in messages. Takes f2, f4, f8, i1 to i8, u1 to u8 and b1 in either byte
// order, C or Fortran order; 64-bit integers beyond 2^53 are rounded. Nothing is allocated before the bytes were seen
// to be there. Throws Error naming the file, what is wrong, where (byte offset or header entry), and the limit.
NpyArray parse_npy(std::string_view bytes, const std::string& name);
NpyArray read_npy(const std::string& path);

// The bytes of a version 1 file: '<f8', C order. `values.size()` is the product of `shape`.
std::string npy_bytes(std::span<const std::int64_t> shape, std::span<const double> values);
void write_npy(const std::string& path, std::span<const std::int64_t> shape, std::span<const double> values);

// "(8, 3)", as NumPy prints a shape.
std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace flashstep::io
