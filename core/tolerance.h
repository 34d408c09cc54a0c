// How far a kernel's value may be from the mirror's.
#pragma once

#include <limits>

namespace flashstep {

// fp32: |kernel - mirror| <= 32 eps32 E per element. E is the value plus the sum of the absolute terms of its last
// contraction, plus what the operands' own E passes on to first order: a score of 1000 is known to 1000 eps, so e^score
// is only known to a relative 1000 eps. Inputs have E = 0, and so has what a mask defines: -inf and 0 must match
// exactly. A power or a product below fp32's normal range may be off by the smallest normal number, as devices flush it
// to zero. Where the format has 16 bits, a rounded value is known exactly, or up to the two sides of a rounding
// boundary that its error reaches over.
constexpr double kToleranceFactor = 32;
constexpr double kEps32 = std::numeric_limits<float>::epsilon();

}  // namespace flashstep
