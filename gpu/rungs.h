// What the project has to know to run a kernel, beside its registry row: tensors, slots, launch, closed form. Internal.
#pragma once

#include <string_view>
#include <vector>

#include "core/problem.h"
#include "gpu/families/any_rung.h"
#include "gpu/registry.h"

namespace flashstep::gpu {

namespace simt {
class Executor;
}

struct Rung {
    std::string_view id;
    AttentionShape (*as_tiled)(AttentionShape);  // the shape in the kernel's own tiles
    std::vector<TensorSpec> (*tensors)(const AttentionShape&);
    std::vector<SlotSpec> slots;
    int launches;
    std::int64_t (*shared_bytes)(const AttentionShape&);                           // of its largest block
    std::int64_t (*blocks)(const AttentionShape&);                                 // of its largest grid
    void (*launch_on_host)(simt::Executor&, const AttentionShape&, const Probe*);  // no probe: the probe-free kernel
    BytesByTensor (*bytes)(const AttentionShape&);                                 // the header's closed form
};

// By registry id; throws Error if there is no such kernel.
const Rung& rung(std::string_view id);

// The problem as the kernel sees it.
AttentionShape shape_of(const KernelInfo& kernel, const Problem& problem);

}  // namespace flashstep::gpu
