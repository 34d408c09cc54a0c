// The arithmetic of lanes for x86-64 with AVX2 and FMA; the build compiles this file for such a processor.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gpu/ptx/lanes.h"
#include "gpu/ptx/warp.h"

namespace flashstep::gpu::ptx::avx2 {
#include "gpu/ptx/lanes.inl"

bool supported() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}
}  // namespace flashstep::gpu::ptx::avx2
