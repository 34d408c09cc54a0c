// What a rung says of itself, and what holds unless it says otherwise. Read by nvcc too.
//
// A rung is a struct at the end of its file in gpu/kernels/, derived from its family here. With what it inherits it has
//   id, title, algorithm, dtypes, targets         who it is; the other words of gpu/registry.h as they are named there
//   tensors(p), slots, launches                   what it reads, writes and hands out, in how many launches
//   shared_bytes(p), blocks(p)                    of its largest block, of its largest grid
//   bytes(p)                                      HBM bytes by tensor: the closed form that its header states
//   as_tiled(p)                                   the shape in its own tiles
//   launch(machine, p, tracer)                    the same for the executor and for a device
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/tensor_bytes.h"
#include "core/text.h"
#include "gpu/attention_shape.h"
#include "gpu/target.h"
#include "gpu/tensor_spec.h"

namespace flashstep::gpu {

struct AnyRung {
    static constexpr std::array<int, 0> head_dims{};
    static constexpr std::array<std::string_view, 0> order_dependent{};
    static constexpr bool bytes_equal_mirror = true, takes_mask = true, overflows = false, base2 = false;
    static constexpr int most_head_dim = 0, br = 0, bc = 0;
    static constexpr std::array<SlotSpec, 0> slots{};
    static constexpr int launches = 1;
    static AttentionShape as_tiled(const AttentionShape& p) { return p; }
    static std::int64_t shared_bytes(const AttentionShape&) { return 0; }
};

// Launches a rung on a machine (simt::Executor, cuda::Machine) with its probe, or (null) with none. Each rung's own
// translation unit instantiates it: gpu/launch_rung.h.
template <class Rung, class Machine>
void launch_rung(Machine& machine, const AttentionShape& p, const Probe* probe);

// ---- Parts that several families share.

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

using BytesByTensor = std::map<std::string, TensorBytes>;
void add_mask_bytes(BytesByTensor& bytes, const AttentionShape& p, std::int64_t elements);

}  // namespace flashstep::gpu
