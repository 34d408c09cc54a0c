// The words that kernels are written in, and the only header that knows which compiler reads it. nvcc gets CUDA's own
// meaning, with raw pointers; the host compiler gets the executor's, where every access is counted and checked.
//
//   thread_idx() block_idx() block_dim() grid_dim()   indices and sizes, .x .y .z
//   sync_block() sync_warp()                          barriers; both order memory in their scope
//   shuffle_xor(v, mask) shuffle_down(v, delta)       exchange in a warp; they order nothing
//   atomic_add(view, index, v)                        returns the old value
//   Global<T> Shared<T>                               views: v[i] loads, v[i] = x stores
//   slice(view, first, count)                         the part of a view that one head or block may touch
//   shared_memory().take<T>("name", count)            carves the block's dynamic shared memory, in order
//   exp_diff(a, b) log_of(x) max_of(a, b)             fp32 arithmetic
//
// Asynchronous copies and tensor-core instructions belong here too, as words with a device half (the only place for
// inline PTX) and a host half in gpu/simt/words.h.
#pragma once

#include <cstdint>

#include "gpu/launch.h"

#ifdef __CUDACC__

#define FS_KERNEL __global__
#define FS_DEVICE __device__ __forceinline__
#define FS_HOST_DEVICE __host__ __device__ inline

namespace flashstep::gpu {
inline namespace on_device {  // its own name, because the same library holds the host's meaning of these words

template <class T>
using Global = T*;
template <class T>
using Shared = T*;

FS_DEVICE Index3 thread_idx() { return {int(threadIdx.x), int(threadIdx.y), int(threadIdx.z)}; }
FS_DEVICE Index3 block_idx() { return {int(blockIdx.x), int(blockIdx.y), int(blockIdx.z)}; }
FS_DEVICE Index3 block_dim() { return {int(blockDim.x), int(blockDim.y), int(blockDim.z)}; }
FS_DEVICE Index3 grid_dim() { return {int(gridDim.x), int(gridDim.y), int(gridDim.z)}; }

FS_DEVICE void sync_block() { __syncthreads(); }
FS_DEVICE void sync_warp() { __syncwarp(); }

template <class T>
FS_DEVICE T shuffle_xor(T value, int mask) {
    return __shfl_xor_sync(0xffffffffu, value, mask);
}
template <class T>
FS_DEVICE T shuffle_down(T value, int delta) {
    return __shfl_down_sync(0xffffffffu, value, delta);
}
template <class T>
FS_DEVICE T atomic_add(T* view, std::int64_t index, T value) {
    return atomicAdd(view + index, value);
}
template <class T>
FS_DEVICE T* slice(T* view, std::int64_t first, std::int64_t) {
    return view + first;
}

struct SharedArena {
    unsigned char* next;
    template <class T>
    FS_DEVICE T* take(const char*, std::int64_t count) {
        T* view = reinterpret_cast<T*>(next);
        next += (count * std::int64_t{sizeof(T)} + 15) / 16 * 16;
        return view;
    }
};
FS_DEVICE SharedArena shared_memory() {
    extern __shared__ __align__(16) unsigned char flashstep_shared[];
    return {flashstep_shared};
}

FS_DEVICE float max_of(float a, float b) { return fmaxf(a, b); }
FS_DEVICE float log_of(float x) { return logf(x); }
FS_DEVICE float minus_infinity() { return __int_as_float(0xff800000); }
// e^(a - b), and 0 where both are -inf: a row that has seen no key yet.
FS_DEVICE float exp_diff(float a, float b) {
    return a == minus_infinity() && b == minus_infinity() ? 0.0f : expf(a - b);
}

}  // namespace on_device
}  // namespace flashstep::gpu

#else

#define FS_KERNEL inline
#define FS_DEVICE inline
#define FS_HOST_DEVICE inline

#include "gpu/simt/words.h"

#endif

namespace flashstep::gpu {

// Bytes that take<T>("...", count) uses: each view starts at a multiple of 16 bytes.
constexpr std::int64_t shared_view_bytes(std::int64_t count, std::int64_t element_bytes) {
    return (count * element_bytes + 15) / 16 * 16;
}

}  // namespace flashstep::gpu
