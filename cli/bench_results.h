// What `flashstep bench --device --json=FILE` and gpu/bench_torch.py write: times of attention on a GPU, read back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu/device_bench.h"

namespace flashstep::cli {

struct BenchResult {
    std::string name;   // a rung's id, or a peer's name
    std::string dtype;  // "fp16"
    gpu::BenchShape shape;
    double ms = 0;        // > 0, or
    std::string skipped;  // why there is no time
    bool timed() const { return skipped.empty(); }
    double tflops() const { return gpu::attention_flops(shape) / ms * 1e-9; }
};

struct BenchResults {
    std::string source;  // "flashstep" or "torch 2.x"
    std::string device, target, driver, date;
    std::vector<BenchResult> results;
};

enum class BenchSource { Flashstep, Peers };

// Throws Error naming `file` and what is wrong in it: no JSON, or too deep, another format or version, a shape that is
// not of the schedule, a kernel that does not exist or does another pass, a time that is none, a row that is there
// twice, no time at all.
BenchResults parse_bench_results(std::string_view text, const std::string& file, BenchSource expected);

// Throws Error where the two were not made on the same device, driver and day.
void check_comparable(const BenchResults& ours, const BenchResults& peers);

}  // namespace flashstep::cli
