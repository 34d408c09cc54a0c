// How a kernel is launched: grid, block, dynamic shared memory. Plain C++, read by nvcc too.
#pragma once

#include <cstdint>
#include <string_view>

#include "gpu/target.h"

namespace flashstep::gpu {

// Indices and sizes as CUDA counts them, but signed.
struct Index3 {
    int x = 0, y = 0, z = 0;
};

// Dynamic shared memory over 48 KiB has to be asked for (cudaFuncSetAttribute); a launch says whether it does.
enum class SharedLimit { Default, OptIn };

struct Launch {
    std::string_view name;  // of the kernel function
    Index3 grid{1, 1, 1};   // in blocks
    Index3 block{1, 1, 1};  // in threads
    std::int64_t shared_bytes = 0;
    SharedLimit limit = SharedLimit::Default;
    int columns = 0;  // that the kernel function is made for, a template argument; 0: any
};

constexpr std::int64_t kDefaultSharedBytes = 48 * 1024;

// Largest dynamic shared memory of a block after opting in, in bytes. Throws Error for an unknown target.
std::int64_t opt_in_shared_bytes(Target target);

// Throws Error with both numbers if the grid, the block or the shared memory is over what CUDA (and a target with
// `opt_in_bytes` of shared memory) allows. `where` names the target or the device in the message.
void check_launch(const Launch& launch, std::int64_t opt_in_bytes, std::string_view where);

}  // namespace flashstep::gpu
