// Matrix products and matrix loads of a whole warp.
#include <fmt/format.h>

#include <cstring>

#include "gpu/ptx/lanes.h"
#include "gpu/ptx/machine.h"
#include "gpu/ptx/words.h"
#include "gpu/simt/checked.h"

namespace flashstep::gpu::ptx {

namespace {

void require_whole_warp(const Warp& w) {
    if (w.active != kAllLanes)
        w.machine->fail(w, std::countr_zero(w.active),
                        fmt::format("needs a warp of 32 lanes, and {} take part", std::popcount(w.active)));
}

const LaneRows& rows() {
    static const LaneRows best = avx2::supported() ? avx2::lane_rows() : any_processor::lane_rows();
    return best;
}

}  // namespace

void multiply_matrices(Warp& w, const Instr& i) {
    require_whole_warp(w);
    ++w.machine->block().counters->mma;
    rows().multiply(w.machine->code().tensor[i.list], w.registers);
}

void load_matrices(Warp& w, const Instr& i) {
    require_whole_warp(w);
    Machine& m = *w.machine;
    simt::Block& block = m.block();
    const TensorOp& op = m.code().tensor[i.list];
    ++block.counters->ldmatrix;
    std::uint32_t places[kLanes];
    // Up to sm_75 every lane's address has to be a valid one.
    const int with_address = m.code().module->target.arch < 80 ? kLanes : 8 * op.matrices;
    for (int lane = 0; lane < with_address; ++lane) {
        std::uint64_t base = 0;
        if (op.row.has_base)
            std::memcpy(&base, w.registers + op.row.base + (op.row.wide_base ? 8 : 4) * lane, op.row.wide_base ? 8 : 4);
        const auto place = static_cast<std::uint32_t>(base + static_cast<std::uint64_t>(op.row.offset));
        if (std::int64_t{place} + 16 > block.shared_bytes)
            simt::fail_bounds(m.lane(w, lane), "shared", "memory", simt::Access::Read, place, block.shared_bytes);
        if (place % 16 != 0)
            simt::fail_alignment(m.lane(w, lane), "shared", "memory", simt::Access::Read, place, 16, place);
        places[lane] = place;
        if (m.checked() && lane < 8 * op.matrices) simt::check_shared_bytes_of_warp(m.lane(w, lane), place, 16);
    }
    for (int k = 0; k < op.matrices; ++k) {
        // Row g of a matrix lies in the lanes 4 g to 4 g + 3, two numbers in each.
        std::uint16_t matrix[8][8];
        for (int r = 0; r < 8; ++r) std::memcpy(matrix[r], block.shared + places[8 * k + r], 16);
        std::byte* const to = w.registers + op.d[k];
        if (op.transposed) {
            std::uint16_t turned[8][8];
            for (int r = 0; r < 8; ++r)
                for (int c = 0; c < 8; ++c) turned[c][r] = matrix[r][c];
            std::memcpy(to, turned, sizeof turned);
        } else {
            std::memcpy(to, matrix, sizeof matrix);
        }
        if (m.checked()) {
            const simt::Wavefronts fronts = simt::wavefronts(places + 8 * k, 8, 16);
            block.counters->wavefronts += fronts.actual;
            block.counters->ideal_wavefronts += fronts.ideal;
            block.counters->shared_read_bytes += 128;
        }
    }
}

}  // namespace flashstep::gpu::ptx
