// The checks behind the views and the words that move several elements at once. Each throws Error naming the view, the
// index and what is wrong; they are taken with checks on only.
#pragma once

#include "gpu/simt/block.h"
#include "gpu/simt/tensor.h"

namespace flashstep::gpu::simt {

// Elements of a view of global memory that one word moves together.
struct GlobalRun {
    std::byte* data;
    Tensor* tensor;
    std::int64_t index;       // of the first in the view,
    std::int64_t view_count;  // the view's elements,
    std::int64_t view_first;  // and where the view starts in the tensor
    int element_bytes, bytes;
};

// One element, read, written or added to by the current lane.
void check_shared(Block& block, const char* view, std::int64_t index, std::int64_t count, std::uint32_t offset,
                  int bytes, Access access);
void check_global(Tensor& tensor, std::int64_t index, std::int64_t first, std::int64_t count, Access access);

// A run of elements, moved by the current lane in one instruction. Also its alignment: a multiple of the run's bytes.
void check_shared_run(const SharedRun& run, Access access);
void check_global_run(const GlobalRun& run, Access access);

// Both ends of an asynchronous copy that the current lane issues: it writes `to`, and reads the first `source_bytes` of
// `from`.
void check_async(const SharedRun& to, const GlobalRun& from, int source_bytes);

// The same for whoever knows bytes instead of views, and has looked at bounds and alignment: `bytes` bytes of shared
// memory from `place` on, or of a tensor from byte `first` on.
void check_shared_bytes(const Lane& lane, std::uint32_t place, int bytes, Access access);
void check_global_bytes(const Lane& lane, Tensor& tensor, std::int64_t first, int bytes, Access access);
// Shared memory that the whole warp of the lane reads at once.
void check_shared_bytes_of_warp(const Lane& lane, std::uint32_t place, int bytes);
[[noreturn]] void fail_bounds(const Lane& lane, std::string_view space, std::string_view name, Access access,
                              std::int64_t index, std::int64_t count);
[[noreturn]] void fail_alignment(const Lane& lane, std::string_view space, std::string_view name, Access access,
                                 std::int64_t index, int bytes, std::int64_t place);

// A row of a matrix load: bounds and alignment; and that the whole warp may read it.
void check_place(const Lane& lane, const SharedRun& run, Access access);
void check_warp_read(const Lane& lane, const SharedRun& run);

}  // namespace flashstep::gpu::simt
