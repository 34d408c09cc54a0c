// Launches on devices by registry id. Plain C++ on its outside.
#pragma once

#include <string_view>

namespace flashstep::gpu {
struct AttentionShape;
struct Probe;
}  // namespace flashstep::gpu

namespace flashstep::gpu::cuda {

class Machine;

// With the kernel's probe or (null) without. Throws Error for an unknown id.
void launch_kernel(std::string_view kernel, Machine& machine, const AttentionShape& shape, const Probe* probe);

}  // namespace flashstep::gpu::cuda
