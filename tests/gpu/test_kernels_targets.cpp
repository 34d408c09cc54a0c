// Where a rung is there and where it is not: registry, build and the code that an older target gets say the same.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "gpu/describe.h"
#include "gpu/ladder.h"
#include "gpu/run.h"
#include "tests/gpu/nvcc.h"
#include "tests/program.h"

namespace flashstep::gpu {

namespace {

using testing::contains;
using testing::text_of;

bool on_sm_75(const KernelInfo& kernel, DType dtype) {
    const std::vector<Target> targets = targets_of(kernel, dtype);
    return std::ranges::find(targets, 75) != targets.end();
}

// Whether the source of the kernel that an entry function belongs to has cp.async in it.
bool copies_asynchronously(const std::string& entry) {
    const KernelInfo* owner = testing::owner_of(entry);
    REQUIRE(owner != nullptr);
    return contains(text_of(fmt::format("{}/gpu/kernels/{}.cuh", FLASHSTEP_SOURCE_DIR, owner->id)), "cp_async_");
}

// A rung that is not in the ladder.
struct Planted : Softmax1Naive {
    static constexpr std::string_view id = "planted";
    static constexpr std::array targets{Target(80), Target(90, 'a')};
};

}  // namespace

TEST_CASE("bf16 starts at sm_80 on every rung, and a rung's other formats are there on all its targets") {
    for (const KernelInfo& kernel : kernels())
        for (DType dtype : kernel.dtypes) {
            CAPTURE(kernel.id);
            CHECK(on_sm_75(kernel, dtype) == (dtype != DType::Bf16 && kernel.targets.front() == 75));
            CHECK(targets_of(kernel, dtype).back() == kernel.targets.back());
        }
}

TEST_CASE(
    "What the build says of sm_75 names, of each family, the first rung that is not for it; the later ones are not "
    "either") {
    const std::string says = text_of(FLASHSTEP_SOURCE_DIR "/cmake/cuda.cmake");
    std::set<std::string_view> families;
    for (const KernelInfo& kernel : kernels()) {
        const std::string_view family = kernel.id.substr(0, kernel.id.find_first_of("0123456789", 3));
        CAPTURE(kernel.id);
        if (families.contains(family)) CHECK(kernel.targets.front() == 80);
        if (kernel.targets.front() == 75 || !families.insert(family).second) continue;
        CHECK(contains(says, kernel.id));
    }
    CHECK(families.size() == 2);
}

TEST_CASE("A rung for a variant of an architecture runs there alone, and one for the architecture runs on it too") {
    const KernelInfo planted = info_of<Planted>();
    CHECK(text(planted.targets) == "sm_80, sm_90a");
    CHECK_NOTHROW(check_target(planted, DType::Fp32, 80));
    CHECK_NOTHROW(check_target(planted, DType::Fp32, {90, 'a'}));
    CHECK_THROWS_WITH_AS(check_target(planted, DType::Fp32, 90),
                         "planted runs on sm_80, sm_90a with fp32, not on sm_90", Error);
    CHECK_THROWS_WITH_AS(check_target(planted, DType::Fp32, {100, 'a'}),
                         "planted runs on sm_80, sm_90a with fp32, not on sm_100a", Error);
    CHECK_THROWS_WITH_AS(check_target(planted, DType::Fp32, {80, 'a'}), "unknown target sm_80a", Error);
    CHECK_NOTHROW(check_target(*find_kernel("softmax_1_naive"), DType::Fp32, {90, 'a'}));
    CHECK(opt_in_shared_bytes({90, 'a'}) == opt_in_shared_bytes(90));
    CHECK(Target(90) < Target(90, 'a'));
    CHECK(Target(90, 'a') < Target(100));
    DeviceStatus device{.available = true, .name = "a device", .capability = 90, .code = 90};
    CHECK_NOTHROW(check_device(planted, DType::Fp32, device));
    device.capability = device.code = 100;
    CHECK_THROWS_AS(check_device(planted, DType::Fp32, device), Error);
}

TEST_CASE("The build compiles for what the rungs list, no more and no less") {
    const std::string says = text_of(FLASHSTEP_SOURCE_DIR "/cmake/cuda.cmake");
    std::set<Target> targets;
    for (const KernelInfo& kernel : kernels()) targets.insert(kernel.targets.begin(), kernel.targets.end());
    std::string list;
    for (const Target target : targets) list += ' ' + text(target);
    CHECK_MESSAGE(contains(says, "set(FLASHSTEP_CUDA_TARGETS" + list + ")"), list);
}

TEST_CASE("Compiled for sm_75, a rung that is not for it traps: it never does nothing") {
    const std::string compiler = testing::nvcc();
    if (compiler.empty()) {
        MESSAGE("skipped: no nvcc");
        std::exit(77);
    }
    const testing::TemporaryFolder folder;
    std::ofstream unit(folder.file("all.cu"));
    unit << testing::launches_of_ladder("R::targets.front() > 75 || R::dtypes.back() == flashstep::DType::Bf16");
    unit.close();
    const std::string command =
        fmt::format("{0} -std=c++20 -O3 -ptx -arch=compute_75 -I{1} -o {2}/all.ptx {2}/all.cu > {2}/log 2>&1", compiler,
                    FLASHSTEP_SOURCE_DIR, folder.path());
    REQUIRE_MESSAGE(std::system(command.c_str()) == 0, text_of(folder.file("log")));
    int trapped = 0, computed = 0;
    for (const auto& named : testing::entries_of(text_of(folder.file("all.ptx")))) {
        const std::string &name = named.first, &entry = named.second;
        CAPTURE(name);
        const KernelInfo* owner = testing::owner_of(name);
        REQUIRE(owner != nullptr);
        if (owner->targets.front() == 75 && owner->dtypes.back() != DType::Bf16) continue;  // its header brought it along
        if (contains(name, "row_sums")) {  // D: no product and no copy in it
            CHECK(contains(entry, "st.global"));
        } else if (contains(name, "BFloat") || copies_asynchronously(name)) {
            CHECK(contains(entry, "trap;"));
            ++trapped;
        } else {
            CHECK(contains(entry, "mma.sync.aligned.m16n8k8"));
            CHECK(contains(entry, "st.global"));
            CHECK_FALSE(contains(entry, "trap;"));
            ++computed;
        }
    }
    CHECK(trapped >= 16);
    CHECK(computed >= 4);
}

}  // namespace flashstep::gpu
