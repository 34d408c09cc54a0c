// Mistakes in the inline PTX of gpu/device.h, and in lines of nvcc's PTX: each is caught by running it. Needs nvcc.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "core/algorithms.h"
#include "core/compare.h"
#include "gpu/ptx/compile.h"
#include "gpu/run.h"
#include "tests/gpu/kernel_problems.h"
#include "tests/program.h"

namespace flashstep::gpu {

namespace {

namespace fs = std::filesystem;
using testing::text_of;

void need_nvcc() {
    if (ptx::why_not_compile().empty()) return;
    MESSAGE("skipped: " << ptx::why_not_compile());
    std::exit(77);
}

// The function without probe alone, which compiles in a fraction of the time.
std::string unit_of(const std::string& id) {
    const bool on_tensor_cores = find_kernel(id)->dtypes.front() == DType::Fp16;
    return fmt::format(
        "#include \"gpu/kernels/{}.cuh\"\nvoid* keep() {{ return (void*)flashstep::gpu::{}<flashstep::gpu::NoProbe{}>; "
        "}}\n",
        id, id, on_tensor_cores ? ", flashstep::gpu::Half, 64" : "");
}

struct Ladder {
    const KernelInfo& kernel;
    Problem problem;
    Inputs inputs;
    Trace mirror;
    explicit Ladder(const std::string& id) : kernel(*find_kernel(id)) {
        // Ragged in every direction; 40 columns are five packets of eight.
        problem =
            flashstep::problem(100, 150, 40, 40, kernel.br > 0 ? kernel.br : 16, kernel.bc > 0 ? kernel.bc : 32, true);
        problem.dtype = kernel.dtypes.front();
        problem.base2 = kernel.base2;
        inputs = make_inputs(problem);
        mirror = record(*find_algorithm(kernel.algorithm), problem, inputs);
    }
    // What is wrong; empty: nothing.
    std::string finding(const std::shared_ptr<const ptx::Module>& module) const {
        RunOptions options;
        options.where = Where::Ptx;
        options.ptx = module;
        options.capture = Capture::Off;
        try {
            const KernelRun run = run_kernel(kernel, problem, inputs, options);
            const Comparison comparison = compare(mirror, run, expected_bytes(kernel, problem, mirror, run));
            return comparison.verdict == Verdict::Equal ? "" : "differs from the mirror";
        } catch (const Error& error) { return error.what(); }
    }
};

struct Mutant {
    std::string kernel, what;
    const char *from, *to;  // a regular expression of a line
};

}  // namespace

TEST_CASE("A change of each kind of line in nvcc's PTX is caught") {
    need_nvcc();
    const Mutant mutants[] = {
        {"fa2_forward_5_cp_async", "ldmatrix not transposed", R"(ldmatrix(.*)\.trans)", "ldmatrix$1"},
        {"fa2_forward_5_cp_async", "ldmatrix's registers exchanged", R"((ldmatrix\S+ \{)(%r\d+),(%r\d+))", "$1$3,$2"},
        {"fa2_forward_5_cp_async", "a wait for one group fewer", R"(wait_group\s+1;)", "wait_group 2;"},
        {"fa2_forward_5_cp_async", "no commit", R"(cp\.async\.commit_group;)", ""},
        {"fa2_forward_5_cp_async", "the source's size is not looked at", R"((cp\.async\.cg.*, 16, )%r\d+;)", "$1 16;"},
        {"fa2_forward_5_cp_async", "no barrier", R"(bar\.sync\s+0;)", ""},
        {"fa2_forward_5_cp_async", "mma's left operand exchanged", R"((mma\S+ \{[^}]*\}, \{)(%r\d+),(%r\d+))",
         "$1$3,$2"},
        {"fa2_forward_5_cp_async", "mma's right operand exchanged",
         R"((mma\S+ \{[^}]*\}, \{[^}]*\}, \{)(%r\d+),(%r\d+))", "$1$3,$2"},
        {"fa2_forward_5_cp_async", "mma takes fp16 for bf16", R"(f32\.f16\.f16\.f32)", "f32.bf16.bf16.f32"},
        {"fa2_forward_5_cp_async", "halves packed in the other order",
         R"((cvt\.rn\.f16x2\.f32 %r\d+, )(%f\d+), (%f\d+))", "$1$3, $2"},
        {"fa2_forward_5_cp_async", "a shuffle's other mask", R"(mov\.u32(\s+%r\d+), 2;)", "mov.u32$1, 4;"},
        {"fa2_forward_5_cp_async", "the smaller for the larger", R"(max\.f32)", "min.f32"},
        {"fa2_forward_5_cp_async", "another power", R"(ex2\.approx\.ftz\.f32(\s+%f\d+), %f\d+)",
         "ex2.approx.ftz.f32$1, 0f00000000"},
        {"fa2_forward_5_cp_async", "a difference the other way round", R"((sub\.f32\s+%f\d+), (%f\d+), (%f\d+))",
         "$1, $3, $2"},
        {"fa2_forward_5_cp_async", "a product for a sum", R"(add\.f32)", "mul.f32"},
        {"fa2_forward_5_cp_async", "a choice the other way round", R"((selp\.f32\s+%f\d+), ([^,]+), ([^,]+),)",
         "$1, $3, $2,"},
        {"fa2_forward_5_cp_async", "a swizzle that is none", R"(xor\.b32(\s+%r\d+), (%r\d+), (%r\d+))",
         "mov.u32$1, $2"},
        {"fa2_forward_5_cp_async", "another parameter", R"(param_5\+12\])", "param_5+4]"},
        {"fa2_forward_5_cp_async", "an index's addend", R"((mad\.lo\.s32\s+%r\d+), (%r\d+), (%r\d+), (%r\d+))",
         "$1, $2, $3, $3"},
        {"fa2_forward_5_cp_async", "a shift by one more", R"((shl\.b64\s+%rd\d+, %rd\d+, )1;)", "$1 2;"},
        {"fa2_forward_1_tile", "a store to shared memory that is gone", R"(st\.shared\.f32\s+\[%r\d+\], %f\d+;)", ""},
        {"fa2_forward_1_tile", "a store one element further", R"((st\.global\.f32\s+\[%rd\d+))", "$1+4"},
        {"fa2_forward_1_tile", "a branch the other way", R"(@%p(\d+) bra)", "@!%p$1 bra"},
        {"fa2_forward_1_tile", "a bound one further", R"(setp\.ge\.s32)", "setp.gt.s32"},
        {"fa2_forward_1_tile", "no barrier", R"(bar\.sync\s+0;)", ""},
        {"fa2_forward_1_tile", "an addend of a product", R"((fma\.rn\.f32\s+%f\d+), (%f\d+), (%f\d+), (%f\d+))",
         "$1, $2, $3, $3"},
        {"fa2_forward_1_tile", "a quotient the other way round", R"((div\.s32\s+%r\d+), (%r\d+), (%r\d+))",
         "$1, $3, $2"},
        {"fa2_forward_1_tile", "no saturation", R"(cvt\.sat\.f32\.f32)", "cvt.f32.f32"},
    };
    std::map<std::string, std::unique_ptr<Ladder>> ladders;
    std::map<std::string, std::string> texts;
    for (const Mutant& mutant : mutants) {
        CAPTURE(mutant.kernel);
        CAPTURE(mutant.what);
        auto& ladder = ladders[mutant.kernel];
        if (!ladder) {
            ladder = std::make_unique<Ladder>(mutant.kernel);
            const auto module = ptx::compile_unit(unit_of(mutant.kernel), mutant.kernel + "_alone", 80);
            texts[mutant.kernel] = *module->text;
            REQUIRE(ladder->finding(module) == "");
        }
        const std::string& text = texts[mutant.kernel];
        const std::string changed = std::regex_replace(text, std::regex(mutant.from), mutant.to);
        if (changed == text) {
            FAIL_CHECK("no line is changed");
            continue;
        }
        std::string finding;
        try {
            finding = ladder->finding(std::make_shared<const ptx::Module>(ptx::read_module(changed, "mutant.ptx")));
        } catch (const Error& error) { finding = error.what(); }
        CHECK(finding != "");
    }
}

TEST_CASE("A mistake in the inline PTX of gpu/device.h is caught") {
    need_nvcc();
    struct Mistake {
        std::string kernel, what;
        const char *from, *to;
    };
    const Mistake mistakes[] = {
        {"fa2_forward_3_mma", "pack_floats with its operands exchanged", "\"f\"(upper), \"f\"(lower)",
         "\"f\"(lower), \"f\"(upper)"},
        {"fa2_forward_3_mma", "an operand of mma twice", "\"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1])",
         "\"r\"(a[2]), \"r\"(a[2]), \"r\"(b[0]), \"r\"(b[1])"},
        {"fa2_forward_3_mma", "a result of mma at another's place", "\"=f\"(d[2]), \"=f\"(d[3])",
         "\"=f\"(d[3]), \"=f\"(d[2])"},
        {"fa2_forward_3_mma", "x4.trans without .trans", "m8n8.x4.trans.shared", "m8n8.x4.shared"},
        {"fa2_forward_6_exp2", "a sum for a power", "ex2.approx.ftz.f32 %0, %1;", "add.f32 %0, %1, %1;"},
        {"fa2_forward_3_mma", "a shuffle over half of the warp", "__shfl_xor_sync(0xffffffffu, value, mask)",
         "__shfl_xor_sync(0xffffffffu, value, mask ^ 4)"},
        {"fa2_forward_5_cp_async", "a copy's size forgotten",
         "16, %2;\" ::\"r\"(to), \"l\"(source), \"r\"(source_bytes)", "16;\" ::\"r\"(to), \"l\"(source)"},
        {"fa2_forward_5_cp_async", "a wait for one group fewer", "\"n\"(pending)", "\"n\"(pending + 1)"},
        {"fa2_forward_5_cp_async", "addresses counted in elements",
         "static_cast<unsigned>(index) * static_cast<unsigned>(sizeof(T))", "static_cast<unsigned>(index)"},
    };
    const testing::TemporaryFolder folder;
    const fs::path sources = folder.file("sources");
    for (const char* part : {"gpu", "core"}) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(FLASHSTEP_SOURCE_DIR) / part)) {
            const fs::path to = sources / fs::relative(entry.path(), FLASHSTEP_SOURCE_DIR);
            if (entry.path().extension() != ".h" && entry.path().extension() != ".cuh") continue;
            fs::create_directories(to.parent_path());
            fs::copy_file(entry.path(), to);
        }
    }
    const std::string device = text_of((sources / "gpu/device.h").string());
    std::map<std::string, std::unique_ptr<Ladder>> ladders;
    for (const Mistake& mistake : mistakes) {
        CAPTURE(mistake.what);
        auto& ladder = ladders[mistake.kernel];
        if (!ladder) ladder = std::make_unique<Ladder>(mistake.kernel);
        std::string changed = device;
        int places = 0;
        for (std::size_t at = 0; (at = changed.find(mistake.from, at)) != std::string::npos; ++places) {
            changed.replace(at, std::string(mistake.from).size(), mistake.to);
            at += std::string(mistake.to).size();
        }
        REQUIRE(places > 0);
        std::ofstream(sources / "gpu/device.h") << changed;
        const auto module =
            ptx::compile_unit(unit_of(mistake.kernel), mistake.kernel + "_mutant", 80, sources.string());
        CHECK(ladder->finding(module) != "");
    }
}

}  // namespace flashstep::gpu
