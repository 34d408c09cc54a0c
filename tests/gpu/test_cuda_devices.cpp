// Which devices can be used and what runs on them, on a runtime of ours (fake_cudart.h): no GPU takes part.
#include <doctest/doctest.h>

#include <map>

#include "cli/cli.h"
#include "core/io/json.h"
#include "gpu/device_bench.h"
#include "tests/gpu/cuda_stage.h"
#include "tests/program.h"

namespace flashstep::gpu {

namespace {

// The program in this process.
testing::Output run_here(std::vector<std::string> words) {
    const testing::TemporaryFolder folder;
    words.insert(words.begin(), "flashstep");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    const std::string files[2] = {folder.file("out"), folder.file("err")};
    int kept[2];
    for (int k : {0, 1}) {
        std::fflush(k == 0 ? stdout : stderr);
        kept[k] = ::dup(k + 1);
        const int file = ::open(files[k].c_str(), O_WRONLY | O_CREAT, 0600);
        ::dup2(file, k + 1);
        ::close(file);
    }
    const int status = cli::run(static_cast<int>(argv.size()), argv.data(), nullptr);
    for (int k : {0, 1}) {
        std::fflush(k == 0 ? stdout : stderr);
        ::dup2(kept[k], k + 1);
        ::close(kept[k]);
    }
    return {status, testing::text_of(files[0]), testing::text_of(files[1])};
}

}  // namespace

TEST_CASE("A device that can be used is named with its target, versions and memory") {
    become(usual());
    const DeviceStatus status = device_status();
    CHECK(status.built);
    CHECK(status.available);
    CHECK(status.name == "FAKE, not a device");
    CHECK(status.capability == usual());
    CHECK(status.memory_bytes == 64 << 20);
    CHECK(status.runtime == fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10));
    CHECK(status.driver == status.runtime);
    CHECK(contains(status.message.en, fmt::format("sm_{}", usual())));
    for (std::string_view id : kSome) check_good_run(kernel_named(id));
}

TEST_CASE(
    "No driver, an old one, no device, an old one and one without code each say so before anything is allocated") {
    struct Case {
        const char* what;
        void (*make)();
        std::vector<std::string> words;
    };
    const std::vector<Case> cases{
        {"no driver", [] { fake_cuda().driver = 0; }, {"no driver", "install"}},
        {"old driver", [] { fake_cuda().driver = 11080; }, {"for CUDA 11.8", "needed is", "later driver"}},
        {"no device", [] { fake_cuda().devices = 0; }, {"no CUDA device", "CUDA_VISIBLE_DEVICES"}},
        {"old device", [] { become(61); }, {"FAKE, not a device is sm_61", "sm_75 or later"}},
        {"two devices", [] { become(61), fake_cuda().devices = 2; }, {"choose another", "CUDA_VISIBLE_DEVICES"}},
    };
    for (const Case& one : cases) {
        CAPTURE(one.what);
        restart_fake_cuda();
        one.make();
        const DeviceStatus status = device_status();
        CHECK(status.built);
        CHECK_FALSE(status.available);
        CHECK_FALSE(contains(status.message.en, "\n"));
        for (const std::string& word : one.words) CHECK_MESSAGE(contains(status.message.en, word), status.message.en);
        CHECK(fake_cuda().last == cudaSuccess);
        for (std::string_view id : kSome) CHECK(failure_of(kernel_named(id)) == status.message.en);
        CHECK(std::ranges::count(fake_cuda().calls, "cudaMalloc") == 0);
        become(usual());
        check_good_run(kernel_named(kSome[0]));
    }
}

TEST_CASE(
    "A device of a generation that this build has no code for is not usable, and the message says what to configure") {
    if (cuda::built_with_ptx()) return;  // any later one compiles it
    become(999);
    const DeviceStatus status = device_status();
    CHECK_FALSE(status.available);
    CHECK(status.code == 0);
    for (int architecture : cuda::built_architectures())
        CHECK(contains(status.message.en, fmt::format("sm_{}", architecture)));
    CHECK(contains(status.message.en, "999-real in CMAKE_CUDA_ARCHITECTURES"));
}

TEST_CASE("Machine code serves its own generation, PTX every later one") {
    const std::vector<int> all{75, 80, 86, 89, 90, 100, 120}, old{75}, gap{80, 90};
    CHECK(cuda::code_for(75, all, false) == 75);
    CHECK(cuda::code_for(87, all, false) == 86);
    CHECK(cuda::code_for(103, all, false) == 100);
    CHECK(cuda::code_for(110, all, false) == 0);
    CHECK(cuda::code_for(110, all, true) == 100);
    CHECK(cuda::code_for(121, all, false) == 120);
    CHECK(cuda::code_for(80, old, false) == 0);
    CHECK(cuda::code_for(80, old, true) == 75);
    CHECK(cuda::code_for(89, gap, true) == 80);
    CHECK(cuda::code_for(75, gap, true) == 0);
}

TEST_CASE(
    "On every device each rung runs, or is refused with rung, format, device and targets before anything is "
    "allocated") {
    int refused = 0;
    for (int capability : {75, 80, 86, 87, 89, 90, 100, 103, 120, 121}) {
        if (!has_code_for(capability)) continue;
        for (const KernelInfo& kernel : kernels()) {
            for (DType dtype : kernel.dtypes) {
                become(capability);
                CAPTURE(capability);
                CAPTURE(kernel.id);
                const bool from_sm_80 = dtype == DType::Bf16 || kernel.targets.front() == 80;
                std::string text;
                try {
                    run(kernel, problem_for(kernel, dtype));
                } catch (const Error& error) { text = text_of(error); }
                CAPTURE(text);
                if (capability >= 80 || !from_sm_80) {
                    CHECK(text.empty());
                    CHECK(!fake_cuda().launched.empty());
                    continue;
                }
                ++refused;
                CHECK(contains(text, fmt::format("{} in {} runs on sm_80, sm_86", kernel.id, name(dtype))));
                CHECK(contains(text, fmt::format("not on sm_{} ({})", capability, fake_cuda().name)));
                CHECK(contains(text, "--on host"));
                CHECK(std::ranges::count(fake_cuda().calls, "cudaMalloc") == 0);
            }
        }
    }
    if (has_code_for(75)) CHECK(refused >= 7);
}

TEST_CASE("A device that could, but runs this build's code for an older target, is told what to configure") {
    DeviceStatus device{.built = true, .available = true, .name = "A", .message = {}, .capability = 80, .code = 75};
    CHECK_NOTHROW(check_device(kernel_named("fa2_forward_3_mma"), DType::Fp16, device));
    for (const auto& [id, dtype] :
         {std::pair{"fa2_forward_3_mma", DType::Bf16}, {"fa2_forward_5_cp_async", DType::Fp16}}) {
        try {
            check_device(kernel_named(id), dtype, device);
            FAIL("not refused");
        } catch (const Error& error) {
            CHECK(contains(error.what(), "A (sm_80)"));
            CHECK(contains(error.what(), "sm_75"));
            CHECK(contains(error.hint(), "80-real in CMAKE_CUDA_ARCHITECTURES"));
        }
    }
}

TEST_CASE("The bench skips a rung that is not for the device, with the reason") {
    if (!has_code_for(75)) return;
    become(75);
    const auto rows = bench_ladder({&kernel_named("fa2_forward_5_cp_async")}, bench_schedule(), prepare_on_device, {},
                                   [](const auto&) {});
    CHECK(rows.size() == 24);
    for (const BenchRow& row : rows) CHECK_MESSAGE(contains(row.skipped, "not on sm_75"), row.skipped);
    CHECK(fake_cuda().launched.empty());
}

TEST_CASE("The command line says it: device, a rung that is not for the device, and a run without enough memory") {
    become(usual());
    auto output = run_here({"device", "--json"});
    CHECK(output.status == 0);
    io::Json json = io::Json::parse(output.out);
    CHECK(json.at("available") == true);
    CHECK(json.at("name") == fake_cuda().name);
    CHECK(json.at("target") == fmt::format("sm_{}", usual()));
    CHECK(json.at("driver") == json.at("runtime"));
    CHECK(json.at("memory_bytes") == 64 << 20);
    output = run_here({"device"});
    CHECK((output.status == 0 && contains(output.out, fake_cuda().name) &&
           contains(output.out, fmt::format("sm_{}", usual()))));
    fake_cuda().memory = 100;
    output = run_here({"check", "fa2_forward_1_tile", "--on", "cuda"});
    CHECK(output.status == 1);
    CHECK_MESSAGE(contains(output.out, "cudaErrorMemoryAllocation"), output.out);
    CHECK_MESSAGE(contains(output.out, "try a smaller problem"), output.out);
    check_nothing_left();
    if (has_code_for(75)) {
        become(75);
        output = run_here({"check", "fa2_forward_5_cp_async", "--on", "cuda"});
        CHECK((output.status == 77 && output.out.empty()));
        CHECK_MESSAGE(contains(output.err, "fa2_forward_5_cp_async in fp16 runs on sm_80"), output.err);
        CHECK_MESSAGE(contains(output.err, "not on sm_75 (FAKE, not a device)"), output.err);
        // All kernels in bf16: those of fp32 cannot, those of tensor cores not here.
        output = run_here({"check", "all", "--dtype", "bf16", "--d", "64", "--n", "64", "--on", "cuda", "--json"});
        CHECK((output.status == 77 && contains(output.err, "fa2_forward_3_mma in bf16 runs on sm_80")));
        output = run_here({"check", "all", "--dtype", "fp16", "--d", "64", "--n", "64", "--on", "cuda", "--json"});
        CHECK(output.status == 1);  // what ran wrote zeros
        json = io::Json::parse(output.out);
        std::map<std::string, bool> ran;
        for (const io::Json& row : json.at("kernels")) ran[row.at("kernel")] = true;
        for (const io::Json& row : json.at("left_out")) ran[row.at("kernel")] = false;
        CHECK((ran.at("fa2_forward_3_mma") && ran.at("fa2_forward_4_swizzle")));
        CHECK_FALSE((ran.at("fa2_forward_5_cp_async") || ran.at("fa2_backward_3_mma")));
    }
    restart_fake_cuda();
    fake_cuda().driver = 0;
    output = run_here({"device", "--json"});
    json = io::Json::parse(output.out);
    CHECK(output.status == 77);
    CHECK((json.at("available") == false && json.at("driver").is_null() && json.at("target").is_null()));
    CHECK(contains(json.at("message").get<std::string>(), "no driver"));
    output = run_here({"check", "fa2_forward_1_tile", "--on", "cuda"});
    CHECK((output.status == 77 && contains(output.err, "no driver") && output.out.empty()));
    restart_fake_cuda();
}

}  // namespace flashstep::gpu
