// CUDA errors as flashstep::Error, and device memory that is freed on every path.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "core/error.h"

namespace flashstep::gpu::cuda {

// What to do about the errors that people meet.
inline std::string hint_for(cudaError_t code) {
    switch (code) {
        case cudaErrorMemoryAllocation:
            return "the device is out of memory: try a smaller problem, or without capture";
        case cudaErrorNoKernelImageForDevice:
            return "this build has no code for this device: configure with its architecture in "
                   "CMAKE_CUDA_ARCHITECTURES";
        case cudaErrorInsufficientDriver:
            return "the driver is missing or older than the CUDA toolkit of this build";
        case cudaErrorInvalidConfiguration:
        case cudaErrorLaunchOutOfResources:
            return "the block asks for more threads, registers or shared memory than there are";
        case cudaErrorIllegalAddress:
        case cudaErrorMisalignedAddress:
            return "run the same kernel on the host: the executor names the access";
        case cudaErrorLaunchTimeout:
            return "the display's watchdog ended the kernel: try a smaller problem";
        default:
            return {};
    }
}

inline void check(cudaError_t code, const char* call, const char* file, int line) {
    if (code == cudaSuccess) return;
    cudaGetLastError();  // leaves no error behind for the next call
    const std::string path = file;
    throw Error(path.substr(path.rfind('/') + 1) + ":" + std::to_string(line) + ": " + call + ": " +
                    cudaGetErrorName(code) + " (" + cudaGetErrorString(code) + ")",
                hint_for(code));
}

// Bytes in device memory.
class DeviceBuffer {
  public:
    explicit DeviceBuffer(std::int64_t bytes);
    ~DeviceBuffer() { cudaFree(data_); }
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

}  // namespace flashstep::gpu::cuda

#define CUDA_CHECK(call) ::flashstep::gpu::cuda::check((call), #call, __FILE__, __LINE__)

namespace flashstep::gpu::cuda {

inline DeviceBuffer::DeviceBuffer(std::int64_t bytes) : bytes_(bytes) {
    CUDA_CHECK(cudaMalloc(&data_, static_cast<std::size_t>(bytes > 0 ? bytes : 1)));
}
inline void DeviceBuffer::upload(const void* values) {
    CUDA_CHECK(cudaMemcpy(data_, values, bytes(), cudaMemcpyHostToDevice));
}
inline void DeviceBuffer::download(void* values) const {
    CUDA_CHECK(cudaMemcpy(values, data_, bytes(), cudaMemcpyDeviceToHost));
}

}  // namespace flashstep::gpu::cuda
