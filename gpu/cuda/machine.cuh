// A CUDA device behind the interface that the kernels' launch functions use (the executor has the same one).
#pragma once

#include <string_view>
#include <utility>

#include "gpu/attention_shape.h"
#include "gpu/cuda/check.cuh"
#include "gpu/launch.h"
#include "gpu/probe.h"

namespace flashstep::gpu::cuda {

class Machine {
  public:
    // A tensor by name; the buffers stay alive for as long as the machine.
    struct Tensor {
        std::string_view name;
        void* data;
        int element_bytes;
    };
    Machine(const Tensor* tensors, int count, std::int64_t opt_in_bytes, std::string_view device)
        : tensors_(tensors), count_(count), opt_in_bytes_(opt_in_bytes), device_(device) {}

    template <class T = float>
    const T* read(std::string_view name) const {
        return static_cast<const T*>(find(name, sizeof(T)));
    }
    template <class T = float>
    T* write(std::string_view name) const {
        return static_cast<T*>(find(name, sizeof(T)));
    }

    template <class... Parameters, class... Arguments>
    void launch(const Launch& launch, void (*kernel)(Parameters...), Arguments... arguments) {
        check_launch(launch, opt_in_bytes_, device_);
        if (launch.limit == SharedLimit::OptIn && launch.shared_bytes > kDefaultSharedBytes) {
            CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(launch.shared_bytes)));
        }
        const dim3 grid(launch.grid.x, launch.grid.y, launch.grid.z);
        const dim3 block(launch.block.x, launch.block.y, launch.block.z);
        // Not <<<>>>: it drops the result, and keeps the kernel's handle for good, though looking it up had failed.
        const auto start = [&](Parameters... parameters) {
            void* places[] = {&parameters...};
            CUDA_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, places,
                                        static_cast<std::size_t>(launch.shared_bytes), nullptr));
        };
        start(static_cast<Parameters>(arguments)...);
    }

  private:
    void* find(std::string_view name, int element_bytes) const {
        for (int k = 0; k < count_; ++k) {
            if (tensors_[k].name != name) continue;
            if (tensors_[k].element_bytes == element_bytes) return tensors_[k].data;
            throw Error("elements of " + std::string(name) + " take " + std::to_string(tensors_[k].element_bytes) +
                        " bytes, not " + std::to_string(element_bytes));
        }
        throw Error("no tensor is named " + std::string(name));
    }
    const Tensor* tensors_;
    int count_;
    std::int64_t opt_in_bytes_;
    std::string_view device_;
};

}  // namespace flashstep::gpu::cuda
