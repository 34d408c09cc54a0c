// Stands in for the CUDA back end in a build without a CUDA toolkit.
#include "core/error.h"
#include "gpu/cuda/backend.h"
#include "gpu/cuda/bench.h"

namespace flashstep::gpu::cuda {

DeviceStatus status() {
    DeviceStatus none;
    none.message = {"this build has no CUDA back end (configured without a CUDA toolkit, or with FLASHSTEP_CUDA=OFF)",
                    "这个构建不含 CUDA 后端（配置时没有 CUDA 工具包，或设置了 FLASHSTEP_CUDA=OFF）"};
    return none;
}

std::string run(std::string_view, const AttentionShape&, Buffers&) { throw Error(status().message); }

std::unique_ptr<BenchRun> prepare_bench(std::string_view, const AttentionShape&, const std::vector<BenchTensor>&) {
    throw Error(status().message);
}

}  // namespace flashstep::gpu::cuda
