// The words that kernels are written in, and the only header that knows which compiler reads it. nvcc gets CUDA's own
// meaning, with raw pointers; the host compiler gets the executor's, where every access is counted and checked.
//
// clang-format off
//   thread_idx() block_idx() block_dim()             indices and sizes, .x .y .z
//   sync_block() sync_warp()                         barriers; both order memory in their scope
//   shuffle_xor(v, mask)                             exchange in a warp; it orders nothing
//   atomic_add(view, index, v)                       returns the old value
//   Global<T> Shared<T>                              views: v[i] loads, v[i] = x stores
//   slice(view, first, count)                        the part of a view that one head or block may touch
//   shared_memory().take<T>("name", count)           carves the block's dynamic shared memory, in order
//   exp_diff(a, b) log_of(x) max_of(a, b)            fp32 arithmetic; minus_infinity()
//   exp2_of(x)                                       a power of two, one instruction on a device
//
// 16-bit elements T, Half or BFloat (gpu/half.h):
//   to_half(x) to_bfloat(x) to_element<T>(x)         rounded to nearest, ties to even
//   to_float(h)                                      exact
//   pack(lo, hi) pack_floats<T>(lo, hi)              two in a register, the lower half first
//   lower_of<T>(pair) upper_of<T>(pair)              one of them
//   load_16(view, index) store_16(view, index, v)    16 bytes at once, aligned to them
//   load_pair(view, index) store_pair(view, index, v)    two 16-bit elements at once
//
// Asynchronous copies to shared memory, sm_80 and later:
//   cp_async_16(to, index, from, index, bytes)       16 bytes (cp_async_8, cp_async_4), aligned to them: the first
//                                                    `bytes` are read, the rest is zero
//   cp_async_commit()                                closes this thread's group
//   cp_async_wait<n>()                               waits for all but its n newest groups; other threads see the
//                                                    bytes after a barrier
//
// Tensor cores; all 32 lanes of a warp take part:
//   ldmatrix_x1|x2|x4[_trans](registers, view, row)  8x8 matrices; lane 8k + r gives the element where row r of
//                                                    matrix k starts (on sm_75 the other lanes a valid one too)
//   mma_m16n8k16<T>(d, a, b, c) mma_m16n8k8<T>(...)  D = A B + C in fp32; BFloat from sm_80
// clang-format on
// gpu/simt/tensor.h says which lane holds what.
//
// Inline PTX is here and nowhere else; the host's halves are in gpu/simt/words.h and gpu/simt/tensor_words.h.
#pragma once

#include <cstdint>

#include "gpu/half.h"
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

FS_DEVICE void sync_block() { __syncthreads(); }
FS_DEVICE void sync_warp() { __syncwarp(); }

template <class T>
FS_DEVICE T shuffle_xor(T value, int mask) {
    return __shfl_xor_sync(0xffffffffu, value, mask);
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
FS_DEVICE float exp2_of(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

// ---- 16-bit elements

FS_DEVICE Half to_half(float x) {
    Half h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(x));
    return h;
}
FS_DEVICE BFloat to_bfloat(float x) {
    BFloat b;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b.bits) : "f"(x));
#else
    const unsigned u = __float_as_uint(x);
    b.bits = x == x ? static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16) : std::uint16_t{0x7fff};
#endif
    return b;
}
FS_DEVICE float to_float(Half x) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
    return value;
}
FS_DEVICE float to_float(BFloat x) { return __uint_as_float(unsigned{x.bits} << 16); }
template <Element16 T>
FS_DEVICE T to_element(float x) {
    if constexpr (std::is_same_v<T, Half>) {
        return to_half(x);
    } else {
        return to_bfloat(x);
    }
}
template <Element16 T>
FS_DEVICE std::uint32_t pack(T lower, T upper) {
    return lower.bits | unsigned{upper.bits} << 16;
}
template <Element16 T>
FS_DEVICE std::uint32_t pack_floats(float lower, float upper) {
#if __CUDA_ARCH__ >= 800
    std::uint32_t pair;
    if constexpr (std::is_same_v<T, Half>) {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(upper), "f"(lower));
    } else {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(upper), "f"(lower));
    }
    return pair;
#else
    return pack(to_element<T>(lower), to_element<T>(upper));
#endif
}
template <Element16 T>
FS_DEVICE T lower_of(std::uint32_t pair) {
    return {static_cast<std::uint16_t>(pair)};
}
template <Element16 T>
FS_DEVICE T upper_of(std::uint32_t pair) {
    return {static_cast<std::uint16_t>(pair >> 16)};
}

// ---- several elements at once: as the machine's vectors, so that one instruction moves them

template <class T>
FS_DEVICE auto load_16(T* view, std::int64_t index) {
    const uint4 vector = *reinterpret_cast<const uint4*>(view + index);
    return __builtin_bit_cast(Packet<std::remove_const_t<T>, 16>, vector);
}
template <class T>
FS_DEVICE void store_16(T* view, std::int64_t index, const Packet<T, 16>& packet) {
    *reinterpret_cast<uint4*>(view + index) = __builtin_bit_cast(uint4, packet);
}
template <class T>
FS_DEVICE std::uint32_t load_pair(T* view, std::int64_t index) {
    static_assert(Element16<std::remove_const_t<T>>);
    return *reinterpret_cast<const std::uint32_t*>(view + index);
}
template <Element16 T>
FS_DEVICE void store_pair(T* view, std::int64_t index, std::uint32_t pair) {
    *reinterpret_cast<std::uint32_t*>(view + index) = pair;
}

// ---- asynchronous copies. The registry keeps kernels that need them from older targets, where they are a trap.

template <class T>
FS_DEVICE unsigned shared_address(const T* view, std::int64_t index) {
    const auto offset =
        static_cast<unsigned>(index) * static_cast<unsigned>(sizeof(T));  // shared addresses have 32 bits
    return static_cast<unsigned>(__cvta_generic_to_shared(view)) + offset;
}
template <int bytes>
FS_DEVICE void cp_async([[maybe_unused]] unsigned to, [[maybe_unused]] const void* from,
                        [[maybe_unused]] int source_bytes) {
#if __CUDA_ARCH__ >= 800
    const std::size_t source = __cvta_generic_to_global(from);
    if constexpr (bytes == 16) {  // past L1: nobody reads it there
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(source), "r"(source_bytes)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(source), "n"(bytes),
                     "r"(source_bytes)
                     : "memory");
    }
#else
    __trap();
#endif
}
template <class T>
FS_DEVICE void cp_async_16(T* to, std::int64_t to_index, const T* from, std::int64_t from_index,
                           int source_bytes = 16) {
    cp_async<16>(shared_address(to, to_index), from + from_index, source_bytes);
}
template <class T>
FS_DEVICE void cp_async_8(T* to, std::int64_t to_index, const T* from, std::int64_t from_index, int source_bytes = 8) {
    cp_async<8>(shared_address(to, to_index), from + from_index, source_bytes);
}
template <class T>
FS_DEVICE void cp_async_4(T* to, std::int64_t to_index, const T* from, std::int64_t from_index, int source_bytes = 4) {
    cp_async<4>(shared_address(to, to_index), from + from_index, source_bytes);
}
FS_DEVICE void cp_async_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#else
    __trap();
#endif
}
template <int pending>
FS_DEVICE void cp_async_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#else
    __trap();
#endif
}

// ---- tensor cores

template <Element16 T>
FS_DEVICE void mma_m16n8k8(float (&d)[4], const std::uint32_t (&a)[2], const std::uint32_t (&b)[1],
                           const float (&c)[4]) {
    if constexpr (std::is_same_v<T, Half>) {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
                     : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    } else {
#if __CUDA_ARCH__ >= 800
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
                     : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#else
        __trap();                                // sm_75 multiplies fp16 only; targets of bf16 kernels start at 80
#endif
    }
}
template <Element16 T>
FS_DEVICE void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                            const float (&c)[4]) {
#if __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, Half>) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
            : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
              "f"(c[3]));
    } else {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
            : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
              "f"(c[3]));
    }
#else
    mma_m16n8k8<T>(d, {a[0], a[1]}, {b[0]}, c);  // sm_75: the fragments of the halves of k line up
    mma_m16n8k8<T>(d, {a[2], a[3]}, {b[1]}, d);
#endif
}

template <Element16 T>
FS_DEVICE void ldmatrix_x1(std::uint32_t (&r)[1], const T* view, std::int64_t row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(shared_address(view, row))
                 : "memory");
}
template <Element16 T>
FS_DEVICE void ldmatrix_x2(std::uint32_t (&r)[2], const T* view, std::int64_t row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(view, row))
                 : "memory");
}
template <Element16 T>
FS_DEVICE void ldmatrix_x4(std::uint32_t (&r)[4], const T* view, std::int64_t row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(view, row))
                 : "memory");
}
template <Element16 T>
FS_DEVICE void ldmatrix_x1_trans(std::uint32_t (&r)[1], const T* view, std::int64_t row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(shared_address(view, row))
                 : "memory");
}
template <Element16 T>
FS_DEVICE void ldmatrix_x2_trans(std::uint32_t (&r)[2], const T* view, std::int64_t row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(view, row))
                 : "memory");
}
template <Element16 T>
FS_DEVICE void ldmatrix_x4_trans(std::uint32_t (&r)[4], const T* view, std::int64_t row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(view, row))
                 : "memory");
}

}  // namespace on_device
}  // namespace flashstep::gpu

#else

#define FS_KERNEL inline
#define FS_DEVICE inline
#define FS_HOST_DEVICE inline

#include "gpu/simt/tensor_words.h"

#endif

namespace flashstep::gpu {

// x, of which the compiler knows nothing: what is computed from it is computed where it stands, and not once before a
// loop to be kept in registers through it.
FS_DEVICE int opaque(int x) {
#ifdef __CUDACC__
    asm volatile("" : "+r"(x));
#endif
    return x;
}

// Bytes that take<T>("...", count) uses: each view starts at a multiple of 16 bytes.
constexpr std::int64_t shared_view_bytes(std::int64_t count, std::int64_t element_bytes) {
    return (count * element_bytes + 15) / 16 * 16;
}

}  // namespace flashstep::gpu
