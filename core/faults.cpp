// The table of faults.
#include "core/faults.h"

#include <array>

namespace flashstep {

std::span<const Fault> faults() {
    static constexpr std::array table = {
        Fault{"no-rescale", "the old output is not rescaled when the maximum rises", "fa2_forward", 10, Word::Rescale,
              Meaning::One, "n4d3", "O_i", 0, 1, "rows whose maximum is in their first tile"},
        Fault{"literal-inverse", "the printed inverse of the rescaling factor", "fa2_forward", 10, Word::Rescale,
              Meaning::Inverse, "n4d3", "O_i", 0, 0, "nowhere: inf * 0 is NaN on the first tile"},
        Fault{"literal-inverse-guarded", "the printed inverse, with 0 for 1/0", "fa2_forward", 10, Word::Rescale,
              Meaning::GuardedInverse, "n4d3", "O_i", 0, 1, "rows whose maximum is in their first tile"},
        Fault{"tile-max", "weights relative to the tile's maximum, not the running one", "fa2_forward", 9,
              Word::ExpDiff, Meaning::TileMaximum, "n4d3", "P_ij", 0, 1,
              "rows whose maximum rises or ties in every tile"},
        Fault{"no-max", "no maximum is subtracted", "fa2_forward", 9, Word::Max, Meaning::Zero, "extreme", "m_i", 0, 0,
              "small scores: only rounding differs"},
        Fault{"no-scale", "the scale is forgotten", "fa2_forward", 8, Word::Scale, Meaning::One, "n64", "S_ij", 0, 0,
              "a scale of 1, or all scores equal"},
        Fault{"no-tail-mask", "keys behind the last row are counted as zeros", "fa2_forward", 7, Word::Load,
              Meaning::ZeroFilledTail, "tail", "S_ij", 0, 1, "lengths that are multiples of the block"},
        Fault{"finite-mask", "a finite number instead of minus infinity", "fa2_forward", 8, Word::Mask,
              Meaning::FiniteSentinel, "masked_rows", "S_ij", 1, 0, "the output of rows that see at least one key"},
        Fault{"guard-in-state", "the guard against -inf - -inf is kept as the maximum", "fa2_forward", 9, Word::Max,
              Meaning::ZeroForMinusInf, "hidden_first_tile", "m_i", 0, 0, "rows that see a key in their first tile"},
        Fault{"fp16-stats", "m and l are kept in half precision", "fa2_forward", 9, Word::StoreStatistic,
              Meaning::HalfPrecision, "n64", "m_i", 0, 0, "statistics that half precision holds exactly"},
        Fault{"dk-unscaled", "dK does not carry the scale", "fa2_backward", 16, Word::Scale, Meaning::One,
              "n64_backward", "dK_j", 0, 0, "a scale of 1"},
        Fault{"no-d", "the softmax gradient without D", "fa2_backward", 14, Word::Subtract, Meaning::Left,
              "n4d3_backward", "dS_ij", 0, 0, "rows of dO that are orthogonal to O"},
    };
    return table;
}

const Fault* find_fault(std::string_view id) {
    for (const Fault& fault : faults())
        if (fault.id == id) return &fault;
    return nullptr;
}

}  // namespace flashstep
