// The device halves of the words: nvcc compiles a kernel that uses each, and the PTX has its instruction. Needs nvcc.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/gpu/nvcc.h"

namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = R"cuda(
#include "gpu/device.h"

namespace flashstep::gpu {

template <Element16 T>
FS_KERNEL void fragments(Global<const T> in, Global<T> out, Global<float> sums) {
    auto chip = shared_memory();
    Shared<T> tile = chip.template take<T>("tile", 1024);
    const int t = thread_idx().x;
    store_16(tile, t * 8, load_16(in, t * 8));
    sync_block();
    std::uint32_t x1[1], x2[2], x4[4], y1[1], y2[2], y4[4];
    ldmatrix_x1(x1, tile, t * 8);
    ldmatrix_x2(x2, tile, t * 8);
    ldmatrix_x4(x4, tile, t * 8);
    ldmatrix_x1_trans(y1, tile, t * 8);
    ldmatrix_x2_trans(y2, tile, t * 8);
    ldmatrix_x4_trans(y4, tile, t * 8);
    float d[4] = {};
    mma_m16n8k16<T>(d, x4, x2, d);
    mma_m16n8k16<T>(d, y4, y2, d);
    mma_m16n8k8<T>(d, x2, x1, d);
    mma_m16n8k8<T>(d, y2, y1, d);
    store_pair(out, 2 * t, pack_floats<T>(exp2_of(d[0]), exp2_of(d[1])));
    store_pair(out, 1024 + 2 * t, pack(to_element<T>(d[2]), to_element<T>(d[3])));
    sums[t] = to_float(in[2 * t]) + to_float(upper_of<T>(load_pair(in, 2 * t))) + to_float(lower_of<T>(x1[0]));
}

template <Element16 T>
FS_KERNEL void copies(Global<const T> in, Global<T> out) {
    auto chip = shared_memory();
    Shared<T> tile = chip.template take<T>("tile", 4096);
    const int t = thread_idx().x;
    cp_async_16(tile, t * 8, in, t * 8, t < 7 ? 16 : 0);
    cp_async_8(tile, 1024 + t * 4, in, t * 4);
    cp_async_4(tile, 2048 + t * 2, in, t * 2);
    cp_async_commit();
    cp_async_wait<3>();
    sync_block();
    store_16(out, t * 8, load_16(tile, t * 8));
}

void* keep(int which) {
    switch (which) {
        case 0: return (void*)fragments<TYPE>;
        default: return (void*)copies<TYPE>;
    }
}

}  // namespace flashstep::gpu
)cuda";

// The PTX of the kernels for one element type and target, after ptxas has accepted it.
std::string compile(const std::string& compiler, const fs::path& folder, const std::string& type, int target) {
    const fs::path unit = folder / "words.cu", output = folder / "words.ptx", cubin = folder / "words.cubin";
    std::ofstream(unit) << "#define TYPE " << type << '\n' << kSource;
    const std::string arch = std::to_string(target);
    const std::string common = compiler + " -std=c++20 -O3 -I" FLASHSTEP_SOURCE_DIR " -gencode arch=compute_" + arch;
    const std::string ptx = common + ",code=compute_" + arch + " -ptx -o " + output.string() + " " + unit.string();
    const std::string sass = common + ",code=sm_" + arch + " -cubin -o " + cubin.string() + " " + unit.string();
    REQUIRE(std::system((ptx + " 2>&1").c_str()) == 0);
    REQUIRE(std::system((sass + " 2>&1").c_str()) == 0);
    std::ostringstream text;
    text << std::ifstream(output).rdbuf();
    return text.str();
}

int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("Every word compiles to its instruction, and where a target lacks it to a trap") {
    const std::string compiler = flashstep::testing::nvcc();
    if (compiler.empty()) {
        MESSAGE("skipped: no nvcc");
        std::exit(77);
    }
    const fs::path folder = fs::temp_directory_path() / ("flashstep_words_" + std::to_string(getpid()));
    fs::create_directories(folder);
    for (int target : {75, 80, 90, 120}) {
        for (const std::string type : {"Half", "BFloat"}) {
            CAPTURE(target);
            CAPTURE(type);
            const std::string ptx = compile(compiler, folder, type, target);
            const std::string f = type == "Half" ? "f16" : "bf16";
            const std::string types = ".row.col.f32." + f + "." + f + ".f32 ";
            for (const char* number : {"x1", "x2", "x4"}) {
                const std::string load = std::string("ldmatrix.sync.aligned.m8n8.") + number;
                CHECK(count(ptx, load + ".shared.b16") == 1);
                CHECK(count(ptx, load + ".trans.shared.b16") == 1);
            }
            CHECK(count(ptx, "ld.global.v4.u32") + count(ptx, "ld.global.nc.v4.u32") == 1);
            CHECK(count(ptx, "st.shared.v4.u32") == 1);
            CHECK(count(ptx, "ex2.approx.ftz.f32") == 2);
            if (target == 75) {
                CHECK(count(ptx, "m16n8k16") == 0);
                CHECK(count(ptx, "cp.async") == 0);
                CHECK(count(ptx, "trap;") >= (type == "Half" ? 5 : 5 + 6));  // copies; and bf16's products
                CHECK(count(ptx, "mma.sync.aligned.m16n8k8" + types) == (type == "Half" ? 6 : 0));
            } else {
                CHECK(count(ptx, "mma.sync.aligned.m16n8k16" + types) == 2);
                CHECK(count(ptx, "mma.sync.aligned.m16n8k8" + types) == 2);
                CHECK(count(ptx, "cp.async.cg.shared.global [") == 1);
                CHECK(count(ptx, "cp.async.ca.shared.global [") == 2);
                CHECK(count(ptx, "cp.async.commit_group;") == 1);
                CHECK(count(ptx, "cp.async.wait_group 3;") == 1);
                CHECK(count(ptx, "cvt.rn." + f + "x2.f32") == 1);
                CHECK(count(ptx, "trap;") == 0);
            }
        }
    }
    fs::remove_all(folder);
}
