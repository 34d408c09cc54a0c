// The table of GPUs, and the limits of their SMs. Peaks are dense (the 2:4 sparsity of data sheets is taken out).
#include <algorithm>
#include <array>
#include <cctype>

#include "core/gpu_model.h"

namespace flashstep {
namespace {

constexpr int kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * 1024;
constexpr double kGiga = 1e9, kTera = 1e12;

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": threads, blocks, registers, shared
// memory per SM and per block. Reserved bytes: the same guide's text on shared memory of 8.x and later (1 KiB for each
// thread block). Granularity: cuda_occupancy.h of the toolkit (256 bytes for 7.x, 128 from 8.0 on). Lanes: the same
// guide, "Throughput of Native Arithmetic Instructions".
constexpr std::array kLimits = {
    SmLimits{75, 1024, 16, 65536, 64 * kKiB, 64 * kKiB, 0, 256, 64, 16},
    SmLimits{80, 2048, 32, 65536, 164 * kKiB, 163 * kKiB, kKiB, 128, 64, 16},
    SmLimits{86, 1536, 16, 65536, 100 * kKiB, 99 * kKiB, kKiB, 128, 128, 16},
    SmLimits{89, 1536, 24, 65536, 100 * kKiB, 99 * kKiB, kKiB, 128, 128, 16},
    SmLimits{90, 2048, 32, 65536, 228 * kKiB, 227 * kKiB, kKiB, 128, 128, 16},
    SmLimits{100, 2048, 32, 65536, 228 * kKiB, 227 * kKiB, kKiB, 128, 128, 16},
};

constexpr std::array kGpus = {
    Gpu{
        .id = "T4",
        .title = "T4, 16 GB GDDR6",
        .capability = 75,
        .sms = 40,                  // NVIDIA Turing architecture whitepaper, appendix on the T4 (TU104)
        .bandwidth = 320 * kGiga,   // the same; 256 bits at 10 Gbit/s
        .fp16_flops = 65 * kTera,   // T4 data sheet, "mixed precision"
        .bf16_flops = 0,            // Turing's tensor cores have no bf16 (PTX ISA: mma with .bf16 needs sm_80)
        .fp32_flops = 8.1 * kTera,  // T4 data sheet
        .l2_bytes = 4 * kMiB,       // Turing architecture whitepaper (TU104: 4,096 KiB)
    },
    Gpu{
        .id = "A100",
        .title = "A100 80 GB SXM",
        .capability = 80,
        .sms = 108,                  // NVIDIA A100 architecture whitepaper, table of GA100
        .bandwidth = 2039 * kGiga,   // A100 80 GB data sheet, SXM (the 40 GB card: 1,555)
        .fp16_flops = 312 * kTera,   // A100 data sheet
        .bf16_flops = 312 * kTera,   // A100 data sheet
        .fp32_flops = 19.5 * kTera,  // A100 data sheet
        .l2_bytes = 40 * kMiB,       // A100 architecture whitepaper
    },
    Gpu{
        .id = "RTX 3090",
        .title = "GeForce RTX 3090, 24 GB GDDR6X",
        .capability = 86,
        .sms = 82,                   // NVIDIA Ampere GA102 architecture whitepaper, appendix A
        .bandwidth = 936 * kGiga,    // the same
        .fp16_flops = 71 * kTera,    // the same, with fp32 accumulation (142 with fp16 accumulation)
        .bf16_flops = 71 * kTera,    // the same
        .fp32_flops = 35.6 * kTera,  // the same
        .l2_bytes = 6 * kMiB,        // the same (6,144 KiB)
    },
    Gpu{
        .id = "RTX 4090",
        .title = "GeForce RTX 4090, 24 GB GDDR6X",
        .capability = 89,
        .sms = 128,                   // NVIDIA Ada architecture whitepaper, appendix A
        .bandwidth = 1008 * kGiga,    // the same
        .fp16_flops = 165.2 * kTera,  // the same, with fp32 accumulation (330.3 with fp16 accumulation)
        .bf16_flops = 165.2 * kTera,  // the same
        .fp32_flops = 82.6 * kTera,   // the same
        .l2_bytes = 72 * kMiB,        // the same (73,728 KiB)
    },
    Gpu{
        .id = "H100",
        .title = "H100 80 GB SXM5",
        .capability = 90,
        .sms = 132,                   // NVIDIA H100 architecture whitepaper, table of GH100
        .bandwidth = 3350 * kGiga,    // H100 data sheet, SXM
        .fp16_flops = 989.5 * kTera,  // H100 data sheet: 1,979 with sparsity
        .bf16_flops = 989.5 * kTera,  // the same
        .fp32_flops = 67 * kTera,     // H100 data sheet
        .l2_bytes = 50 * kMiB,        // H100 architecture whitepaper
    },
    Gpu{
        .id = "H200",
        .title = "H200 141 GB SXM",
        .capability = 90,
        .sms = 132,                   // the H100's chip, all of its peaks equal (H200 data sheet)
        .bandwidth = 4800 * kGiga,    // H200 data sheet, SXM
        .fp16_flops = 989.5 * kTera,  // H200 data sheet: 1,979 with sparsity
        .bf16_flops = 989.5 * kTera,  // the same
        .fp32_flops = 67 * kTera,     // H200 data sheet
        .l2_bytes = 50 * kMiB,        // as the H100's
    },
    Gpu{
        .id = "B200",
        .title = "B200 180 GB SXM (HGX)",
        .capability = 100,
        .sms = 148,                  // two dies with 74 SMs each: Chips and Cheese, "Nvidia's B200" (2025)
        .bandwidth = 7700 * kGiga,   // Blackwell data sheet, HGX B200 column, per GPU (the GB200's: 8,000)
        .fp16_flops = 2250 * kTera,  // the same: 4,500 with sparsity
        .bf16_flops = 2250 * kTera,  // the same
        .fp32_flops = 75 * kTera,    // the same
        .l2_bytes = 126 * kMiB,      // Chips and Cheese, "Nvidia's B200" (2025)
    },
};

std::string folded(std::string_view text) {
    std::string plain;
    for (const char c : text)
        if (c != ' ') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return plain;
}

}  // namespace

std::span<const Gpu> gpus() { return kGpus; }

const Gpu* find_gpu(std::string_view name) {
    const auto found = std::ranges::find_if(kGpus, [&](const Gpu& gpu) { return folded(gpu.id) == folded(name); });
    return found == kGpus.end() ? nullptr : &*found;
}

const SmLimits& limits(const Gpu& gpu) {
    return *std::ranges::find(kLimits, gpu.capability, &SmLimits::capability);  // a test: every GPU has a row
}

}  // namespace flashstep
