// Device queries, and one run of a kernel from upload to download.
#include "gpu/cuda/device.h"

#include "gpu/cuda/machine.cuh"

namespace flashstep::gpu::cuda {

namespace {

std::string version(int number) {  // 13000 is 13.0
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

DeviceQuery query_device() {
    int runtime = 0, driver = 0, count = 0;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);  // 0: no driver
    const cudaError_t code = cudaGetDeviceCount(&count);
    cudaGetLastError();
    const std::string built = "CUDA runtime " + version(runtime);
    if (driver == 0) return {false, {}, "no CUDA device: no driver (" + built + ")"};
    if (code == cudaErrorInsufficientDriver) {
        return {false,
                {},
                "no CUDA device: the driver supports CUDA " + version(driver) + ", needed is " + version(runtime)};
    }
    if (code != cudaSuccess) {
        return {false, {}, std::string("no CUDA device: ") + cudaGetErrorString(code) + " (" + built + ")"};
    }
    if (count == 0) return {false, {}, "no CUDA device (" + built + ")"};
    cudaDeviceProp properties;
    if (const cudaError_t failed = cudaGetDeviceProperties(&properties, 0); failed != cudaSuccess) {
        cudaGetLastError();
        return {false, {}, std::string("no usable CUDA device: ") + cudaGetErrorString(failed)};
    }
    const std::string target = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
    if (properties.major * 10 + properties.minor < 75) {
        return {false, properties.name, std::string(properties.name) + " is " + target + ", needed is sm_75 or later"};
    }
    return {true, properties.name, target + ", driver CUDA " + version(driver) + ", " + built};
}

std::string run_on_device(std::string_view kernel, const AttentionShape& shape,
                          const std::vector<DeviceTensor>& tensors, const Probe* probe, std::vector<float>* probed) {
    const DeviceQuery device = query_device();
    if (!device.available) throw Error(device.message);
    int current = 0, opt_in = 0;
    CUDA_CHECK(cudaGetDevice(&current));
    CUDA_CHECK(cudaDeviceGetAttribute(&opt_in, cudaDevAttrMaxSharedMemoryPerBlockOptin, current));

    std::vector<DeviceBuffer> buffers;
    std::vector<Machine::Tensor> named;
    for (const DeviceTensor& tensor : tensors) {
        DeviceBuffer& buffer = buffers.emplace_back(static_cast<std::int64_t>(tensor.values->size()));
        if (tensor.input) {
            buffer.upload(tensor.values->data());
        } else {
            CUDA_CHECK(cudaMemset(buffer.data(), 0xff, buffer.bytes()));  // NaN in every format
        }
        named.push_back({tensor.name, buffer.data(), tensor.element_bytes});
    }
    Machine machine(named.data(), static_cast<int>(named.size()), opt_in, device.name);
    DeviceBuffer captured(probe ? static_cast<std::int64_t>(probed->size() * sizeof(float)) : 0);
    Probe on_device{};
    if (probe) {
        captured.upload(probed->data());  // its marks for places not captured
        on_device = *probe;
        on_device.values = static_cast<float*>(captured.data());
    }
    if (!launch_kernel(kernel, machine, shape, probe ? &on_device : nullptr)) {
        throw Error("no kernel is named " + std::string(kernel) + " in this build's CUDA back end");
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    for (std::size_t k = 0; k < tensors.size(); ++k) {
        if (!tensors[k].input) buffers[k].download(tensors[k].values->data());
    }
    if (probe) captured.download(probed->data());
    return device.name;
}

}  // namespace flashstep::gpu::cuda
