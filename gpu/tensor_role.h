// What a kernel does with a tensor in HBM. Plain C++, read by nvcc too.
#pragma once

namespace flashstep::gpu {

enum class TensorRole {
    Input,      // filled by the host, only read
    Output,     // poisoned; every element has to be written by the end of the run
    Temporary,  // poisoned; lives between launches
    Capture,    // a probe's buffer, of no kernel's list: the host fills it first, and its bounds alone are checked
};

}  // namespace flashstep::gpu
