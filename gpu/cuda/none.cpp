// Stands in for the CUDA back end in a build without a CUDA toolkit.
#include "core/error.h"
#include "gpu/cuda/backend.h"

namespace flashstep::gpu::cuda {

DeviceStatus status() {
    return {.built = false,
            .available = false,
            .name = {},
            .message = "this build has no CUDA back end (no CUDA toolkit was found when it was configured)"};
}

std::string run(std::string_view, const AttentionShape&, Buffers&) { throw Error(status().message); }

}  // namespace flashstep::gpu::cuda
