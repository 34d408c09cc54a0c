// CUDA errors as flashstep::Error, and device memory that is freed on every path.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "gpu/device_status.h"

namespace flashstep::gpu::cuda {

// What to do about an error; never empty.
inline std::string hint_for(cudaError_t code) {
    switch (code) {
        case cudaErrorMemoryAllocation:
            return "the device is out of memory: try a smaller problem, or without capture";
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorInvalidDeviceFunction:
            return "this build has no code for this device: configure with its architecture in "
                   "CMAKE_CUDA_ARCHITECTURES";
        case cudaErrorInsufficientDriver:
            return "the driver is missing or older than the CUDA toolkit of this build";
        case cudaErrorUnsupportedPtxVersion:
            return "the driver is older than the CUDA toolkit of this build, and compiles none of its PTX";
        case cudaErrorNoDevice:
            return "no device is visible: where CUDA_VISIBLE_DEVICES is set, it hides the others";
        case cudaErrorDevicesUnavailable:
            return "another process has the device for itself, or its mode prohibits computing: nvidia-smi shows both";
        case cudaErrorSystemNotReady:
        case cudaErrorSystemDriverMismatch:
            return "the driver or its services are not ready: was it updated without a restart?";
        case cudaErrorInvalidConfiguration:
        case cudaErrorLaunchOutOfResources:
            return "the block asks for more threads, registers or shared memory than there are";
        case cudaErrorIllegalAddress:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
            return "run the same kernel on the host: the executor names the access. CUDA works again once the program "
                   "is started anew";
        case cudaErrorIllegalInstruction:
        case cudaErrorLaunchFailure:
            return "the kernel trapped, or met an instruction that this device lacks. CUDA works again once the "
                   "program is started anew";
        case cudaErrorLaunchTimeout:
            return "the display's watchdog ended the kernel: try a smaller problem. CUDA works again once the program "
                   "is started anew";
        default:
            return "run the same kernel on the host to see whether it or the device is at fault; flashstep device "
                   "says what CUDA finds here";
    }
}

// `about`: what the call was for, with numbers.
inline void check(cudaError_t code, const char* call, const char* file, int line, const std::string& about = {}) {
    if (code == cudaSuccess) return;
    cudaGetLastError();  // leaves no error behind for the next call
    const std::string path = file;
    const std::string message = path.substr(path.rfind('/') + 1) + ":" + std::to_string(line) + ": " + call + ": " +
                                cudaGetErrorName(code) + " (" + cudaGetErrorString(code) + ")" +
                                (about.empty() ? "" : ": " + about);
    if (code == cudaErrorMemoryAllocation) throw Error(message, hint_for(code));
    throw DeviceFailure(message, hint_for(code));
}

// For what gives something back, in destructors: whoever made the thing has the answer already or another error on its
// way, so this one is dropped, and is not left behind for the next call.
inline void release(cudaError_t code) {
    if (code != cudaSuccess) cudaGetLastError();
}

// Bytes in device memory.
class DeviceBuffer {
  public:
    explicit DeviceBuffer(std::int64_t bytes, std::string_view what = "this buffer");
    ~DeviceBuffer() { release(cudaFree(data_)); }
    DeviceBuffer(DeviceBuffer&& other) noexcept : data_(other.data_), bytes_(other.bytes_) { other.data_ = nullptr; }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(DeviceBuffer&&) = delete;

    void* data() const { return data_; }
    std::size_t bytes() const { return static_cast<std::size_t>(bytes_); }
    void upload(const void* values);
    void download(void* values) const;

  private:
    void* data_ = nullptr;
    std::int64_t bytes_;
};

// "K takes 8192 bytes; 1024 of 4096 on the device are free".
inline std::string room_for(std::string_view what, std::size_t bytes) {
    std::string text = std::string(what) + " takes " + std::to_string(bytes) + " bytes";
    std::size_t free = 0, total = 0;
    if (const cudaError_t code = cudaMemGetInfo(&free, &total); code != cudaSuccess) {
        cudaGetLastError();
        return text;
    }
    return text + "; " + std::to_string(free) + " of " + std::to_string(total) + " on the device are free";
}

}  // namespace flashstep::gpu::cuda

#define CUDA_CHECK(call) ::flashstep::gpu::cuda::check((call), #call, __FILE__, __LINE__)

namespace flashstep::gpu::cuda {

inline DeviceBuffer::DeviceBuffer(std::int64_t bytes, std::string_view what) : bytes_(bytes) {
    const std::size_t size = static_cast<std::size_t>(bytes > 0 ? bytes : 1);
    const cudaError_t code = cudaMalloc(&data_, size);
    const std::string about = code == cudaErrorMemoryAllocation ? room_for(what, size) : std::string();
    check(code, "cudaMalloc(&data_, size)", __FILE__, __LINE__, about);
}
inline void DeviceBuffer::upload(const void* values) {
    CUDA_CHECK(cudaMemcpy(data_, values, bytes(), cudaMemcpyHostToDevice));
}
inline void DeviceBuffer::download(void* values) const {
    CUDA_CHECK(cudaMemcpy(values, data_, bytes(), cudaMemcpyDeviceToHost));
}

}  // namespace flashstep::gpu::cuda
