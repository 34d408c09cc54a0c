// The matrices that a finished trace holds, put together from blocks and tiles, and written as .npy files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace.h"

namespace flashstep::cli {

struct NamedTensor {
    std::string name;
    int batch, heads;              // key/value heads for dK, dV
    bool is_vector;                // one number per row: L, l, m, D
    std::vector<Matrix> matrices;  // batch-major
};

// O, L, l, m, S, P, D, dQ, dK or dV as the trace leaves it, nullopt where its algorithm has no such matrix. Statistics
// and scores that exist on chip only are put together from the last tiles; a tile that the mask skipped is -inf in S.
// The unnormalised tiles P_ij of FlashAttention are no P.
std::optional<NamedTensor> named_tensor(const Trace& trace, std::string_view name);

// Writes NAME.npy for each of them into a folder, which is created if missing. Returns the names. Throws Error.
std::vector<std::string> write_tensor_files(const Trace& trace, const std::string& folder);

}  // namespace flashstep::cli
