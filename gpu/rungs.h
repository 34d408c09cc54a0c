// What the project has to know to run a kernel, beside its registry row: tensors, slots, launch, closed form. Internal.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel_run.h"
#include "core/problem.h"
#include "gpu/attention_shape.h"
#include "gpu/probe.h"
#include "gpu/registry.h"
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
    Element element = Element::Fp32;
};

// How far a tile reaches in one direction: B_r, B_c (both ragged at the end), d, dv or 1.
enum class Extent { Queries, Keys, HeadColumns, ValueColumns, One };

// A slot that the kernel's probe writes for each visible tile (i, j).
struct SlotSpec {
    std::string_view name;
    Slot slot;
    Extent rows, cols;
};

struct Rung {
    std::string_view id;
    AttentionShape (*as_tiled)(AttentionShape);  // the shape in the kernel's own tiles; null: as it is
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

// The problem as the kernel sees it.
AttentionShape shape_of(const KernelInfo& kernel, const Problem& problem);

// The families' tables.
std::span<const Rung> softmax_rungs();
std::span<const Rung> standard_rungs();
std::span<const Rung> fa1_rungs();
std::span<const Rung> forward_rungs();
std::span<const Rung> backward_rungs();

// ---- Parts that several rungs share.

std::int64_t visible_pairs(const AttentionShape& p);  // (query, key) pairs of one head that causality lets see
// Keys in the tiles that row block i looks at; summed over the row blocks of one head.
std::int64_t loaded_keys(const AttentionShape& p, int i);
std::int64_t loaded_keys(const AttentionShape& p);
// Rows in the tiles that look at a column block, summed over the column blocks of one head.
std::int64_t loaded_rows(const AttentionShape& p);
// Elements of M that one pass over the visible tiles of all heads reads.
std::int64_t loaded_mask(const AttentionShape& p);
// Q, K, V, and M where there is a mask.
std::vector<TensorSpec> attention_inputs(const AttentionShape& p);
// Calls a launch function with the kernel's probe, or (null) with none.
template <class LaunchFunction>
void launch_traced(const Probe* probe, LaunchFunction launch) {
    probe ? launch(*probe) : launch(NoProbe{});
}
void add_mask_bytes(std::map<std::string, TensorBytes>& bytes, const AttentionShape& p, std::int64_t elements);

}  // namespace flashstep::gpu
