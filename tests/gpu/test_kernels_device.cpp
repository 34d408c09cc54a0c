// The same kernels on a CUDA device. Without one, the tests that need it are skipped (exit code 77) and say so.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>

#include "core/error.h"
#include "gpu/run.h"
#include "tests/gpu/kernel_problems.h"
#include "tests/gpu/kernel_reference.h"

namespace flashstep::gpu {

namespace {

void skip_without_device() {
    const DeviceStatus status = device_status();
    if (status.available) return;
    MESSAGE("skipped: ", status.message);
    std::exit(77);
}

}  // namespace

TEST_CASE("Asking for the device never fails, and says in one line what there is") {
    const DeviceStatus status = device_status();
    MESSAGE(status.name, " ", status.message.en);
    CHECK(!status.message.en.empty());
    CHECK(status.message.en.find('\n') == std::string::npos);
    CHECK((status.built || !status.available));
    CHECK((status.available || status.message.en.find("no ") != std::string::npos ||
           status.message.en.find("needed") != std::string::npos));
}

TEST_CASE("Running on a device that is not there is an error, not a crash") {
    if (device_status().available) return;
    RunOptions options;
    options.where = Where::LiveCuda;
    for (const KernelInfo& kernel : kernels()) {
        CHECK_THROWS_AS(run_kernel(kernel, Problem{}, make_inputs(Problem{}), options), Error);
    }
}

TEST_CASE("On a device every fp32 kernel agrees with the double reference and with the executor") {
    skip_without_device();
    for (const KernelInfo& kernel : fp32_kernels()) {
        for (bool causal : {false, true}) {
            for (const auto& [n, nk, d, dv, b] : {std::array{1, 1, 1, 1, 1},
                                                  {4, 4, 3, 3, 2},
                                                  {5, 7, 3, 2, 8},
                                                  {65, 63, 64, 64, 32},
                                                  {63, 20, 40, 3, 16},
                                                  {9, 2, 3, 3, 2}}) {
                Problem p;
                p.n = n, p.nk = nk, p.d = d, p.dv = dv, p.br = p.bc = b, p.causal = causal;
                p.batch = 2, p.heads = 4, p.kv_heads = 2;
                p.scale = 1 / std::sqrt(static_cast<double>(d));
                const Inputs inputs = inputs_of(p);
                RunOptions options;
                options.where = Where::LiveCuda;
                const KernelRun device = run_kernel(kernel, p, inputs, options);
                CHECK(!device.device.empty());
                check_against_reference(kernel.algorithm, p, inputs, device);
                options.where = Where::Host;
                const KernelRun host = run_kernel(kernel, p, inputs, options);
                CHECK(device.captured.size() == host.captured.size());
                for (const auto& [key, values] : host.captured) CHECK(device.captured.contains(key));
                options.where = Where::LiveCuda;
                options.capture = Capture::Off;
                check_against_reference(kernel.algorithm, p, inputs, run_kernel(kernel, p, inputs, options));
            }
        }
    }
}

TEST_CASE("On a device, shared memory over its limit is refused with both numbers") {
    skip_without_device();
    Problem p;
    p.n = p.nk = 256, p.d = p.dv = 128, p.br = p.bc = 110;  // 330 KB: over every device
    RunOptions options;
    options.where = Where::LiveCuda;
    CHECK_THROWS_AS(run_kernel(*find_kernel("fa2_forward_1_tile"), p, inputs_of(p), options), Error);
}

}  // namespace flashstep::gpu
