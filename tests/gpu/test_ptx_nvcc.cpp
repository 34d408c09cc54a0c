// What nvcc makes of kernels, run here: the same functions as the host compiler's, bit for bit, and the ladder against
// its mirrors. Needs nvcc.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "core/algorithms.h"
#include "core/compare.h"
#include "gpu/check_table.h"
#include "gpu/ptx/compile.h"
#include "gpu/run.h"
#include "tests/gpu/ptx_functions.h"
#include "tests/gpu/ptx_machine.h"
#include "tests/program.h"

namespace flashstep::gpu {

namespace {

void need_nvcc() {
    if (ptx::why_not_compile().empty()) return;
    MESSAGE("skipped: " << ptx::why_not_compile());
    std::exit(77);
}

bool is_nan(std::uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

Comparison run_beside_mirror(const KernelInfo& kernel, const Problem& problem, const Inputs& inputs,
                             const Trace& mirror, RunOptions options) {
    options.where = Where::Ptx;
    const KernelRun run = run_kernel(kernel, problem, inputs, options);
    return compare(mirror, run, expected_bytes(kernel, problem, mirror, run));
}

}  // namespace

TEST_CASE("Small functions give the bits that the host compiler's do") {
    need_nvcc();
    std::string unit = "#include \"tests/gpu/ptx_functions.h\"\nusing namespace flashstep::testing;\n";
    for (int k = 0; k < testing::kFunctions; ++k)
        unit += fmt::format(
            "extern \"C\" __global__ void f{}(const unsigned* a, const unsigned* b, unsigned* c) {{ const int t = "
            "blockIdx.x * blockDim.x + threadIdx.x; c[t] = function({}, a[t], b[t]); }}\n",
            k, k);
    std::mt19937 random(7);
    std::vector<std::uint32_t> a, b;
    constexpr std::uint32_t kEdges[] = {0,          1,          2,          31,         32,         0x7fffffff,
                                        0x80000000, 0xffffffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000,
                                        0xbf800000, 0x00000001, 0x00800000, 0x4b000000};
    for (const std::uint32_t x : kEdges)
        for (const std::uint32_t y : kEdges) a.push_back(x), b.push_back(y);
    while (a.size() < 1024) {
        a.push_back(random()), b.push_back(a.size() % 3 == 0 ? random() % 40 : random());
        if (a.size() % 5 == 0) a.back() = a.back() % 0x01000000 + 0x3f000000;  // numbers near 1
    }
    const auto module = ptx::compile_unit(unit, "functions", 80);
    REQUIRE(module->entries.size() == testing::kFunctions);
    for (int k = 0; k < testing::kFunctions; ++k) {
        CAPTURE(k);
        const auto entry = std::ranges::find(module->entries, fmt::format("f{}", k), &ptx::Entry::name);
        REQUIRE(entry != module->entries.end());
        ptx::Machine machine(*module);
        machine.choose(*entry);
        simt::Executor executor({.target = 80, .front = &machine});
        executor.add_input<std::uint32_t>("a", a);
        executor.add_input<std::uint32_t>("b", b);
        executor.add_output<std::uint32_t>("c", static_cast<std::int64_t>(a.size()));
        std::vector<std::vector<std::byte>> parameters;
        for (const simt::Tensor& tensor : executor.tensors()) {
            parameters.emplace_back(8);
            std::memcpy(parameters.back().data(), &tensor.address, 8);
        }
        const Launch launch{.name = "f", .grid = {static_cast<int>(a.size()) / 128, 1, 1}, .block = {128, 1, 1}};
        executor.run_in_front({&launch, &typeid(void), parameters});
        const auto out = executor.values<std::uint32_t>("c");
        for (std::size_t e = 0; e < a.size(); ++e) {
            const std::uint32_t right = testing::function(k, a[e], b[e]);
            const bool floats = k >= 9 && k <= 12;
            if (floats && is_nan(right) && is_nan(out[e])) continue;
            if (k == 22 && is_nan(right)) continue;
            CAPTURE(a[e]);
            CAPTURE(b[e]);
            CHECK(out[e] == right);
        }
    }
}

TEST_CASE("Every kernel's PTX is known, and has an entry for each format, head dimension and probe") {
    need_nvcc();
    for (const KernelInfo& kernel : kernels()) {
        const auto module = ptx::compile_kernel(kernel.id, 80);
        for (const ptx::Entry& entry : module->entries) {
            CAPTURE(entry.demangled);
            for (const ptx::Unknown& unknown : ptx::unknown_in(*module, entry)) FAIL_CHECK(unknown.what);
        }
    }
}

TEST_CASE("Each kernel as nvcc makes it is its mirror's equal on a shape of each kind") {
    need_nvcc();
    int runs = 0;
    for (const KernelInfo& kernel : kernels()) {
        const auto module = ptx::compile_kernel(kernel.id, 80);
        for (const std::size_t number :
             {std::size_t{0}, std::size_t{7}, std::size_t{11}, std::size_t{12}, std::size_t{14}}) {
            const CheckShape& shape = check_table()[number];
            for (const DType dtype : kernel.dtypes) {
                Problem problem = problem_of(shape, kernel);
                problem.dtype = dtype;
                try {
                    check_runnable(kernel, problem);
                } catch (const Error&) { continue; }
                const Inputs inputs = inputs_of(shape, problem);
                const Trace mirror = record(*find_algorithm(kernel.algorithm), problem, inputs);
                for (const Capture capture : {Capture::On, Capture::Off}) {
                    CAPTURE(kernel.id);
                    CAPTURE(number);
                    CAPTURE(name(dtype));
                    RunOptions options;
                    options.ptx = module;
                    options.capture = capture;
                    options.seed = number + 1;
                    const Comparison comparison = run_beside_mirror(kernel, problem, inputs, mirror, options);
                    CHECK(comparison.verdict == Verdict::Equal);
                    ++runs;
                }
            }
        }
    }
    CHECK(runs >= 120);
}

TEST_CASE("The seed changes no bit of what does not depend on the order of threads") {
    need_nvcc();
    for (const char* id : {"fa2_forward_5_cp_async", "fa2_forward_2_warps"}) {
        const KernelInfo& kernel = *find_kernel(id);
        const auto module = ptx::compile_kernel(id, 80);
        const CheckShape& shape = check_table()[12];
        const Problem problem = problem_of(shape, kernel);
        const Inputs inputs = inputs_of(shape, problem);
        std::map<SlotKey, Matrix> first;
        for (std::uint64_t seed = 1; seed < 4; ++seed) {
            RunOptions options;
            options.where = Where::Ptx;
            options.ptx = module;
            options.seed = seed;
            const KernelRun run = run_kernel(kernel, problem, inputs, options);
            if (seed == 1) first = run.captured;
            CHECK(run.captured == first);
            CHECK(run.instructions.lanes > 0);
            CHECK(!run.instructions.lines.empty());
        }
    }
}

TEST_CASE("Every target's PTX runs") {
    need_nvcc();
    const KernelInfo& kernel = *find_kernel("fa2_forward_4_swizzle");
    const CheckShape& shape = check_table()[8];
    for (const Target target : {Target(75), Target(86), Target(90), Target(100), Target(120)}) {
        CAPTURE(text(target));
        RunOptions options;
        options.ptx = ptx::compile_kernel(kernel.id, target);
        Problem problem = problem_of(shape, kernel);
        problem.mask = MaskShape::None;
        const Inputs inputs = inputs_of(shape, problem);
        const Trace mirror = record(*find_algorithm(kernel.algorithm), problem, inputs);
        CHECK(run_beside_mirror(kernel, problem, inputs, mirror, options).verdict == Verdict::Equal);
    }
}

}  // namespace flashstep::gpu
