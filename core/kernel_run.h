// What one run of a kernel produced: captured intermediate values, outputs, HBM bytes, and where it ran.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/instruction_counts.h"
#include "core/matrix.h"
#include "core/tensor_bytes.h"

namespace flashstep {

// Where a kernel ran. The labels in the app and the command line follow from it.
enum class Where { Host, LiveCuda, Recorded, Ptx };

// A captured tile: `slot` is the name of the mirror's tensor ("S_ij", "m_i", ...; "O", "L" for whole outputs),
// i and j the 0-based loop indices of the write (-1 where the tensor has none), head is batch-major.
struct SlotKey {
    std::string slot;
    int head = 0, i = -1, j = -1;
    auto operator<=>(const SlotKey&) const = default;
};

struct KernelRun {
    std::string kernel;  // registry id
    Where where = Where::Host;
    std::string device;                  // device name; of PTX its target ("sm_80"); empty on the host
    std::string date;                    // of a recording; empty otherwise
    std::map<SlotKey, Matrix> captured;  // true (unpadded) shapes; a slot the rung does not produce is absent
    std::map<std::string, TensorBytes>
        hbm;  // by tensor name ("Q", "S", ...); empty where bytes are not counted (a device)
    std::vector<std::pair<std::string, std::int64_t>>
        counters;  // "barriers", "shuffles", "shared bytes read", ... in order
    InstructionCounts instructions;  // of the PTX that ran; empty elsewhere
};

}  // namespace flashstep
