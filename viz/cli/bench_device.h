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

// Times the kernel, or (empty) every attention kernel, with a note for each row. Throws Error: an unknown kernel, or
// one that is no attention.
std::vector<gpu::BenchRow> run_device_bench(const std::string& kernel);

}  // namespace flashstep::cli
