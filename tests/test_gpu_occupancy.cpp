// Thread blocks per SM against NVIDIA's own calculator (cuda_occupancy.h of a CUDA toolkit), where one is installed.
#include <doctest/doctest.h>

#include "core/gpu_model.h"

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>

using namespace flashstep;

namespace {

// Blocks per SM as the toolkit counts them, with the SM's memory given to shared memory and the opt-in limit raised.
int theirs(const Gpu& gpu, const BlockUse& use) {
    const SmLimits& sm = limits(gpu);
    cudaOccDeviceProp device;
    device.computeMajor = sm.capability / 10;
    device.computeMinor = sm.capability % 10;
    device.maxThreadsPerBlock = kMaxBlockThreads;
    device.maxThreadsPerMultiprocessor = sm.threads;
    device.regsPerBlock = device.regsPerMultiprocessor = sm.registers;
    device.warpSize = kWarpThreads;
    device.sharedMemPerBlock = 48 * 1024;
    device.sharedMemPerMultiprocessor = static_cast<std::size_t>(sm.shared_bytes);
    device.numSms = gpu.sms;
    device.sharedMemPerBlockOptin = static_cast<std::size_t>(sm.shared_bytes_of_block);
    device.reservedSharedMemPerBlock = static_cast<std::size_t>(sm.reserved_bytes);
    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = kMaxBlockThreads;
    function.numRegs = use.registers;
    function.sharedSizeBytes = 0;
    function.partitionedGCConfig = PARTITIONED_GC_OFF;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = static_cast<std::size_t>(sm.shared_bytes_of_block);
    cudaOccDeviceState state;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    cudaOccResult result{};
    const auto status = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, use.threads,
                                                                static_cast<std::size_t>(use.shared_bytes));
    REQUIRE(status == CUDA_OCC_SUCCESS);
    return result.activeBlocksPerMultiprocessor;
}

}  // namespace

TEST_CASE("thread blocks per SM equal the toolkit's calculator for every GPU and many blocks") {
    int checked = 0, refused = 0;
    for (const Gpu& gpu : gpus())
        for (const int threads : {1, 32, 96, 128, 160, 256, 288, 384, 512, 640, 1024})
            for (const int registers : {16, 24, 37, 40, 64, 65, 96, 128, 168, 200, 255})
                for (std::int64_t shared = 0; shared <= 240 * 1024; shared += 3 * 1024 + 111) {
                    const BlockUse use{threads, registers, shared};
                    const Occupancy ours = occupancy(limits(gpu), use);
                    CAPTURE(gpu.id);
                    CAPTURE(threads);
                    CAPTURE(registers);
                    CAPTURE(shared);
                    REQUIRE(ours.blocks == theirs(gpu, use));
                    ++checked;
                    refused += ours.blocks == 0;
                }
    CHECK(checked > 60'000);
    CHECK(refused > 1'000);
}

TEST_CASE("the comparison with the toolkit sees a wrong rule: registers counted by thread, not by warp") {
    // 37 registers x 128 threads = 4,736: 13 blocks; by warps of 1,280: 12.
    const Gpu& gpu = *find_gpu("A100");
    CHECK(65536 / (37 * 128) == 13);
    CHECK(theirs(gpu, {128, 37, 0}) == 12);
}
#else
TEST_CASE("thread blocks per SM equal the toolkit's calculator (no toolkit here)" * doctest::skip()) {}
#endif
