// What the CUDA compiler makes of every rung: registers and shared memory within the committed budget, no spills and no
// local memory on tensor cores, and the instructions that the rung is about. Needs nvcc.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "gpu/registry.h"
#include "gpu/run.h"
#include "gpu/rungs.h"
#include "tests/gpu/nvcc.h"
#include "tests/program.h"

namespace flashstep::gpu {

namespace {

using testing::contains;
using testing::entries_of;
using testing::owner_of;
using testing::TemporaryFolder;
using testing::text_of;

constexpr const char* kBudgets = FLASHSTEP_SOURCE_DIR "/gpu/budgets.txt";

// Every target that a row of the registry lists.
std::vector<Target> all_targets() {
    std::set<Target> targets;
    for (const KernelInfo& kernel : kernels()) targets.insert(kernel.targets.begin(), kernel.targets.end());
    return {targets.begin(), targets.end()};
}

// Dynamic shared memory of the kernel's largest block: at its own blocks and d = 128 on tensor cores, else at
// B_r = B_c = 32 and d = 64.
std::int64_t shared_bytes(const KernelInfo& kernel) {
    const bool fixed = kernel.br > 0;
    Problem p;
    p.n = p.nk = 256, p.d = p.dv = fixed ? 128 : 64;
    p.br = fixed ? kernel.br : 32, p.bc = fixed ? kernel.bc : 32;
    p.dtype = kernel.dtypes.front();
    return rung(kernel.id).shared_bytes(shape_of(kernel, p));
}

using Place = std::pair<std::string, std::string>;  // kernel, target

struct Use {
    int registers = 0, spilled = 0, stack = 0;
};

// The largest use of each kernel and target, from what ptxas -v prints.
std::map<Place, Use> uses_in(const std::string& log) {
    std::map<Place, Use> uses;
    Use* now = nullptr;
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) {
        const auto number_before = [&](std::string_view what) {
            const std::size_t at = line.find(what);
            if (at == std::string::npos) return 0;
            const std::size_t start = line.find_last_not_of("0123456789", at - 1) + 1;
            return std::stoi(line.substr(start, at - start));
        };
        if (contains(line, "Compiling entry function")) {
            const std::size_t open = line.find('\''), close = line.find('\'', open + 1), sm = line.find("sm_");
            const KernelInfo* kernel = owner_of(line.substr(open + 1, close - open - 1));
            const std::string target = sm == std::string::npos ? "" : line.substr(sm + 3, line.find('\'', sm) - sm - 3);
            now = kernel && !target.empty() ? &uses[{std::string(kernel->id), target}] : nullptr;
        } else if (now && contains(line, "bytes stack frame")) {
            now->stack = std::max(now->stack, number_before(" bytes stack frame"));
            now->spilled = std::max(now->spilled, number_before(" bytes spill stores"));
        } else if (now && contains(line, " registers")) {
            now->registers = std::max(now->registers, number_before(" registers"));
        }
    }
    return uses;
}

std::size_t count(const std::string& text, std::string_view part) {
    std::size_t times = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++times;
    return times;
}

bool on_tensor_cores(const KernelInfo& kernel) { return kernel.dtypes.front() == DType::Fp16; }

}  // namespace

TEST_CASE(
    "Every rung compiles for all its targets within its budget of registers and shared memory; tensor cores spill "
    "nothing") {
    const std::string compiler = testing::nvcc();
    if (compiler.empty()) {
        MESSAGE("skipped: no nvcc");
        std::exit(77);
    }
    const TemporaryFolder folder;
    std::ofstream(folder.file("all.cu")) << testing::launches_of_ladder();
    std::string command = compiler + " -std=c++20 -O3 -Xptxas -v -c -I" FLASHSTEP_SOURCE_DIR " -o ";
    command += folder.file("all.o");
    for (Target target : all_targets()) command += fmt::format(" -gencode arch=compute_{0},code=sm_{0}", text(target));
    command += fmt::format(" {} > {} 2>&1", folder.file("all.cu"), folder.file("log"));
    REQUIRE_MESSAGE(std::system(command.c_str()) == 0, text_of(folder.file("log")));
    const auto uses = uses_in(text_of(folder.file("log")));

    if (std::getenv("FLASHSTEP_WRITE_BUDGETS")) {
        std::ofstream out(kBudgets);
        out << "# Most registers a thread of each rung may use, and most bytes of shared memory its largest block: "
               "kernel,\n"
               "# target, registers, bytes. Written by FLASHSTEP_WRITE_BUDGETS=1 test_kernels_budget; a change is "
               "looked\n"
               "# at before it is committed.\n";
        for (const KernelInfo& kernel : kernels())
            for (Target target : kernel.targets)
                if (const auto use = uses.find({std::string(kernel.id), text(target)}); use != uses.end())
                    out << kernel.id << ' ' << text(target) << ' ' << use->second.registers << ' '
                        << shared_bytes(kernel) << '\n';
    }
    struct Budget {
        int registers = 0;
        std::int64_t shared_bytes = 0;
    };
    std::map<Place, Budget> budgets;
    std::ifstream file(kBudgets);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream words(line);
        std::string id, target;
        Budget budget;
        words >> id >> target >> budget.registers >> budget.shared_bytes;
        REQUIRE_MESSAGE(words, line);
        budgets[{id, target}] = budget;
    }
    for (const KernelInfo& kernel : kernels())
        for (Target target : kernel.targets) {
            CAPTURE(kernel.id);
            CAPTURE(text(target));
            const auto use = uses.find({std::string(kernel.id), text(target)});
            const auto budget = budgets.find({std::string(kernel.id), text(target)});
            REQUIRE(use != uses.end());
            REQUIRE(budget != budgets.end());
            CHECK(use->second.registers > 0);
            CHECK(use->second.registers <= budget->second.registers);
            CHECK(shared_bytes(kernel) <= budget->second.shared_bytes);
            CHECK(budget->second.shared_bytes <= opt_in_shared_bytes(target));
            if (!on_tensor_cores(kernel)) continue;
            CHECK(use->second.spilled == 0);
            CHECK(use->second.stack == 0);
        }
}

TEST_CASE("The log of the compiler is read as it is written") {
    const auto uses = uses_in(
        "ptxas info    : Compiling entry function '_Z17fa2_forward_3_mmaILi64E' for 'sm_80'\n"
        "ptxas info    : Function properties for _Z17fa2_forward_3_mmaILi64E\n"
        "    32 bytes stack frame, 28 bytes spill stores, 84 bytes spill loads\n"
        "ptxas info    : Used 255 registers, used 1 barriers, 32 bytes cumulative stack size, 445 bytes cmem[0]\n"
        "ptxas info    : Compiling entry function '_Z17fa2_forward_3_mmaILi128E' for 'sm_80'\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 127 registers, used 1 barriers, 445 bytes cmem[0]\n");
    REQUIRE(uses.size() == 1);
    const Use& use = uses.at({"fa2_forward_3_mma", "80"});
    CHECK(use.registers == 255);
    CHECK(use.spilled == 28);
    CHECK(use.stack == 32);
}

TEST_CASE("PTX holds the instructions that a rung is about, and no local memory on tensor cores") {
    const std::string compiler = testing::nvcc();
    if (compiler.empty()) {
        MESSAGE("skipped: no nvcc");
        std::exit(77);
    }
    const TemporaryFolder folder;
    std::ofstream(folder.file("all.cu")) << testing::launches_of_ladder();
    const std::string output = folder.file("all.ptx"), log = folder.file("log");
    const std::string command = fmt::format("{} -std=c++20 -O3 -ptx -arch=compute_80 -I{} -o {} {} > {} 2>&1", compiler,
                                            FLASHSTEP_SOURCE_DIR, output, folder.file("all.cu"), log);
    REQUIRE_MESSAGE(std::system(command.c_str()) == 0, text_of(log));
    std::map<std::string_view, int> looked_at;
    const auto entries = entries_of(text_of(output));
    for (const auto& entry : entries) {  // clang 14 captures no structured binding in a message
        const std::string &name = entry.first, &text = entry.second;
        const KernelInfo* kernel = owner_of(name);
        REQUIRE_MESSAGE(kernel != nullptr, name);
        CAPTURE(kernel->id);
        ++looked_at[kernel->id];
        const bool products = on_tensor_cores(*kernel) && !contains(name, "row_sums");
        CHECK(contains(text, "mma.sync.aligned.m16n8k16") == products);
        CHECK(contains(text, "ldmatrix.sync.aligned.m8n8.x4.shared") == products);
        CHECK(contains(text, "ldmatrix.sync.aligned.m8n8.x4.trans.shared") == products);
        if (products) CHECK_FALSE(contains(text, ".local "));
        const std::string source = text_of(FLASHSTEP_SOURCE_DIR "/gpu/kernels/" + std::string(kernel->id) + ".cuh");
        const bool later = contains(source, " cp_async_commit()");
        CHECK(contains(text, "cp.async.cg.shared.global") == later);
        const std::size_t waits = count(source, " cp_async_wait<");
        CHECK((waits > 0) == later);
        CHECK(count(text, "cp.async.wait_group") >= waits);  // each one; unrolling can only add to them
        CHECK((count(text, "cp.async.wait_group") > 0) == later);
        // By its start in the source: a kernel's other functions may add nothing.
        const bool adds = contains(source, " atomic_add(") && !contains(name, "row_sums");
        CHECK((contains(text, "\tatom.") || contains(text, "\tred.")) == adds);
    }
    for (const KernelInfo& kernel : kernels()) CHECK_MESSAGE(looked_at[kernel.id] > 0, std::string(kernel.id));
}

}  // namespace flashstep::gpu
