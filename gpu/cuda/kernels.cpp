// The ladder folded into launches on devices. nvcc sees each rung in a translation unit of its own (rung.cu.in), and
// this list of them only by name.
#include "gpu/cuda/kernels.h"

#include "core/error.h"
#include "gpu/ladder.h"

namespace flashstep::gpu::cuda {

void launch_kernel(std::string_view kernel, Machine& machine, const AttentionShape& shape, const Probe* probe) {
    void (*launch)(Machine&, const AttentionShape&, const Probe*) = nullptr;
    Ladder::for_each([&]<class R>() {
        if (R::id == kernel) launch = launch_rung<R, Machine>;
    });
    if (!launch) throw Error("no kernel is named " + std::string(kernel) + " in this build's CUDA back end");
    launch(machine, shape, probe);
}

}  // namespace flashstep::gpu::cuda
