// What mma and ldmatrix do with the registers of a warp.
#include "gpu/simt/tensor.h"

#include <fmt/format.h>

#include <cstring>

#include "gpu/half.h"
#include "gpu/simt/checked.h"

namespace flashstep::gpu::simt {

namespace {

void require_whole_warp(const Block& block, const Warp& warp, const std::string& word) {
    if (warp.lanes == kWarp) return;
    block.fail(block.lanes[static_cast<std::size_t>(warp.first)],
               fmt::format("{} at {} needs a warp of 32 lanes, and this one has {}", word, at(warp.where), warp.lanes));
}

template <class Operands>
const Operands& operands_of(const Warp& warp, int lane) {
    return *reinterpret_cast<const Operands*>(static_cast<std::uintptr_t>(warp.values[lane]));
}

template <float (*value)(std::uint16_t), int k_size>
void multiply(const Warp& warp) {
    std::uint16_t A[16][k_size], B[8][k_size];  // B by columns, as its registers come
    float a[16][k_size], b[8][k_size], bt[k_size][8], d[16][8];
    for (int lane = 0; lane < kWarp; ++lane) {
        const MmaOperands& mine = operands_of<MmaOperands>(warp, lane);
        const int g = lane / 4, t = lane % 4;
        for (int r = 0; r < k_size / 4; ++r) std::memcpy(&A[g + 8 * (r % 2)][2 * t + 8 * (r / 2)], mine.a + r, 4);
        for (int r = 0; r < k_size / 8; ++r) std::memcpy(&B[g][2 * t + 8 * r], mine.b + r, 4);
        for (int e = 0; e < 4; ++e) d[g + 8 * (e / 2)][2 * t + e % 2] = mine.c[e];
    }
    for (int e = 0; e < 16 * k_size; ++e) a[e / k_size][e % k_size] = value(A[e / k_size][e % k_size]);
    for (int e = 0; e < 8 * k_size; ++e) b[e / k_size][e % k_size] = value(B[e / k_size][e % k_size]);
    for (int n = 0; n < 8; ++n) {
        for (int k = 0; k < k_size; ++k) bt[k][n] = b[n][k];
    }
    for (int m = 0; m < 16; ++m) {
        for (int k = 0; k < k_size; ++k) {
            for (int n = 0; n < 8; ++n) d[m][n] += a[m][k] * bt[k][n];
        }
    }
    for (int lane = 0; lane < kWarp; ++lane) {
        const MmaOperands& mine = operands_of<MmaOperands>(warp, lane);
        const int g = lane / 4, t = lane % 4;
        for (int e = 0; e < 4; ++e) mine.d[e] = d[g + 8 * (e / 2)][2 * t + e % 2];
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
    require_whole_warp(block, warp, mma_name(warp.operand));
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
    require_whole_warp(block, warp, ldmatrix_name(warp.operand));
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
