// CUDA's host code on a runtime of ours (fake_cudart.h): what goes wrong is said, nothing is left behind, and the next
// run is a good one. No GPU takes part, and no kernel runs.
#include <doctest/doctest.h>

#include <set>

#include "gpu/device_bench.h"
#include "tests/gpu/cuda_stage.h"

namespace flashstep::gpu {

namespace {

// "device.cu:12: " somewhere in it.
bool names_file_and_line(const std::string& text) {
    for (std::string_view kind : {".cu:", ".cuh:"}) {
        const std::size_t at = text.find(kind);
        if (at == std::string::npos) continue;
        const std::size_t end = text.find_first_not_of("0123456789", at + kind.size());
        return end != std::string::npos && end > at + kind.size() && text.substr(end, 2) == ": ";
    }
    return false;
}

// The error's own text is followed by what to do about it.
bool gives_hint(const std::string& text) {
    const std::size_t end = text.find("(as the test asked for)");
    return end != std::string::npos && text.find("; ", end) != std::string::npos && text.back() != ' ';
}

}  // namespace

TEST_CASE(
    "Whichever call fails, the error names file, line, call, error and what to do; nothing is left; the next run is "
    "good") {
    for (std::string_view id : kSome) {
        const KernelInfo& kernel = kernel_named(id);
        for (Capture capture : {Capture::On, Capture::Off}) {
            for (cudaError_t error : {cudaErrorUnknown, cudaErrorMemoryAllocation, cudaErrorLaunchOutOfResources}) {
                std::set<std::string> met;
                int k = 0;
                for (bool hit = true; hit;) {
                    become(usual());
                    fake_cuda().fail_at = ++k;
                    fake_cuda().error = error;
                    const std::string text = failure_of(kernel, capture);
                    const std::string failed = fake_cuda().failed;
                    hit = !failed.empty();
                    fake_cuda().fail_at = 0;
                    CAPTURE(id);
                    CAPTURE(k);
                    CAPTURE(failed);
                    CAPTURE(text);
                    met.insert(failed);
                    if (!hit || failed == "cudaFree") {  // what was asked for is there already
                        CHECK(text.empty());
                    } else {
                        CHECK(names_file_and_line(text));
                        CHECK(contains(text, failed + "("));
                        CHECK(contains(text, cudaGetErrorName(error)));
                        CHECK(gives_hint(text));
                        CHECK_FALSE(contains(text, "\n"));
                    }
                    check_nothing_left();
                    check_good_run(kernel, capture);
                    REQUIRE(k < 1000);
                }
                for (const char* call : {"cudaGetDeviceProperties", "cudaMalloc", "cudaMemcpy", "cudaMemset",
                                         "cudaLaunchKernel", "cudaDeviceSynchronize", "cudaFree", ""}) {
                    CHECK_MESSAGE(met.contains(call), call);
                }
                CHECK(met.contains("cudaFuncSetAttribute") ==
                      (id == "fa2_forward_5_cp_async" || id == "fa2_backward_3_mma"));
            }
        }
    }
}

TEST_CASE("Without enough memory the error says what it was for and how much there is") {
    for (std::string_view id : kSome) {
        const KernelInfo& kernel = kernel_named(id);
        become(usual());
        run(kernel, problem_for(kernel));
        const std::size_t enough = fake_cuda().most_bytes;
        for (std::size_t memory : {std::size_t{0}, enough / 2, enough - 1}) {
            become(usual());
            fake_cuda().memory = memory;
            const std::string text = failure_of(kernel);
            CAPTURE(text);
            CHECK(contains(text, "cudaErrorMemoryAllocation"));
            CHECK(contains(text, " takes "));
            CHECK(contains(text, fmt::format(" of {} on the device are free", memory)));
            CHECK(contains(text, "try a smaller problem"));
            CHECK(fake_cuda().launched.empty());
            check_nothing_left();
            fake_cuda().memory = 64 << 20;
            check_good_run(kernel);
        }
    }
}

TEST_CASE("A launch that is refused says so: no code for the device, no resources, the second of several launches") {
    for (std::string_view id : kSome) {
        const KernelInfo& kernel = kernel_named(id);
        become(usual());
        fake_cuda().has_code = false;
        const std::string text = failure_of(kernel);
        CHECK_MESSAGE(contains(text, "cudaErrorNoKernelImageForDevice"), text);
        CHECK_MESSAGE(contains(text, "CMAKE_CUDA_ARCHITECTURES"), text);
        CHECK(fake_cuda().launched.empty());
        check_nothing_left();
        for (int launch = 1; launch <= rung(kernel.id).launches; ++launch) {
            become(usual());
            run(kernel, problem_for(kernel));
            const std::vector<std::string> calls = fake_cuda().calls;
            int at = 0;
            for (int seen = 0; seen < launch; ++at) seen += calls[static_cast<std::size_t>(at)] == "cudaLaunchKernel";
            become(usual());
            fake_cuda().fail_at = at;
            fake_cuda().error = cudaErrorLaunchOutOfResources;
            const std::string refused = failure_of(kernel);
            CHECK(fake_cuda().failed == "cudaLaunchKernel");
            CHECK(static_cast<int>(fake_cuda().launched.size()) == launch - 1);
            CHECK_MESSAGE(contains(refused, "machine.cuh:"), refused);
            CHECK_MESSAGE(contains(refused, "threads, registers or shared memory"), refused);
            check_nothing_left();
            check_good_run(kernel);
        }
    }
}

TEST_CASE(
    "An error inside a kernel is met where it is waited for; from then on the message says that a restart is needed") {
    for (std::string_view id : kSome) {
        const KernelInfo& kernel = kernel_named(id);
        for (cudaError_t error : {cudaErrorIllegalAddress, cudaErrorLaunchFailure}) {
            become(usual());
            fake_cuda().kernel_error = error;
            const std::string first = failure_of(kernel);
            CAPTURE(first);
            CHECK(contains(first, "cudaDeviceSynchronize()"));
            CHECK(contains(first, cudaGetErrorName(error)));
            CHECK(contains(first, "program is started anew"));
            CHECK(fake_cuda().buffers.empty());
            const std::string second = failure_of(kernel);
            CHECK_MESSAGE(contains(second, cudaGetErrorName(error)), second);
            CHECK_MESSAGE(contains(second, "program is started anew"), second);
            CHECK_FALSE(device_status().available);
            CHECK(fake_cuda().buffers.empty());
            become(usual());
            check_good_run(kernel);
        }
    }
}

TEST_CASE("The bench too leaves nothing behind, whichever call fails") {
    const KernelInfo& kernel = kernel_named("fa2_backward_3_mma");
    int k = 0;
    for (bool hit = true; hit;) {
        become(usual());
        fake_cuda().fail_at = ++k;
        std::string text;
        try {
            time_runs(*prepare_on_device(kernel, problem_for(kernel)),
                      {.warm_ups = 1, .least_runs = 1, .most_runs = 1});
        } catch (const Error& error) { text = text_of(error); }
        const std::string failed = fake_cuda().failed;
        hit = !failed.empty();
        fake_cuda().fail_at = 0;
        CAPTURE(failed);
        CAPTURE(text);
        const bool gives_back = !hit || failed == "cudaFree" || failed == "cudaEventDestroy";
        CHECK(text.empty() == gives_back);
        if (!gives_back) CHECK((names_file_and_line(text) && contains(text, failed + "(") && gives_hint(text)));
        check_nothing_left();
        check_good_run(kernel);
        REQUIRE(k < 1000);
    }
}

}  // namespace flashstep::gpu
