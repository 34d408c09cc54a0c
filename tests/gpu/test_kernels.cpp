// Every kernel of the ladder, run by the executor with all checks on: values against a double reference (fp32), bytes
// against closed forms, and each of its barriers needed.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "core/algorithms.h"
#include "core/compare.h"
#include "core/error.h"
#include "gpu/host_tensor.h"
#include "gpu/run.h"
#include "gpu/rungs.h"
#include "gpu/simt/executor.h"
#include "tests/gpu/kernel_problems.h"
#include "tests/gpu/kernel_reference.h"
#include "tests/gpu/kernel_sources.h"

namespace flashstep::gpu {

namespace {

std::string error_of(const KernelInfo& kernel, const Problem& p, const RunOptions& options = {}) {
    try {
        run_kernel(kernel, p, inputs_of(p), options);
    } catch (const Error& error) { return error.what(); }
    return {};
}

const KernelInfo& fa2() { return *find_kernel("fa2_forward_1_tile"); }

// `small` for kernels that have any blocks, `large` for those with tiles of tensor cores.
std::vector<Problem> problems_for(const Variant& v, const std::vector<Problem>& small,
                                  const std::vector<Problem>& large) {
    std::vector<Problem> all;
    for (const Problem& p : v.on_tensor_cores() ? large : small) all.push_back(fitted(v, p));
    return all;
}

bool depends_on_order(const KernelInfo& kernel, const std::string& slot) {
    return std::ranges::find(kernel.order_dependent, slot) != kernel.order_dependent.end();
}

// A source line that holds a barrier or waits for asynchronous copies.
struct Wait {
    std::string file;
    int line;
};

std::vector<Wait> waits_of(const KernelInfo& kernel) {
    std::vector<Wait> waits;
    for (const testing::Source& source : testing::sources_of(kernel)) {
        std::istringstream text(source.text);
        int number = 0;
        for (std::string line; std::getline(text, line);) {
            ++number;
            for (const char* word : {" sync_block();", " sync_warp();", " cp_async_wait<"}) {
                if (line.find(word) != std::string::npos) waits.push_back({source.path, number});
            }
        }
    }
    return waits;
}

// Whether the executor finds a race or unwritten memory where that line's barrier or wait does nothing.
bool caught_without(const Wait& wait, const KernelInfo& kernel, const Problem& p, std::uint64_t seed) {
    const Rung& row = rung(kernel.id);
    const AttentionShape shape = shape_of(kernel, p);
    simt::Executor machine({.seed = seed, .launches = row.launches, .without_barrier = {wait.file.c_str(), wait.line}});
    for (const TensorSpec& spec : row.tensors(shape)) {
        const std::vector<float> ones(static_cast<std::size_t>(spec.count()), 1.0f);
        const std::string name(spec.name);
        const std::int64_t bytes = bytes_of(spec.element);
        if (spec.role == TensorRole::Input) machine.add_input(name, encoded(ones, spec.element), bytes);
        if (spec.role == TensorRole::Output) machine.add_output(name, spec.count(), bytes);
        if (spec.role == TensorRole::Temporary) machine.add_temporary(name, spec.count(), bytes);
    }
    try {
        row.launch_on_host(machine, shape, nullptr);
    } catch (const Error& error) {
        const std::string what = error.what();
        for (const char* finding : {"race on ", "which nobody has written", "asynchronous cop"}) {
            if (what.find(finding) != std::string::npos) return true;
        }
        FAIL(what);
    }
    return false;
}

}  // namespace

TEST_CASE(
    "On every shape every kernel agrees with a double reference in each captured value and with its mirror algorithm, "
    "and its HBM bytes equal its closed form") {
    for (const KernelInfo& kernel : fp32_kernels()) {
        const Algorithm* algorithm = find_algorithm(kernel.algorithm);
        REQUIRE_MESSAGE(algorithm, std::string(kernel.algorithm));
        double worst = 0;
        for (const Problem& p : problems()) {
            CAPTURE(kernel.id);
            CAPTURE(text(p));
            const Inputs inputs = inputs_of(p);
            const KernelRun run = run_kernel(kernel, p, inputs, {});
            CHECK(!run.captured.empty());
            worst = std::max(worst, check_against_reference(kernel.algorithm, p, inputs, run));
            const Trace mirror = record(*algorithm, p, inputs);
            const auto bytes = own_bytes(kernel, p);
            const Comparison c = compare(mirror, run, kernel.bytes_equal_mirror ? bytes_of(mirror) : bytes);
            CHECK_MESSAGE(c.verdict == Verdict::Equal, (c.first ? describe(*c.first, p) : std::string()));
            CHECK(c.bytes_equal);
            CHECK(run.hbm == bytes);
        }
        MESSAGE(std::string(kernel.id), ": largest error is ", worst, " of the tolerance");
    }
}

TEST_CASE("HBM bytes equal the closed form, tensor by tensor, in 16 bits and with the checks off too") {
    for (const Variant& v : variants()) {
        CAPTURE(text(v));
        for (const Problem& p : problems_for(v, problems(), tensor_core_problems())) {
            CAPTURE(text(p));
            for (Checks checks : {Checks::On, Checks::Off}) {
                if (checks == Checks::On && !v.on_tensor_cores()) continue;  // the case above has it
                RunOptions options;
                options.checks = checks;
                CHECK(run_kernel(v.kernel, p, inputs_of(p), options).hbm == own_bytes(v.kernel, p));
            }
        }
    }
}

TEST_CASE(
    "FA2's bytes are 2nd + n + 2 T_r n d elements without a mask, and naive standard attention is far above 4nd + "
    "4n^2") {
    const Problem p = problem(64, 64, 16, 16, 16, 16);
    const auto total = [&](const KernelInfo& kernel) {
        std::int64_t sum = 0;
        for (const auto& [name, bytes] : own_bytes(kernel, p)) sum += bytes.read + bytes.write;
        return sum;
    };
    CHECK(total(fa2()) == 4 * (2 * 64 * 16 + 64 + 2 * 4 * 64 * 16));
    CHECK(total(*find_kernel("standard_1_naive")) == 4 * (4 * 64 * 64 * 16 + 64 * 16 + 5 * 64 * 64));
}

TEST_CASE("Every slot that the registry promises is captured, for exactly the visible tiles, and no other") {
    for (const Variant& v : variants()) {
        CAPTURE(text(v));
        const KernelInfo& kernel = v.kernel;
        for (const Problem& p :
             problems_for(v, {problem(5, 9, 3, 2, 2, 2, true), problem(9, 4, 3, 2, 2, 2, true)},
                          {problem(140, 230, 3, 2, 64, 64, true), problem(200, 70, 3, 2, 64, 64, true)})) {
            CAPTURE(text(p));
            const KernelRun run = run_kernel(kernel, p, inputs_of(p), {});
            const AttentionShape tiles = shape_of(kernel, p);
            std::size_t expected = 0;
            for (std::string_view slot : kernel.slots) {
                const bool whole = run.captured.contains({std::string(slot), 0, -1, -1});
                for (int i = 0; !whole && i < tiles.row_blocks(); ++i) {
                    for (int j = 0; j < tiles.col_blocks(); ++j) {
                        CHECK(run.captured.contains({std::string(slot), 0, i, j}) == (j < tiles.visible_blocks(i)));
                    }
                    expected += static_cast<std::size_t>(tiles.visible_blocks(i));
                }
                expected += whole;
            }
            CHECK(run.captured.size() == expected);
        }
    }
}

TEST_CASE("Without capture a kernel gives the same outputs and nothing else") {
    for (const Variant& v : variants()) {
        CAPTURE(text(v));
        const KernelInfo& kernel = v.kernel;
        const Problem p =
            problems_for(v, {problem(33, 35, 8, 6, 16, 8, true)}, {problem(130, 140, 40, 24, 64, 64, true)})[0];
        for (Checks checks : {Checks::On, Checks::Off}) {
            RunOptions options;
            options.checks = checks;
            const KernelRun full = run_kernel(kernel, p, inputs_of(p), options);
            options.capture = Capture::Off;
            const KernelRun bare = run_kernel(kernel, p, inputs_of(p), options);
            CHECK(bare.hbm == full.hbm);
            CHECK(bare.counters == full.counters);
            std::size_t outputs = 0;
            for (const TensorSpec& spec : rung(kernel.id).tensors(shape_of(kernel, p))) {
                outputs += spec.role == TensorRole::Output;
                if (spec.role == TensorRole::Output) CHECK(bare.captured.contains({std::string(spec.name), 0, -1, -1}));
            }
            CHECK(outputs > 0);
            CHECK(bare.captured.size() == outputs);
            for (const auto& [key, values] : bare.captured) {
                if (!depends_on_order(kernel, key.slot)) CHECK(values == full.captured.at(key));
            }
        }
    }
}

TEST_CASE("The order of blocks and threads changes no bit, except where the registry says so") {
    for (const Variant& v : variants()) {
        CAPTURE(text(v));
        for (const Problem& p : problems_for(
                 v, {problem(37, 41, 5, 7, 8, 8, true), problem(5, 5, 3, 3, 2, 2)},
                 {shared_heads(problem(130, 140, 40, 24, 64, 64, true), 2, 1), problem(65, 65, 128, 128, 64, 64)})) {
            RunOptions options;
            const KernelRun first = run_kernel(v.kernel, p, inputs_of(p), options);
            for (std::uint64_t seed : {2u, 3u, 99u}) {
                options.seed = seed;
                KernelRun other = run_kernel(v.kernel, p, inputs_of(p), options);
                CHECK(other.hbm == first.hbm);
                CHECK(other.counters == first.counters);
                REQUIRE(other.captured.size() == first.captured.size());
                for (const auto& [key, values] : first.captured) {
                    if (!depends_on_order(v.kernel, key.slot)) CHECK(values == other.captured.at(key));
                }
            }
        }
    }
}

TEST_CASE("The result does not depend on the blocks") {
    const Problem base = problem(13, 17, 6, 5, 13, 17, true);
    const Inputs inputs = make_inputs(base);
    const Matrix O = run_kernel(fa2(), base, inputs, {}).captured.at({"O", 0, -1, -1});
    for (int br : {1, 2, 5, 13, 40}) {
        for (int bc : {1, 3, 16, 17, 40}) {
            Problem p = base;
            p.br = br, p.bc = bc;
            const Matrix other = run_kernel(fa2(), p, inputs, {}).captured.at({"O", 0, -1, -1});
            CHECK((other - O).cwiseAbs().maxCoeff() < 1e-6);
        }
    }
}

TEST_CASE(
    "Every barrier and wait of every kernel is needed: without it, the executor finds a race or unwritten memory") {
    int waits = 0;
    for (const Variant& v : variants()) {
        CAPTURE(text(v));
        // Each head dimension that a kernel is made for is code of its own. Rows come 16 bytes at a time there:
        // otherwise nothing is copied asynchronously. Three tiles take the first stage a second time; where n > nk, a
        // block of rows has no tiles.
        std::vector<std::vector<Problem>> sets;
        for (int d : v.kernel.head_dims)
            sets.push_back({shared_heads(problem(65, 130, d, d, 64, 64), 2, 1), problem(130, 1, d, d, 64, 64, true)});
        if (sets.empty())
            sets = {{problem(9, 3, 3, 3, 4, 2, true), problem(8, 8, 8, 8, 8, 4), problem(8, 32, 4, 4, 4, 16)}};
        const std::vector<Wait> lines = waits_of(v.kernel);
        waits += static_cast<int>(lines.size());
        for (const Wait& wait : lines) {
            for (const std::vector<Problem>& set : sets) {
                for (std::uint64_t seed : {1u, 2u, 3u}) {
                    const bool caught = std::ranges::any_of(
                        set, [&](const Problem& p) { return caught_without(wait, v.kernel, fitted(v, p), seed); });
                    CHECK_MESSAGE(caught, wait.file, ":", wait.line, " d ", set[0].d, " seed ", seed);
                }
            }
        }
    }
    CHECK(waits > 0);
}

TEST_CASE("What a kernel cannot run is refused with the numbers") {
    const auto says = [](const std::string& message, std::string_view part) {
        INFO(message);
        CHECK(message.find(part) != std::string::npos);
    };
    Problem large = problem(512, 512, 256, 256, 128, 128);
    says(error_of(fa2(), large), "need 656896 bytes");
    says(error_of(fa2(), large), "allows 232448");
    CHECK_THROWS_AS(check_runnable(fa2(), large), Error);
    Problem middle = problem(64, 64, 64, 64, 64, 64);  // 99,072 bytes
    RunOptions options;
    options.target = 75;
    says(error_of(fa2(), middle, options), "needs 99072 bytes of shared memory, sm_75 allows 65536");
    options.target = 86;
    CHECK(error_of(fa2(), middle, options) == "");
    Problem half = middle;
    half.dtype = DType::Fp16;
    says(error_of(fa2(), half), "does not run fp16");
    half.dtype = DType::Exact;
    CHECK(error_of(fa2(), half) == "");
    options.target = 42;
    says(error_of(fa2(), middle, options), "unknown target sm_42");
    options = {};
    options.where = Where::Recorded;
    CHECK(error_of(fa2(), middle, options) != "");
    CHECK(find_kernel("no_such_kernel") == nullptr);
}

TEST_CASE("A run can be cancelled from the start, and reports full progress at its end") {
    const Problem p = problem(32, 32, 8, 8, 8, 8);
    for (const KernelInfo& kernel : fp32_kernels()) {
        std::atomic<bool> cancel = false;
        std::atomic<float> progress = 0;
        RunOptions options;
        options.cancel = &cancel, options.progress = &progress;
        CHECK(error_of(kernel, p, options) == "");
        CHECK(progress == 1.0f);
        cancel = true;
        CHECK(error_of(kernel, p, options) == "cancelled");
    }
}

TEST_CASE("The counters of FA2 follow from its loops") {
    const Problem p = problem(64, 64, 8, 8, 16, 16);
    const KernelRun run = run_kernel(fa2(), p, inputs_of(p), {});
    std::map<std::string, std::int64_t> counters(run.counters.begin(), run.counters.end());
    CHECK(counters.at("block barriers") == 4 * (1 + 4 * 4));
    CHECK(counters.at("exponentials") == 64 * 4 * (16 + 1));  // per row and tile: B_c of P, one rescale
    CHECK(counters.at("shared wavefronts") > counters.at("shared wavefronts, ideal"));
}

TEST_CASE("Rows over warps: two block barriers a tile, and the same values within rounding") {
    const Problem p = problem(64, 64, 8, 8, 16, 16);
    const KernelInfo& warps = *find_kernel("fa2_forward_2_warps");
    const KernelRun run = run_kernel(warps, p, inputs_of(p), {}), tile = run_kernel(fa2(), p, inputs_of(p), {});
    std::map<std::string, std::int64_t> counters(run.counters.begin(), run.counters.end());
    CHECK(counters.at("block barriers") == 4 * 4 * 2);
    CHECK(counters.at("warp barriers") == 4 * 4 * (1 + 4));
    CHECK(counters.at("shuffles") == 64 * 4 * 2 * 5);  // per row and tile: two exchanges of five steps
    CHECK(run.hbm == tile.hbm);
    for (const auto& [key, values] : tile.captured) CHECK((values - run.captured.at(key)).cwiseAbs().maxCoeff() < 1e-5);
}

TEST_CASE("Registry and run table agree: every kernel has its source file, its algorithm, its targets and its rung") {
    for (const KernelInfo& kernel : kernels()) {
        CAPTURE(kernel.id);
        CHECK(std::ifstream(FLASHSTEP_SOURCE_DIR "/gpu/kernels/" + std::string(kernel.id) + ".cuh").good());
        CHECK(find_algorithm(kernel.algorithm) != nullptr);
        CHECK(rung(kernel.id).id == kernel.id);
        CHECK(find_kernel(kernel.id) == &kernel);
        CHECK(!kernel.dtypes.empty());
        CHECK(!kernel.title.en.empty());
        CHECK(!kernel.title.zh.empty());
        CHECK(std::ranges::is_sorted(kernel.targets));
        for (Target target : kernel.targets) CHECK(opt_in_shared_bytes(target) > 0);
    }
}

}  // namespace flashstep::gpu
