// Runs a kernel on the CPU (SIMT executor) or on a CUDA device. Plain C++: no CUDA header here.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/kernel_run.h"
#include "core/problem.h"
#include "gpu/checks.h"
#include "gpu/device_status.h"
#include "gpu/registry.h"

namespace flashstep {
struct Trace;
}

namespace flashstep::gpu {

namespace ptx {
struct Module;
}

enum class Capture { Off, On };

struct RunOptions {
    Where where = Where::Host;               // Host, Ptx or LiveCuda
    std::shared_ptr<const ptx::Module> ptx;  // what Ptx runs: the kernel's entries for some target
    Checks checks = Checks::On;              // the executor's race, bounds, poison and divergence checks (host only)
    Capture capture = Capture::On;           // off: outputs O (and L) only, with the probe-free kernel
    std::uint64_t seed = 1;                  // shuffles the order of blocks and fibres (host only)
    Target target = 90;                      // the architecture whose shared-memory limit the host executor applies
    std::atomic<bool>* cancel = nullptr;     // set to true from another thread: the run stops with Error("cancelled")
    std::atomic<float>* progress = nullptr;  // fraction of the thread blocks done, 0 to 1
    int without_line = 0;  // of the kernel's own source, whose barrier or wait does nothing (host only)
    const StartingValues* start = nullptr;  // what the mirror started from, where it was recorded already
};

// Throws flashstep::Error: a problem that the kernel cannot run (what it can is in the message), a failed check of the
// executor (kernel, block, thread, what), no device, a CUDA error (file, line, name, hint).
KernelRun run_kernel(const KernelInfo& kernel, const Problem& problem, const Inputs& inputs, const RunOptions& options);

// The architectures that the kernel is there for in a number format.
std::vector<Target> targets_of(const KernelInfo& kernel, DType dtype);
// Throws Error listing them, if none of them serves `target`.
void check_target(const KernelInfo& kernel, DType dtype, Target target);

// Throws Error listing what the kernel can run, if it cannot run this problem (dtype, head dims, masks, sizes).
void check_runnable(const KernelInfo& kernel, const Problem& problem);

// Dynamic shared memory of a thread block of the kernel, in bytes; the most that any of its launches takes.
std::int64_t shared_bytes(const KernelInfo& kernel, const Problem& problem);

// HBM bytes by tensor that the kernel's own closed form gives (its header states it), for the whole batch.
std::map<std::string, TensorBytes> own_bytes(const KernelInfo& kernel, const Problem& problem);
// What its run has to have moved, to be compared with: the mirror's bytes or its own. nvcc leaves out a load whose
// value nothing depends on, as in a row of the softmax that sees no key, so that of PTX reads are a most.
std::map<std::string, TensorBytes> expected_bytes(const KernelInfo& kernel, const Problem& problem, const Trace& mirror,
                                                  const KernelRun& run);

// Never throws: what is missing is in the message.
DeviceStatus device_status();
// Throws Error naming kernel, number format, device and targets, if the device is none, or none of the kernel's
// targets, or runs only such code of this build as was made for another target.
void check_device(const KernelInfo& kernel, DType dtype, const DeviceStatus& device);

}  // namespace flashstep::gpu
