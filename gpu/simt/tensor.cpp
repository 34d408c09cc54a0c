// What mma and ldmatrix do with the registers of a warp.
#include "gpu/simt/tensor.h"

#include <fmt/format.h>

#include <cstring>

#include "gpu/half.h"
#include "gpu/simt/checked.h"

namespace flashstep::gpu::simt {

namespace {

void require_whole_warp(const Block& block, const Warp& warp, std::string (*name)(int variant)) {
    if (warp.lanes == kWarp) return;
    block.fail(block.lanes[static_cast<std::size_t>(warp.first)],
               fmt::format("{} at {} needs a warp of 32 lanes, and this one has {}", name(warp.operand), at(warp.where),
                           warp.lanes));
}

template <class Operands>
const Operands& operands_of(const Warp& warp, int lane) {
    return *reinterpret_cast<const Operands*>(static_cast<std::uintptr_t>(warp.values[lane]));
}

using Four [[gnu::vector_size(16)]] = float;

// Flat arrays and loops of fixed length: the compiler makes vector instructions of them.
template <float (*value)(std::uint16_t), int k_size>
void multiply(const Warp& warp) {
    std::uint16_t A[16 * k_size], B[k_size * 8];
    float a[16 * k_size], b[k_size * 8], d[16 * 8];
    for (int lane = 0; lane < kWarp; ++lane) {
        const MmaOperands& mine = operands_of<MmaOperands>(warp, lane);
        const int g = lane / 4, t = lane % 4;
        for (int r = 0; r < k_size / 4; ++r) {
            std::memcpy(A + (g + 8 * (r % 2)) * k_size + 2 * t + 8 * (r / 2), mine.a + r, 4);
        }
        for (int r = 0; r < k_size / 8; ++r) {
            B[(2 * t + 8 * r) * 8 + g] = static_cast<std::uint16_t>(mine.b[r]);
            B[(2 * t + 8 * r + 1) * 8 + g] = static_cast<std::uint16_t>(mine.b[r] >> 16);
        }
        std::memcpy(d + g * 8 + 2 * t, mine.c, 8);
        std::memcpy(d + (g + 8) * 8 + 2 * t, mine.c + 2, 8);
    }
    for (int e = 0; e < 16 * k_size; ++e) a[e] = value(A[e]);
    for (int e = 0; e < k_size * 8; ++e) b[e] = value(B[e]);
    for (int m = 0; m < 16; ++m) {
        Four left, right;  // a row of D
        std::memcpy(&left, d + m * 8, sizeof left);
        std::memcpy(&right, d + m * 8 + 4, sizeof right);
        for (int k = 0; k < k_size; ++k) {
            Four b_left, b_right;
            std::memcpy(&b_left, b + k * 8, sizeof b_left);
            std::memcpy(&b_right, b + k * 8 + 4, sizeof b_right);
            left += a[m * k_size + k] * b_left;
            right += a[m * k_size + k] * b_right;
        }
        std::memcpy(d + m * 8, &left, sizeof left);
        std::memcpy(d + m * 8 + 4, &right, sizeof right);
    }
    for (int lane = 0; lane < kWarp; ++lane) {
        const MmaOperands& mine = operands_of<MmaOperands>(warp, lane);
        const int g = lane / 4, t = lane % 4;
        std::memcpy(mine.d, d + g * 8 + 2 * t, 8);
        std::memcpy(mine.d + 2, d + (g + 8) * 8 + 2 * t, 8);
    }
}

}  // namespace

std::string mma_name(int variant) {
    return fmt::format("mma_m16n8k{}<{}>", variant >> 1, (variant & 1) == 0 ? "Half" : "BFloat");
}

std::string ldmatrix_name(int variant) {
    return fmt::format("ldmatrix_x{}{}", variant >> 1, (variant & 1) == 0 ? "" : "_trans");
}

void perform_mma(Block& block, Warp& warp) {
    require_whole_warp(block, warp, mma_name);
    const auto type = static_cast<MmaType>(warp.operand & 1);
    const int k_size = warp.operand >> 1;
    if (k_size == 16) {
        type == MmaType::Half ? multiply<half_value, 16>(warp) : multiply<bfloat_value, 16>(warp);
        block.counters->mma += block.target < 80 ? 2 : 1;  // sm_75 has k = 8 only: the same sum, half by half
    } else {
        type == MmaType::Half ? multiply<half_value, 8>(warp) : multiply<bfloat_value, 8>(warp);
        ++block.counters->mma;
    }
}

void perform_ldmatrix(Block& block, Warp& warp) {
    require_whole_warp(block, warp, ldmatrix_name);
    const int matrices = warp.operand >> 1;
    const bool transposed = (warp.operand & 1) != 0;
    ++block.counters->ldmatrix;
    if (block.checks == Checks::On) {
        const int lanes = block.target < 80 ? kWarp : 8 * matrices;  // up to sm_75 every lane's address has to be valid
        for (int k = 0; k < lanes; ++k) {
            const Lane& lane = block.lanes[static_cast<std::size_t>(warp.first + k)];
            const SharedRun& row = operands_of<LdMatrixOperands>(warp, k).row;
            if (k < 8 * matrices) {
                check_warp_read(lane, row);
            } else {
                check_place(lane, row, Access::Read);
            }
        }
    }
    for (int k = 0; k < matrices; ++k) {
        std::uint16_t matrix[8][8];
        std::uint32_t places[8];
        for (int r = 0; r < 8; ++r) {
            const SharedRun& row = operands_of<LdMatrixOperands>(warp, 8 * k + r).row;
            std::memcpy(matrix[r], row.data, 16);
            places[r] = row.place;
        }
        for (int lane = 0; lane < kWarp; ++lane) {
            const int g = lane / 4, t = lane % 4;
            const std::uint32_t lower = transposed ? matrix[2 * t][g] : matrix[g][2 * t];
            const std::uint32_t upper = transposed ? matrix[2 * t + 1][g] : matrix[g][2 * t + 1];
            operands_of<LdMatrixOperands>(warp, lane).registers[k] = lower | upper << 16;
        }
        if (block.checks == Checks::On) {
            const Wavefronts w = wavefronts(places, 8, 16);
            block.counters->wavefronts += w.actual;
            block.counters->ideal_wavefronts += w.ideal;
            block.counters->shared_read_bytes += 128;
        }
    }
}

}  // namespace flashstep::gpu::simt
