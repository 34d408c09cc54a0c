// Where a kernel runs: on this CPU (the executor), as the host's compiler or as nvcc translated it, on this machine's
// GPU, or not at all but as a recording of a named GPU.
#pragma once

#include <string>
#include <vector>

#include "gpu/registry.h"
#include "gpu/run.h"
#include "viz/shell/app_state.h"

namespace flashstep::viz {

// One that can be chosen, or why it cannot.
struct RunPlace {
    Where where = Where::Host;
    Recording recording = {};
    std::string title;
    std::string note;  // what it means; where it is not available, why not
    bool available = true;
    bool current = false;  // the one that the session's recipe asks for
};

// This CPU, nvcc's PTX on it, the GPU, and each recording of the kernel and problem that are shown, or one row that
// says there is none.
std::vector<RunPlace> run_places(AppState& app);
void choose_place(AppState& app, const RunPlace& place);
// The same kernel, problem and inputs on this CPU.
void choose_this_cpu(AppState& app);

// Asked once: it may load a driver.
const gpu::DeviceStatus& this_device();

// "this CPU (no GPU found)", "live: NVIDIA H200", "recorded on NVIDIA H200, 2026-11-29".
std::string where_it_ran(const Ui& ui, const KernelRun& run);

// The architectures that the kernel is there for in a number format, and why not for older ones: "sm_80 and later
// (cp.async)".
std::string targets_text(const Ui& ui, const gpu::KernelInfo& kernel, DType dtype);

}  // namespace flashstep::viz
