// Which element of a matrix a lane holds in which register, written down from the PTX ISA, element by element, for
// tests. The executor's own arithmetic (gpu/simt/tensor.cpp) goes over registers instead.
#pragma once

#include <array>

namespace flashstep::gpu {

struct Place {
    int row, col;
    bool operator==(const Place&) const = default;
};

// a0 to a7 of m16n8k16; a0 to a3 are m16n8k8's. Element i is the lower (i even) or upper half of register i / 2.
constexpr Place a_place(int lane, int i) {
    const int group = lane >> 2, in_group = lane % 4;
    const bool upper_rows = i == 0 || i == 1 || i == 4 || i == 5;
    return {upper_rows ? group : group + 8, in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
// b0 to b3 of m16n8k16; b0, b1 are m16n8k8's.
constexpr Place b_place(int lane, int i) {
    const int group = lane >> 2, in_group = lane % 4;
    return {in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
}
// c0 to c3, one register each.
constexpr Place c_place(int lane, int i) {
    const int group = lane >> 2, in_group = lane % 4;
    return {i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
}
// Lower and upper half of what ldmatrix gives a lane of one 8x8 matrix.
constexpr std::array<Place, 2> ldmatrix_places(int lane, bool transposed) {
    const Place lower{lane / 4, 2 * (lane % 4)}, upper{lane / 4, 2 * (lane % 4) + 1};
    if (transposed) return {Place{lower.col, lower.row}, Place{upper.col, upper.row}};
    return {lower, upper};
}

}  // namespace flashstep::gpu
