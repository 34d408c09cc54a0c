// The functions of the CUDA runtime that gpu/cuda calls. One that is missing here shows when the test is linked: the
// library's own comes in with all the others, and they are defined twice.
#include "tests/gpu/fake_cudart.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace flashstep::testing {

FakeCuda& fake_cuda() {
    static FakeCuda fake;
    return fake;
}

void restart_fake_cuda() {
    FakeCuda& fake = fake_cuda();
    for (const auto& [buffer, bytes] : fake.buffers) std::free(buffer);
    std::set<const void*> kernels = std::move(fake.kernels);
    fake = {};
    fake.kernels = std::move(kernels);
}

std::size_t FakeCuda::live_bytes() const {
    std::size_t sum = 0;
    for (const auto& [buffer, bytes] : buffers) sum += bytes;
    return sum;
}

namespace {

FakeCuda& fake() { return fake_cuda(); }

cudaError_t gives(cudaError_t error) {
    if (error != cudaSuccess) fake().last = error;
    return error;
}

// What a call gives before it has done anything. `Waits`: it waits for kernels that run.
enum class Waits { No, Yes };
cudaError_t enter(const char* call, Waits waits = Waits::No) {
    FakeCuda& f = fake();
    f.calls.emplace_back(call);
    if (f.fail_at > 0 && --f.fail_at == 0) {
        f.failed = call;
        return gives(f.error);
    }
    const std::string_view name = call;
    if (name == "cudaRuntimeGetVersion" || name == "cudaDriverGetVersion") return cudaSuccess;
    if (f.driver < CUDART_VERSION / 1000 * 1000) return gives(cudaErrorInsufficientDriver);
    if (f.devices == 0) return gives(cudaErrorNoDevice);
    if (waits == Waits::Yes && f.running != cudaSuccess) f.sticky = f.running;
    return gives(f.sticky);
}

// A buffer's bytes from `data` on; 0: not on the device.
std::size_t room_at(const void* data) {
    const auto* at = static_cast<const std::byte*>(data);
    for (const auto& [buffer, bytes] : fake().buffers) {
        if (at >= buffer && at < buffer + bytes) return bytes - static_cast<std::size_t>(at - buffer);
    }
    return 0;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (to_device && room_at(to) < bytes) return gives(cudaErrorInvalidValue);
    if (from_device && room_at(from) < bytes) return gives(cudaErrorInvalidValue);
    if (bytes > 0) std::memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t fill(void* data, int value, std::size_t bytes) {
    if (room_at(data) < bytes) return gives(cudaErrorInvalidValue);
    if (bytes > 0) std::memset(data, value, bytes);
    return cudaSuccess;
}

cudaError_t launch(const void* kernel, dim3 grid, dim3 block, std::size_t shared) {
    FakeCuda& f = fake();
    if (!f.kernels.contains(kernel)) return gives(cudaErrorInvalidDeviceFunction);
    if (!f.has_code) return gives(cudaErrorNoKernelImageForDevice);
    const auto limit = f.shared_limit.find(kernel);
    if (shared > static_cast<std::size_t>(limit == f.shared_limit.end() ? 48 * 1024 : limit->second)) {
        return gives(cudaErrorInvalidValue);
    }
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x * block.y * block.z == 0 ||
        block.x * block.y * block.z > 1024) {
        return gives(cudaErrorInvalidConfiguration);
    }
    f.launched.push_back(kernel);
    f.running = f.kernel_error;
    for (const auto& [buffer, bytes] : f.buffers) std::memset(buffer, 0, bytes);
    return cudaSuccess;
}

}  // namespace

}  // namespace flashstep::testing

using namespace flashstep::testing;  // NOLINT: the functions below are C's

// Declared in the runtime's headers for nvcc alone.
extern "C" {
void** __cudaRegisterFatBinary(void* code);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int threads, uint3*,
                            uint3*, dim3*, dim3*, int*);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               cudaStream_t stream);

void** __cudaRegisterFatBinary(void*) {
    static void* handle = nullptr;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*) {
    fake().kernels.insert(host);
}

// What <<<>>> calls: nothing here does, and a launch that cannot be checked fails.
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, CUstream_st*) { return cudaErrorNotSupported; }
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) { return cudaErrorNotSupported; }
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) { return cudaErrorNotSupported; }
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
    return cudaErrorNotSupported;
}

// ---- Errors

cudaError_t cudaGetLastError() {
    const cudaError_t last = fake().last;
    fake().last = fake().sticky;
    return last;
}
cudaError_t cudaPeekAtLastError() { return fake().last; }
const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
        case cudaSuccess:
            return "cudaSuccess";
        case cudaErrorMemoryAllocation:
            return "cudaErrorMemoryAllocation";
        case cudaErrorInvalidValue:
            return "cudaErrorInvalidValue";
        case cudaErrorInvalidConfiguration:
            return "cudaErrorInvalidConfiguration";
        case cudaErrorInvalidDeviceFunction:
            return "cudaErrorInvalidDeviceFunction";
        case cudaErrorInsufficientDriver:
            return "cudaErrorInsufficientDriver";
        case cudaErrorNoDevice:
            return "cudaErrorNoDevice";
        case cudaErrorNoKernelImageForDevice:
            return "cudaErrorNoKernelImageForDevice";
        case cudaErrorDevicesUnavailable:
            return "cudaErrorDevicesUnavailable";
        case cudaErrorIllegalAddress:
            return "cudaErrorIllegalAddress";
        case cudaErrorLaunchFailure:
            return "cudaErrorLaunchFailure";
        case cudaErrorLaunchOutOfResources:
            return "cudaErrorLaunchOutOfResources";
        case cudaErrorUnknown:
            return "cudaErrorUnknown";
        default:
            return "an error that this runtime has no name for";
    }
}
const char* cudaGetErrorString(cudaError_t error) {
    return error == cudaSuccess ? "no error" : "as the test asked for";
}

// ---- Versions and devices

cudaError_t cudaRuntimeGetVersion(int* version) {
    if (const cudaError_t error = enter("cudaRuntimeGetVersion")) return error;
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
    if (const cudaError_t error = enter("cudaDriverGetVersion")) return error;
    *version = fake().driver;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
    if (const cudaError_t error = enter("cudaGetDeviceCount")) return error;
    *count = fake().devices;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
    if (const cudaError_t error = enter("cudaGetDevice")) return error;
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    if (const cudaError_t error = enter("cudaGetDeviceProperties")) return error;
    *properties = {};
    std::strncpy(properties->name, fake().name.c_str(), sizeof properties->name - 1);
    properties->major = fake().major;
    properties->minor = fake().minor;
    properties->totalGlobalMem = fake().memory;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    if (const cudaError_t error = enter("cudaDeviceGetAttribute")) return error;
    if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) {
        *value = fake().shared_opt_in;
    } else if (attribute == cudaDevAttrL2CacheSize) {
        *value = 1 << 20;
    } else {
        return gives(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return enter("cudaDeviceSynchronize", Waits::Yes); }

// ---- Memory

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    if (const cudaError_t error = enter("cudaMemGetInfo")) return error;
    *total = fake().memory;
    *free = *total - fake().live_bytes();
    return cudaSuccess;
}
cudaError_t cudaMalloc(void** data, std::size_t bytes) {
    if (const cudaError_t error = enter("cudaMalloc")) return error;
    if (bytes > fake().memory - fake().live_bytes()) return gives(cudaErrorMemoryAllocation);
    *data = std::malloc(bytes);
    std::memset(*data, 0xa5, bytes);  // what was there before
    fake().buffers[static_cast<std::byte*>(*data)] = bytes;
    fake().most_bytes = std::max(fake().most_bytes, fake().live_bytes());
    return cudaSuccess;
}
// A call that fails has given its buffer back all the same: what is counted is whether it was called.
cudaError_t cudaFree(void* data) {
    if (!data) return cudaSuccess;
    const cudaError_t error = enter("cudaFree", Waits::Yes);
    if (fake().buffers.erase(static_cast<std::byte*>(data)) == 0) return gives(cudaErrorInvalidValue);
    std::free(data);
    return error;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (const cudaError_t error = enter("cudaMemcpy", Waits::Yes)) return error;
    return copy(to, from, bytes, kind);
}
cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
    if (const cudaError_t error = enter("cudaMemset")) return error;
    return fill(data, value, bytes);
}
cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) {
    if (const cudaError_t error = enter("cudaMemsetAsync")) return error;
    return fill(data, value, bytes);
}

// ---- Launches

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    if (const cudaError_t error = enter("cudaFuncSetAttribute")) return error;
    if (!fake().kernels.contains(kernel)) return gives(cudaErrorInvalidDeviceFunction);
    if (!fake().has_code) return gives(cudaErrorNoKernelImageForDevice);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value > fake().shared_opt_in) {
        return gives(cudaErrorInvalidValue);
    }
    fake().shared_limit[kernel] = value;
    return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void**, std::size_t shared, cudaStream_t) {
    if (const cudaError_t error = enter("cudaLaunchKernel")) return error;
    return launch(kernel, grid, block, shared);
}

// ---- Events: time stands still

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    if (const cudaError_t error = enter("cudaEventCreate")) return error;
    *event = static_cast<cudaEvent_t>(std::malloc(1));
    fake().events.insert(*event);
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    const cudaError_t error = enter("cudaEventDestroy");
    if (fake().events.erase(event) == 0) return gives(cudaErrorInvalidResourceHandle);
    std::free(event);
    return error;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    if (const cudaError_t error = enter("cudaEventRecord")) return error;
    return fake().events.contains(event) ? cudaSuccess : gives(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return enter("cudaEventSynchronize", Waits::Yes); }
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
    if (const cudaError_t error = enter("cudaEventElapsedTime")) return error;
    *ms = 1;
    return cudaSuccess;
}
}
