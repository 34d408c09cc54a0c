// What the executor finds in PTX: each mistake by a kernel that makes it, and its neighbour that does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "tests/gpu/ptx_machine.h"

namespace flashstep::gpu {

namespace {

bool says(const std::string& message, std::string_view part) {
    INFO(message);
    const bool found = message.find(part) != std::string::npos;
    CHECK(found);
    return found;
}

// Registers of every program here: %r1 the thread, %r2 four times it, %rd1 p0 + 4 thread; shared memory "s".
const std::string kStart =
    "mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nld.param.u64 %rd1, [p0];\ncvt.u64.u32 %rd2, %r2;\n"
    "add.s64 %rd1, %rd1, %rd2;\nmov.u32 %r3, s;\nadd.s32 %r4, %r3, %r2;\n";
const std::string kShared = ".extern .shared .align 16 .b8 s[];";

std::string module_of(const std::string& body, int parameters = 1) {
    return ptx_module(kStart + body, parameters, kShared);
}

// Each thread stores its number, and reads its neighbour's, with `between` between.
std::string neighbours(const std::string& between) {
    return module_of(
        "st.shared.u32 [%r4], %r1;\n" + between +
        "xor.b32 %r5, %r2, 4;\nadd.s32 %r5, %r5, %r3;\nld.shared.u32 %r6, [%r5];\nst.global.u32 [%rd1], %r6;\nret;");
}

std::string error_of(const std::string& text, int threads = 64, std::int64_t shared_bytes = 1024, int outputs = 64) {
    return PtxRun(text).output<std::uint32_t>("out", outputs).error(threads, shared_bytes);
}

}  // namespace

TEST_CASE("A barrier between makes a neighbour's value one's own to read; without it there is a race") {
    CHECK(error_of(neighbours("bar.sync 0;\n")) == "");
    CHECK(error_of(neighbours("bar.warp.sync -1;\n")) == "");
    const std::string message = error_of(neighbours(""));
    says(message, "race on shared memory[");
    says(message, "ld.shared.u32 at test.ptx:");
    PtxRun run(neighbours("bar.sync 0;\n"));
    run.output<std::uint32_t>("out", 64).launch(64, 1024);
    for (std::uint32_t k = 0; k < 64; ++k) CHECK(run.values<std::uint32_t>("out")[k] == (k ^ 1));
    CHECK(run.counters().barriers == 1);
}

TEST_CASE("Bounds, alignment and what nobody wrote are found, in shared and in global memory") {
    says(error_of(module_of("st.shared.u32 [%r4+1024], %r1;\nret;"), 32), "writes shared memory[1024], out of bounds");
    says(error_of(module_of("st.shared.u32 [%r4+-4], %r1;\nret;")), "writes shared memory[-4], out of bounds");
    says(error_of(module_of("st.shared.u32 [%r4+2], %r1;\nret;")), "is not a multiple of 4");
    says(error_of(module_of("ld.shared.u32 %r5, [%r4];\nret;"), 32),
         "reads shared memory[0], which nobody has written");
    says(error_of(module_of("st.global.u32 [%rd1+256], %r1;\nret;"), 32), "writes global out[64], out of bounds");
    says(error_of(module_of("st.global.u32 [%rd1+-4], %r1;\nret;")), "writes global out[-1], out of bounds");
    says(error_of(module_of("st.global.v2.u32 [%rd1+4], {%r1, %r1};\nret;")), "is not a multiple of 8");
    says(error_of(module_of("ld.global.u32 %r5, [%rd1];\nret;"), 32), "reads global out[0], which nobody has written");
    says(error_of(module_of("st.global.u32 [%rd2], %r1;\nret;")), "where there is no array");
    says(error_of(module_of("ret;")), "output out[0] was never written");
}

TEST_CASE("Bounds hold with checks off too") {
    for (const char* line :
         {"st.shared.u32 [%r4+1024], %r1;", "st.global.u32 [%rd1+4096], %r1;", "ld.global.u32 %r5, [0];"}) {
        const std::string text = module_of(std::string(line) + "\nret;");
        PtxRun run(text, {.checks = Checks::Off});
        CHECK(run.output<std::uint32_t>("out", 64).error(64, 1024) != "");
    }
}

TEST_CASE("An input is only read, and blocks do not write what others read") {
    PtxRun run(module_of("st.global.u32 [%rd1], %r1;\nret;"));
    says(run.input<std::uint32_t>("in", std::vector<std::uint32_t>(64)).error(64, 64), "in is an input");
    PtxRun races(module_of("st.global.u32 [%rd1], %r1;\nret;"));
    says(races.output<std::uint32_t>("out", 64).error(64, 64, 2), "race between blocks on global out[");
}

TEST_CASE("Lanes that part meet again: early ones wait at the barrier for those on a slower way at a higher address") {
    // Odd lanes jump over the barrier to a loop, and back to the barrier.
    const std::string body = R"(
st.shared.u32 [%r4], %r1;
and.b32 %r5, %r1, 1;
setp.eq.s32 %p1, %r5, 1;
mov.u32 %r6, 0;
@%p1 bra SLOW;
HERE:
bar.sync 0;
xor.b32 %r5, %r2, 4;
add.s32 %r5, %r5, %r3;
ld.shared.u32 %r7, [%r5];
add.s32 %r7, %r7, %r6;
st.global.u32 [%rd1], %r7;
ret;
SLOW:
add.s32 %r6, %r6, 1;
setp.lt.u32 %p2, %r6, %r1;
@%p2 bra SLOW;
bra HERE;
)";
    PtxRun run(module_of(body));
    REQUIRE(run.output<std::uint32_t>("out", 64).error(64, 1024) == "");
    for (std::uint32_t k = 0; k < 64; ++k) CHECK(run.values<std::uint32_t>("out")[k] == (k ^ 1) + (k % 2 == 1 ? k : 0));
}

TEST_CASE("Threads that have ended are not waited for; barriers that differ are found") {
    CHECK(error_of(module_of("st.global.u32 [%rd1], %r1;\nsetp.lt.u32 %p1, %r1, 40;\n@%p1 ret;\nbar.sync 0;\nret;")) ==
          "");
    const std::string two = "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nbar.sync 0;\nret;\nA:\nbar.sync 1;\nret;";
    says(error_of(module_of(two)), "divergent barrier");
    const std::string of_warps = "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 0;\nret;\nA:\nbar.sync 1;\nret;";
    says(error_of(module_of(of_warps)), "divergent barrier");
}

TEST_CASE("An instruction for all lanes waits for them, and where some never come it is a divergent warp") {
    const std::string shuffle = "shfl.sync.bfly.b32 %r5|%p3, %r1, 1, 31, -1;\n";
    CHECK(error_of(module_of("setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nadd.s32 %r7, %r1, 1;\nA:\n" + shuffle +
                             "st.global.u32 [%rd1], %r5;\nret;")) == "");
    // Half a warp shuffles, the other half waits at the barrier.
    says(error_of(module_of("setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nbar.sync 0;\nret;\nA:\n" + shuffle + "ret;")),
         "divergent warp");
    // A mask that names half of the warp is enough for that half.
    CHECK(error_of(module_of("setp.lt.u32 %p1, %r1, 16;\nst.global.u32 [%rd1], %r1;\n@!%p1 bra A;\n"
                             "shfl.sync.bfly.b32 %r5, %r1, 1, 31, 65535;\nA:\nret;"),
                   32, 64, 32) == "");
    says(error_of(module_of(
                      "setp.lt.u32 %p1, %r1, 16;\n@!%p1 bra A;\nshfl.sync.bfly.b32 %r5, %r1, 16, 31, 65535;\nA:\nret;"),
                  32),
         "reads lane 16, which does not take part");
}

TEST_CASE("Exchanges follow their segments and clamps") {
    struct Kind {
        const char* text;
        std::uint32_t (*right)(std::uint32_t lane);
    };
    const Kind kinds[] = {
        {"bfly.b32 %r5, %r1, 5, 31", [](std::uint32_t k) { return k ^ 5; }},
        {"up.b32 %r5, %r1, 3, 0", [](std::uint32_t k) { return k >= 3 ? k - 3 : k; }},
        {"down.b32 %r5, %r1, 3, 31", [](std::uint32_t k) { return k + 3 < 32 ? k + 3 : k; }},
        {"idx.b32 %r5, %r1, 7, 31", [](std::uint32_t) { return 7u; }},
        {"idx.b32 %r5, %r1, 9, 6175", [](std::uint32_t k) { return (k & 24) | 1; }},  // segments of 8
        {"down.b32 %r5, %r1, 3, 6175", [](std::uint32_t k) { return k % 8 + 3 < 8 ? k + 3 : k; }},
    };
    for (const Kind& kind : kinds) {
        CAPTURE(std::string(kind.text));
        PtxRun run(module_of("shfl.sync." + std::string(kind.text) + ", -1;\nst.global.u32 [%rd1], %r5;\nret;"));
        run.output<std::uint32_t>("out", 32).launch(32);
        for (std::uint32_t k = 0; k < 32; ++k) CHECK(run.values<std::uint32_t>("out")[k] == kind.right(k));
    }
}

TEST_CASE("Votes, the active mask and atomics") {
    PtxRun run(
        module_of("and.b32 %r5, %r1, 3;\nsetp.eq.s32 %p1, %r5, 0;\nvote.sync.ballot.b32 %r6, %p1, -1;\n"
                  "vote.sync.any.pred %p2, %p1, -1;\nvote.sync.all.pred %p3, %p1, -1;\nselp.b32 %r7, 2, 0, %p2;\n"
                  "selp.b32 %r8, 1, 0, %p3;\nxor.b32 %r6, %r6, %r7;\nxor.b32 %r6, %r6, %r8;\n"
                  "st.global.u32 [%rd1], %r6;\nret;"));
    run.output<std::uint32_t>("out", 32).launch(32);
    CHECK(run.values<std::uint32_t>("out")[5] == (0x11111111u ^ 2u));
    PtxRun sums(
        ptx_module("ld.param.u64 %rd1, [p0];\nmov.u32 %r1, %tid.x;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra A;\n"
                   "st.shared.u32 [s], 0;\nA:\nbar.sync 0;\natom.shared.add.u32 %r2, [s], %r1;\nbar.sync 0;\n"
                   "ld.shared.u32 %r3, [s];\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd1, %rd2;\n"
                   "st.global.u32 [%rd1], %r3;\nret;",
                   1, kShared));
    REQUIRE(sums.output<std::uint32_t>("out", 64).error(64, 16) == "");
    CHECK(sums.values<std::uint32_t>("out")[7] == 64 * 63 / 2);
    CHECK(sums.counters().atomics == 64);
}

TEST_CASE("An asynchronous copy is whole after its wait, and touched before it a race") {
    const auto copy = [](const std::string& between, const std::string& bytes = "16") {
        return module_of(
            "shl.b32 %r5, %r1, 4;\nadd.s32 %r6, %r3, %r5;\nld.param.u64 %rd3, [p1];\ncvt.u64.u32 %rd4, %r5;\n"
            "add.s64 %rd3, %rd3, %rd4;\nmov.u32 %r9, " +
                bytes +
                ";\n"
                "cp.async.cg.shared.global [%r6], [%rd3], 16, %r9;\ncp.async.commit_group;\n" +
                between + "ld.shared.u32 %r7, [%r6+4];\nst.global.u32 [%rd1], %r7;\nret;",
            2);
    };
    std::vector<std::uint32_t> in(128);
    std::iota(in.begin(), in.end(), 100u);
    const auto run = [&](const std::string& text) {
        PtxRun r(text);
        const std::string error = r.output<std::uint32_t>("out", 32).input("in", in).error(32, 512);
        if (error.empty()) return fmt::format("{}", r.values<std::uint32_t>("out")[3]);
        return error;
    };
    CHECK(run(copy("cp.async.wait_group 0;\n")) == "113");
    CHECK(run(copy("cp.async.wait_all;\n")) == "113");
    CHECK(run(copy("cp.async.wait_group 0;\n", "4")) == "0");  // the rest is zero
    says(run(copy("cp.async.wait_group 1;\n")), "may still be writing");
    says(run(copy("")), "may still be writing");
    says(run(copy("cp.async.wait_group 0;\n", "17")), "reads 17 bytes");
    says(run(module_of("cp.async.ca.shared.global [%r4], [%rd1], 4;\nret;", 2)), "which nobody has written");
}

TEST_CASE("ldmatrix and mma as the PTX ISA lays them out") {
    // A is the identity (fp16), B a matrix of small numbers: D = B.
    const std::string body = R"(
shl.b32 %r5, %r1, 4;
add.s32 %r6, %r3, %r5;
mul.lo.s32 %r7, %r1, 8;
cvt.u16.u32 %rs1, %r7;
// row %r1 of an 32 x 8 matrix: numbers 8 r, 8 r + 1, ... as fp16
cvt.rn.f32.u32 %f1, %r7; add.f32 %f2, %f1, 0f3F800000; cvt.rn.f16x2.f32 %r8, %f2, %f1; st.shared.u32 [%r6], %r8;
add.f32 %f1, %f1, 0f40000000; add.f32 %f2, %f2, 0f40000000; cvt.rn.f16x2.f32 %r8, %f2, %f1; st.shared.u32 [%r6+4], %r8;
add.f32 %f1, %f1, 0f40000000; add.f32 %f2, %f2, 0f40000000; cvt.rn.f16x2.f32 %r8, %f2, %f1; st.shared.u32 [%r6+8], %r8;
add.f32 %f1, %f1, 0f40000000; add.f32 %f2, %f2, 0f40000000; cvt.rn.f16x2.f32 %r8, %f2, %f1; st.shared.u32 [%r6+12], %r8;
bar.warp.sync -1;
ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r10, %r11}, [%r6];
// g = lane / 4, t = lane % 4: A[g][2t], A[g][2t + 1] of the identity
shr.u32 %r12, %r1, 2; and.b32 %r13, %r1, 3; shl.b32 %r13, %r13, 1;
setp.eq.s32 %p1, %r12, %r13; add.s32 %r14, %r13, 1; setp.eq.s32 %p2, %r12, %r14;
selp.b32 %r15, 15360, 0, %p1; selp.b32 %r16, 1006632960, 0, %p2; or.b32 %r15, %r15, %r16;
mov.u32 %r17, 0;
mov.f32 %f10, 0f3F000000;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f4,%f5,%f6,%f7}, {%r15,%r17,%r17,%r15}, {%r10,%r11}, {%f10,%f10,%f10,%f10};
mul.wide.u32 %rd5, %r1, 16; ld.param.u64 %rd6, [p0]; add.s64 %rd6, %rd6, %rd5;
st.global.v4.f32 [%rd6], {%f4, %f5, %f6, %f7};
ret;
)";
    PtxRun run(module_of(body));
    REQUIRE(run.output<float>("out", 128).error(32, 512) == "");
    const std::vector<float> out = run.values<float>("out");
    for (int lane = 0; lane < 32; ++lane)
        for (int e = 0; e < 4; ++e) {
            const int row = lane / 4 + 8 * (e / 2), col = 2 * (lane % 4) + e % 2;
            CHECK(out[static_cast<std::size_t>(4 * lane + e)] ==
                  8.0f * static_cast<float>(row) + static_cast<float>(col) + 0.5f);
        }
    CHECK(run.counters().mma == 1);
    CHECK(run.counters().ldmatrix == 1);
    says(error_of(module_of("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r3];\nret;"), 32), "nobody has written");
    says(error_of(module_of("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r3];\nret;"), 16),
         "needs a warp of 32 lanes");
    says(error_of(module_of("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4+4];\nret;"), 32),
         "is not a multiple of 16");
}

TEST_CASE("Generic addresses, local memory and words of other widths") {
    const std::string local = R"(
.local .align 8 .b8 depot[16];
mov.u64 %rd10, depot; cvta.local.u64 %rd11, %rd10;
st.u32 [%rd11+8], %r1; ld.local.u32 %r5, [%rd10+8];
cvt.u64.u32 %rd12, %r4; cvta.shared.u64 %rd13, %rd12;
st.u16 [%rd13], %rs1; cvt.u16.u32 %rs2, %r5; st.u16 [%rd13], %rs2; ld.shared.s16 %r6, [%r4];
add.s32 %r5, %r5, %r6;
st.u32 [%rd1], %r5; ret;
)";
    PtxRun run(module_of(local));
    REQUIRE(run.output<std::uint32_t>("out", 64).error(64, 256) == "");
    CHECK(run.values<std::uint32_t>("out")[9] == 18);
    says(error_of(
             module_of(".local .align 8 .b8 depot[16];\nmov.u64 %rd10, depot;\nst.local.u32 [%rd10+16], %r1;\nret;")),
         "local memory at byte 16");
}

TEST_CASE("Guards, halves and counts") {
    const std::string body =
        "setp.lt.u32 %p1, %r1, 10;\nmov.u32 %r5, 1;\n@%p1 mov.u32 %r5, 2;\n@!%p1 add.s32 %r5, %r5, 4;\n"
        "mov.b32 {%rs1, %rs2}, %r5;\nmov.b32 %r6, {%rs2, %rs1};\nmov.b64 %rd5, {%r5, %r6};\n"
        "mov.b64 {%r7, %r8}, %rd5;\nshr.u32 %r8, %r8, 16;\nadd.s32 %r7, %r7, %r8;\nst.global.u32 [%rd1], %r7;\nret;";
    PtxRun run(module_of(body));
    run.output<std::uint32_t>("out", 40).launch(40);
    CHECK(run.values<std::uint32_t>("out")[0] == 4);
    CHECK(run.values<std::uint32_t>("out")[30] == 10);
    const InstructionCounts counts = run.machine().counts();
    const auto of = [&](std::string_view opcode) {
        for (const Executed& row : counts.opcodes)
            if (row.what == opcode) return row;
        return Executed{};
    };
    CHECK(of("st.global.u32").lanes == 40);
    CHECK(of("st.global.u32").warps == 2);
    CHECK(of("mov.u32").in_text == 4);
    CHECK(of("mov.u32").lanes == 3 * 40 + 10);
    std::int64_t lanes = 0;
    for (const Executed& row : counts.classes) lanes += row.lanes;
    CHECK(lanes == counts.lanes);
    // The code itself, in the order of its text; what a guard leaves out did not run.
    std::int64_t warps = 0;
    for (const ExecutedInstruction& instruction : counts.code) warps += instruction.warps;
    CHECK(warps == counts.warps);
    const auto guarded = std::ranges::find(counts.code, "@%p1 mov.u32 %r5, 2;", &ExecutedInstruction::text);
    REQUIRE(guarded != counts.code.end());
    CHECK(guarded->lanes == 10);
    CHECK(guarded->what == "integer");
    CHECK(counts.code.front().entry == "test");
    CHECK(counts.code.back().text == "ret;");
}

TEST_CASE("A trap is a failure, a loop can be cancelled, and another seed is another order of atomics") {
    says(error_of(module_of("setp.eq.s32 %p1, %r1, 33;\n@%p1 trap;\nret;")), "thread (33, 0, 0): runs into a trap");
    std::atomic<bool> cancel = true;
    PtxRun endless(module_of("A:\nbra A;"), {.cancel = &cancel});
    says(endless.output<std::uint32_t>("out", 1).error(32), "cancelled");
    const auto sum = [](std::uint64_t seed) {
        PtxRun run(
            ptx_module("ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nmov.u32 %r1, %tid.x;\n"
                       "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra A;\nst.global.f32 [%rd1], 0f00000000;\nA:\nbar.sync 0;\n"
                       "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd2, %rd2, %rd3;\nld.global.f32 %f1, [%rd2];\n"
                       "atom.global.add.f32 %f2, [%rd1], %f1;\nret;",
                       2),
            {.seed = seed});
        std::vector<float> in;
        for (int k = 0; k < 64; ++k) in.push_back(k % 2 == 0 ? 1e8f : 1.5f * static_cast<float>(k));
        run.output<float>("out", 1).input("in", in).launch(64);
        return run.values<float>("out")[0];
    };
    CHECK(sum(1) == sum(1));
    std::vector<float> sums;
    for (std::uint64_t seed = 1; seed < 9; ++seed) sums.push_back(sum(seed));
    CHECK(std::any_of(sums.begin(), sums.end(), [&](float x) { return x != sums[0]; }));
}

}  // namespace flashstep::gpu
