// Device queries, and one run of a kernel from upload to download.
#include "gpu/cuda/device.h"

#include <algorithm>

#include "gpu/cuda/kernels.h"
#include "gpu/cuda/machine.cuh"

namespace flashstep::gpu::cuda {

namespace {

std::string version(int number) {  // 13000 is 13.0
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

constexpr int kLeastCapability = 75;

// Fills in what there is, and why it cannot be used; `message` stays empty where it can.
void look_at_device(DeviceStatus& status) {
    int runtime = 0, driver = 0, count = 0, device = 0;
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    status.runtime = version(runtime);
    CUDA_CHECK(cudaDriverGetVersion(&driver));
    if (driver == 0) {
        status.message = {"no CUDA device: no driver (CUDA runtime " + status.runtime + "); install NVIDIA's driver",
                          "没有 CUDA 设备：没有驱动（CUDA 运行时 " + status.runtime + "）；请安装 NVIDIA 驱动"};
        return;
    }
    status.driver = version(driver);
    if (const cudaError_t counted = cudaGetDeviceCount(&count); counted == cudaErrorInsufficientDriver) {
        cudaGetLastError();
        status.message = {
            "no CUDA device: the driver is for CUDA " + status.driver + ", needed is " + status.runtime +
                "; install a later driver",
            "没有 CUDA 设备：驱动只支持到 CUDA " + status.driver + "，需要 " + status.runtime + "；请安装更新的驱动"};
        return;
    } else if (counted == cudaErrorNoDevice || (counted == cudaSuccess && count == 0)) {
        cudaGetLastError();
        status.message = {"no CUDA device (driver CUDA " + status.driver + ", CUDA runtime " + status.runtime +
                              "); where CUDA_VISIBLE_DEVICES is set, it hides the others",
                          "没有 CUDA 设备（驱动 CUDA " + status.driver + "，CUDA 运行时 " + status.runtime +
                              "）；若设置了 CUDA_VISIBLE_DEVICES，其余设备会被隐藏"};
        return;
    } else {
        check(counted, "cudaGetDeviceCount(&count)", __FILE__, __LINE__);
    }
    CUDA_CHECK(cudaGetDevice(&device));
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    status.name = properties.name;
    status.capability = properties.major * 10 + properties.minor;
    status.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    status.code = code_for(status.capability, built_architectures(), built_with_ptx());
    const std::string capability = std::to_string(status.capability);
    const Sentence what("no usable CUDA device: " + status.name + " is sm_" + capability,
                        "没有可用的 CUDA 设备：" + status.name + " 是 sm_" + capability);
    const Sentence other = count > 1 ? Sentence(", or choose another device with CUDA_VISIBLE_DEVICES",
                                                "，或用 CUDA_VISIBLE_DEVICES 选择其他设备")
                                     : Sentence();
    if (status.capability < kLeastCapability) {
        const std::string least = std::to_string(kLeastCapability);
        status.message = {what.en + ", needed is sm_" + least + " or later" + other.en,
                          what.zh + "，需要 sm_" + least + " 及以上" + other.zh};
    } else if (status.code == 0) {
        std::string built;
        for (int architecture : built_architectures())
            built += (built.empty() ? "sm_" : ", sm_") + std::to_string(architecture);
        status.message = {what.en + ", this build has code for " + built + "; configure with " + capability +
                              "-real in CMAKE_CUDA_ARCHITECTURES" + other.en,
                          what.zh + "，而这个构建只有 " + built +
                              " 的代码；配置时请在 CMAKE_CUDA_ARCHITECTURES 中加入 " + capability + "-real" + other.zh};
    }
}

}  // namespace

std::vector<int> built_architectures() {
    std::vector<int> architectures{__CUDA_ARCH_LIST__};
    for (int& architecture : architectures) architecture /= 10;  // 750 is sm_75
    return architectures;
}

bool built_with_ptx() {
#ifdef FLASHSTEP_CUDA_PTX
    return true;
#else
    return false;
#endif
}

int code_for(int capability, const std::vector<int>& architectures, bool ptx) {
    int machine_code = 0, intermediate = 0;
    for (int architecture : architectures) {
        if (architecture > capability) continue;
        if (ptx) intermediate = std::max(intermediate, architecture);
        if (architecture / 10 == capability / 10) machine_code = std::max(machine_code, architecture);
    }
    return machine_code > 0 ? machine_code : intermediate;
}

DeviceStatus query_device() {
    DeviceStatus status{.built = true};
    try {
        look_at_device(status);
    } catch (const Error& error) {
        status.message = {std::string("no usable CUDA device: ") + error.what() + "; " + error.hint(),
                          std::string("没有可用的 CUDA 设备：") + error.what() + "; " + error.hint()};
    }
    if (status.message.empty()) {
        status.available = true;
        const std::string capability = "sm_" + std::to_string(status.capability);
        status.message = {capability + ", driver CUDA " + status.driver + ", CUDA runtime " + status.runtime,
                          capability + "，驱动 CUDA " + status.driver + "，CUDA 运行时 " + status.runtime};
    }
    return status;
}

std::string run_on_device(std::string_view kernel, const AttentionShape& shape,
                          const std::vector<DeviceTensor>& tensors, const Probe* probe, std::vector<float>* probed) {
    const DeviceStatus device = query_device();
    if (!device.available) throw Error(device.message);
    int current = 0, opt_in = 0;
    CUDA_CHECK(cudaGetDevice(&current));
    CUDA_CHECK(cudaDeviceGetAttribute(&opt_in, cudaDevAttrMaxSharedMemoryPerBlockOptin, current));

    std::vector<DeviceBuffer> buffers;
    std::vector<Machine::Tensor> named;
    for (const DeviceTensor& tensor : tensors) {
        DeviceBuffer& buffer = buffers.emplace_back(static_cast<std::int64_t>(tensor.values->size()), tensor.name);
        if (tensor.input) {
            buffer.upload(tensor.values->data());
        } else {
            CUDA_CHECK(cudaMemset(buffer.data(), 0xff, buffer.bytes()));  // NaN in every format
        }
        named.push_back({tensor.name, buffer.data(), tensor.element_bytes});
    }
    Machine machine(named.data(), static_cast<int>(named.size()), opt_in, device.name);
    DeviceBuffer captured(probe ? static_cast<std::int64_t>(probed->size() * sizeof(float)) : 0,
                          "what the probe captures");
    Probe on_device{};
    if (probe) {
        captured.upload(probed->data());  // its marks for places not captured
        on_device = *probe;
        on_device.values = static_cast<float*>(captured.data());
    }
    launch_kernel(kernel, machine, shape, probe ? &on_device : nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    for (std::size_t k = 0; k < tensors.size(); ++k) {
        if (!tensors[k].input) buffers[k].download(tensors[k].values->data());
    }
    if (probe) captured.download(probed->data());
    return device.name;
}

}  // namespace flashstep::gpu::cuda
