// flashstep bench --device and --schedule: the ladder on a GPU, in a file that bench-table makes a table of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"
#include "gpu/device_bench.h"
#include "gpu/run.h"

namespace flashstep::cli {

// The shapes, for gpu/bench_torch.py: what PyTorch is timed on is what our kernels are timed on.
io::Json schedule_json();

// A row: the shape, and "ms" (median) and "repetitions", or "skipped".
io::Json results_json(const gpu::DeviceStatus& device, std::string_view date, const std::vector<gpu::BenchRow>& rows);

// "fa2_forward_4_swizzle  forward d=64 causal N=512   0.123 ms  88.9 TFLOP/s".
std::string bench_line(const gpu::BenchRow& row);

// The kernel, or (empty) every attention kernel. Throws Error: an unknown one, or one that is no attention.
std::vector<const gpu::KernelInfo*> attention_kernels(const std::string& kernel);

// The whole schedule, or the shape that is counted from 0 in it. Throws Error for a number that is none.
std::vector<gpu::BenchShape> scheduled(const std::string& number);

// Times the kernels on the shapes of their pass, with a note for each row. Throws DeviceFailure.
std::vector<gpu::BenchRow> run_device_bench(const std::vector<const gpu::KernelInfo*>& chosen,
                                            const std::vector<gpu::BenchShape>& shapes);

}  // namespace flashstep::cli
