// A CUDA runtime on host memory, for tests of the host code: devices that are not there, and calls that fail when told.
// It runs no kernel: a launch stands for one by writing zeros into everything on the device. A program that links it
// gets its functions in place of the runtime's, because an object's definitions go before a library's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace flashstep::testing {

struct FakeCuda {
    // What the machine has.
    int driver = CUDART_VERSION;  // 0: none
    int devices = 1;
    std::string name = "FAKE, not a device";
    int major = 8, minor = 0;
    std::size_t memory = std::size_t{64} << 20;
    int shared_opt_in = 163 * 1024;
    bool has_code = true;  // false: this build's code is none for the device

    // What goes wrong. The fail_at-th call from now gives `error`, once; 0: none. Calls that only look at errors, and
    // those that register code when the program starts, are no calls here.
    int fail_at = 0;
    cudaError_t error = cudaErrorUnknown;
    // A kernel ends in this error: the next call that waits for it, and every one after that, gives it.
    cudaError_t kernel_error = cudaSuccess;

    // What happened.
    std::vector<std::string> calls;
    std::string failed;  // which call the failure went to; empty: none yet
    std::vector<const void*> launched;
    std::size_t most_bytes = 0;  // on the device at one time
    std::size_t live_bytes() const;

    // The runtime's own state.
    cudaError_t last = cudaSuccess, running = cudaSuccess, sticky = cudaSuccess;
    std::map<std::byte*, std::size_t> buffers;
    std::map<const void*, int> shared_limit;  // of kernels, after cudaFuncSetAttribute
    std::set<const void*> events;
    std::set<const void*> kernels;  // registered when the program starts
};

// The runtime in this process; a C interface leaves no other place for it.
FakeCuda& fake_cuda();

// A new process: as at the start, with nothing allocated.
void restart_fake_cuda();

}  // namespace flashstep::testing
