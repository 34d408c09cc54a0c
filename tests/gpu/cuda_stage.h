// Runs of kernels on the runtime of fake_cudart.h, and what must hold after each of them.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "gpu/cuda/device.h"
#include "gpu/run.h"
#include "gpu/rungs.h"
#include "tests/gpu/fake_cudart.h"

namespace flashstep::gpu {

using testing::fake_cuda;
using testing::restart_fake_cuda;

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

inline std::string text_of(const Error& error) {
    return error.hint().empty() ? error.what() : fmt::format("{}; {}", error.what(), error.hint());
}

inline Problem problem_for(const KernelInfo& kernel, DType dtype) {
    Problem p;
    p.n = p.nk = kernel.br > 0 ? 70 : 5;
    p.d = p.dv = kernel.br > 0 ? 128 : 4;
    p.br = kernel.br > 0 ? kernel.br : 2;
    p.bc = kernel.br > 0 ? kernel.bc : 2;
    p.heads = p.kv_heads = 2;
    p.scale = 1 / std::sqrt(static_cast<double>(p.d));
    p.dtype = dtype;
    p.base2 = kernel.base2;
    return p;
}
inline Problem problem_for(const KernelInfo& kernel) { return problem_for(kernel, kernel.dtypes.front()); }

inline KernelRun run(const KernelInfo& kernel, const Problem& p, Capture capture = Capture::On) {
    RunOptions options;
    options.where = Where::LiveCuda;
    options.capture = capture;
    return run_kernel(kernel, p, make_inputs(p), options);
}

// What the run says when it fails.
inline std::string failure_of(const KernelInfo& kernel, Capture capture = Capture::On) {
    try {
        run(kernel, problem_for(kernel), capture);
    } catch (const Error& error) { return text_of(error); }
    return {};
}

inline void check_nothing_left() {
    CHECK(fake_cuda().buffers.empty());
    CHECK(fake_cuda().events.empty());
    CHECK(fake_cuda().last == cudaSuccess);
}

// What the device held after the last launch, zeros, is what comes back.
inline void check_good_run(const KernelInfo& kernel, Capture capture = Capture::On) {
    fake_cuda().launched.clear();
    const KernelRun good = run(kernel, problem_for(kernel), capture);
    CHECK(good.device == fake_cuda().name);
    CHECK(static_cast<int>(fake_cuda().launched.size()) == rung(kernel.id).launches);
    CHECK(!good.captured.empty());
    for (const auto& slot : good.captured) CHECK(slot.second.isZero(0));
    check_nothing_left();
}

// A kernel of simple tiles, one that asks for more than 48 KiB of shared memory, and two that are several launches.
inline constexpr std::array<std::string_view, 4> kSome{"fa2_forward_1_tile", "fa2_forward_5_cp_async",
                                                       "fa2_backward_1_two_pass", "fa2_backward_3_mma"};
inline const KernelInfo& kernel_named(std::string_view id) { return *find_kernel(id); }

// Another process, on another device.
inline void become(int capability) {
    restart_fake_cuda();
    fake_cuda().major = capability / 10;
    fake_cuda().minor = capability % 10;
}
// The latest that this build has code for. Without code for sm_80 and later there are no rungs to try.
inline int usual() {
    const int latest = std::ranges::max(cuda::built_architectures());
    if (latest >= 80) return latest;
    MESSAGE("skipped: this build has code for sm_75 alone");
    std::exit(77);
}
inline bool has_code_for(int capability) {
    return cuda::code_for(capability, cuda::built_architectures(), cuda::built_with_ptx()) > 0;
}

}  // namespace flashstep::gpu
