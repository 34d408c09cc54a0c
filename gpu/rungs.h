// What the project has to know to run a kernel, beside its registry row: tensors, slots, launch, closed form. Internal.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel_run.h"
#include "gpu/attention_shape.h"
#include "gpu/probe.h"
#include "gpu/simt/memory.h"

namespace flashstep::gpu {

namespace simt {
class Executor;
}

// A tensor in HBM: `heads` matrices of rows x cols, one after another.
struct TensorSpec {
    std::string_view name;
    simt::Role role;
    int heads, rows, cols;
    std::int64_t count() const { return std::int64_t{heads} * rows * cols; }
    bool captured;  // handed out whole, by head
};

// A slot that the kernel's probe writes for each visible tile (i, j).
struct SlotSpec {
    std::string_view name;
    Slot slot;
    enum class Width { Keys, ValueColumns, One } width;  // columns of its tile: B_c, dv or 1; rows: B_r
};

struct Rung {
    std::string_view id;
    std::vector<TensorSpec> (*tensors)(const AttentionShape&);
    std::vector<SlotSpec> slots;
    int launches;
    std::int64_t (*shared_bytes)(const AttentionShape&);                           // of its largest block
    std::int64_t (*blocks)(const AttentionShape&);                                 // of its largest grid
    void (*launch_on_host)(simt::Executor&, const AttentionShape&, const Probe*);  // no probe: the probe-free kernel
    std::map<std::string, TensorBytes> (*bytes)(const AttentionShape&);            // the header's closed form
};

// By registry id; throws Error if the kernel has no entry.
const Rung& rung(std::string_view id);

}  // namespace flashstep::gpu
