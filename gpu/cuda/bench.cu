// Times kernels with CUDA events, after writing more than the L2 cache holds.
#include "gpu/cuda/bench.h"

#include <algorithm>
#include <string>

#include "gpu/cuda/device.h"
#include "gpu/cuda/kernels.h"
#include "gpu/cuda/machine.cuh"

namespace flashstep::gpu::cuda {

namespace {

class Event {
  public:
    Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
    ~Event() { release(cudaEventDestroy(event_)); }
    Event(const Event&) = delete;
    cudaEvent_t get() const { return event_; }

  private:
    cudaEvent_t event_ = nullptr;
};

int attribute(cudaDeviceAttr which) {
    int device = 0, value = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
    return value;
}

// Twice the L2 cache, and never less than 32 MiB. Writing that takes a device 30 us or more, in which the host queues the
// kernel behind it: no launch is waited for between the events.
std::int64_t flushing_bytes() {
    return std::max(2 * std::int64_t{attribute(cudaDevAttrL2CacheSize)}, std::int64_t{32} << 20);
}

// The pattern at the front of the buffer, then what is there already behind itself until it is full.
void fill(DeviceBuffer& buffer, const std::vector<std::byte>& pattern) {
    const std::size_t first = std::min(pattern.size(), buffer.bytes());
    CUDA_CHECK(cudaMemcpy(buffer.data(), pattern.data(), first, cudaMemcpyHostToDevice));
    std::byte* const data = static_cast<std::byte*>(buffer.data());
    for (std::size_t done = first; done < buffer.bytes();) {
        const std::size_t more = std::min(done, buffer.bytes() - done);
        CUDA_CHECK(cudaMemcpy(data + done, data, more, cudaMemcpyDeviceToDevice));
        done += more;
    }
}

class DeviceBenchRun : public BenchRun {
  public:
    DeviceBenchRun(std::string_view kernel, const AttentionShape& shape, const std::vector<BenchTensor>& tensors,
                   std::string device)
        : kernel_(kernel),
          shape_(shape),
          device_(std::move(device)),
          opt_in_(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)),
          flushing_(flushing_bytes(), "what flushes the L2 cache") {
        for (const BenchTensor& tensor : tensors) {
            DeviceBuffer& buffer = buffers_.emplace_back(tensor.count * tensor.element_bytes, tensor.name);
            if (!tensor.pattern.empty()) fill(buffer, tensor.pattern);
            named_.push_back({tensor.name, buffer.data(), tensor.element_bytes});
        }
    }

    void flush_cache() override { CUDA_CHECK(cudaMemsetAsync(flushing_.data(), 0, flushing_.bytes())); }
    void start() override { CUDA_CHECK(cudaEventRecord(start_.get())); }
    void launch() override {
        Machine machine(named_.data(), static_cast<int>(named_.size()), opt_in_, device_);
        launch_kernel(kernel_, machine, shape_, nullptr);
    }
    double stop_ms() override {
        CUDA_CHECK(cudaEventRecord(stop_.get()));
        CUDA_CHECK(cudaEventSynchronize(stop_.get()));
        float ms = 0;
        CUDA_CHECK(cudaEventElapsedTime(&ms, start_.get(), stop_.get()));
        return static_cast<double>(ms);
    }

  private:
    std::string kernel_;
    AttentionShape shape_;
    std::string device_;
    int opt_in_;
    DeviceBuffer flushing_;
    std::vector<DeviceBuffer> buffers_;
    std::vector<Machine::Tensor> named_;
    Event start_, stop_;
};

}  // namespace

std::unique_ptr<BenchRun> prepare_bench(std::string_view kernel, const AttentionShape& shape,
                                        const std::vector<BenchTensor>& tensors) {
    const DeviceStatus device = query_device();
    if (!device.available) throw Error(device.message);
    return std::make_unique<DeviceBenchRun>(kernel, shape, tensors, device.name);
}

}  // namespace flashstep::gpu::cuda
