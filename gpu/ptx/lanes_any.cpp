// The arithmetic of lanes for any processor.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gpu/ptx/lanes.h"
#include "gpu/ptx/warp.h"

namespace flashstep::gpu::ptx::any_processor {
#include "gpu/ptx/lanes.inl"
}
