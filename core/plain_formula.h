// Formulas as one line of Unicode text, for the command line and for tooltips: "S_ij = τ Q_i K_jᵀ".
#pragma once

#include <string>
#include <string_view>

namespace flashstep {

// The plain form of a mini-TeX formula (core/formula_tree.h); the source itself if it does not parse.
std::string plain_text(std::string_view formula);

}  // namespace flashstep
