// What this machine has for the CUDA back end. Plain C++: read by nvcc too.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"

namespace flashstep::gpu {

// A call of CUDA that failed for another reason than memory: what is measured after it cannot be believed.
struct DeviceFailure : Error {
    using Error::Error;
};

struct DeviceStatus {
    bool built = false;             // this build has the CUDA back end
    bool available = false;         // and a device can run it
    std::string name = {};          // "NVIDIA ..." or empty
    Sentence message = {};          // why not, in one line; or driver and runtime versions
    int capability = 0;             // the device's compute capability, 75 for 7.5; 0: no device
    int code = 0;                   // the architecture whose code of this build the device runs; 0: none
    std::string driver = {};        // the CUDA version that the driver is for, "13.0"; empty: no driver
    std::string runtime = {};       // the CUDA version of this build; empty: no CUDA in it
    std::int64_t memory_bytes = 0;  // of the device
};

}  // namespace flashstep::gpu
