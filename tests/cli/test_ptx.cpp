// flashstep ptx and check --on ptx: what they run, print and refuse, and their exit status.
#include <doctest/doctest.h>

#include "core/io/npy.h"
#include "tests/program.h"

using namespace flashstep;
using flashstep::testing::run_program;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// out[i] = factor in[i] + out[i] (in bf16 where the file says so is none of it): saxpy with a bound.
constexpr const char* kSaxpy = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u64 in, .param .u64 out, .param .f32 factor, .param .u32 n)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<5>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.f32 %f1, [factor]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1; @%p1 bra END;
  cvta.to.global.u64 %rd3, %rd1; mul.wide.s32 %rd4, %r5, 4; add.s64 %rd5, %rd3, %rd4;
  cvta.to.global.u64 %rd6, %rd2; add.s64 %rd7, %rd6, %rd4;
  ld.global.f32 %f2, [%rd5]; ld.global.f32 %f3, [%rd7]; fma.rn.f32 %f4, %f1, %f2, %f3; st.global.f32 [%rd7], %f4;
END:
  ret;
}
.visible .entry odd(.param .align 4 .b8 pair[8]) { .reg .b32 %r<2>; frob.b32 %r1; ret; }
)";

}  // namespace

TEST_CASE("ptx --list shows entries, parameters and what is not known, with its line") {
    const testing::TemporaryFolder folder;
    testing::write_text(folder.file("a.ptx"), kSaxpy);
    const auto output = run_program({"ptx", folder.file("a.ptx"), "--list"});
    CHECK(output.status == 1);
    CHECK(contains(output.out, "a.ptx: PTX 8.0 for sm_80"));
    CHECK(contains(output.out, "f32            factor"));
    CHECK(contains(output.out, "20 instructions, all known"));
    CHECK(contains(output.out, "8 bytes        pair"));
    CHECK(contains(output.out, "line 17: frob.b32: unknown opcode, type or modifier"));
}

TEST_CASE("ptx runs an entry on arrays from files, and writes them") {
    const testing::TemporaryFolder folder;
    testing::write_text(folder.file("a.ptx"), kSaxpy);
    std::vector<double> in, out;
    for (int k = 0; k < 100; ++k) in.push_back(k), out.push_back(0.5 * k);
    const std::vector<std::int64_t> shape = {10, 10};
    io::write_npy(folder.file("in.npy"), shape, in);
    io::write_npy(folder.file("out.npy"), shape, out);
    const auto run = [&](const std::string& n, const std::string& more = "--counts") {
        return run_program({"ptx", folder.file("a.ptx"), "--entry", "saxpy", "--grid", "2", "--block", "64", "--arg",
                            "x=f32:" + folder.file("in.npy"), "--arg", "y=inout:f32:" + folder.file("out.npy"), "--arg",
                            "factor=2", "--arg", "n=" + n, "--out", folder.file("made"), more});
    };
    const auto output = run("100");
    CAPTURE(output.err);
    REQUIRE(output.status == 0);
    CHECK(contains(output.out, "no check of the executor failed"));
    CHECK(contains(output.out, "400 bytes read, 0 written"));
    CHECK(contains(output.out, "400 bytes read, 400 written"));
    CHECK(contains(output.out, "fma.rn.f32"));
    const io::NpyArray made = io::read_npy(folder.file("made/y.npy"));
    CHECK(made.shape == shape);
    for (int k = 0; k < 100; ++k) CHECK(made.values[static_cast<std::size_t>(k)] == 2.5 * k);
    // One element too many is a finding.
    const auto over = run("101");
    CHECK(over.status == 1);
    CHECK(contains(over.err, "reads global x[100], out of bounds"));
    CHECK(contains(over.err, "ld.global.f32 at a.ptx:13"));
}

TEST_CASE("What ptx cannot take is wrong use, said in a line") {
    const testing::TemporaryFolder folder;
    testing::write_text(folder.file("a.ptx"), kSaxpy);
    struct Wrong {
        std::vector<std::string> words;
        const char* says;
    };
    const Wrong wrongs[] = {
        {{}, "--entry is needed"},
        {{"--entry", "nobody"}, "0 entries are named nobody"},
        {{"--entry", "saxpy"}, "--block is needed"},
        {{"--entry", "saxpy", "--block", "64", "--arg", "n=1"}, "takes 4 arguments, got 1"},
        {{"--entry", "odd", "--block", "64", "--arg", "pair=3"}, "is 8 bytes, not a number"},
        {{"--entry", "odd", "--block", "64", "--arg", "pair=hex:0011"}, "16 hexadecimal digits"},
        {{"--entry", "odd", "--block", "64", "--arg", "pair=hex:0011223344556677"}, "a.ptx:17: frob.b32"},
        {{"--entry", "odd", "--block", "64", "--arg", "pair"}, "is not NAME=VALUE"},
        {{"--entry", "odd", "--block", "0", "--arg", "pair=hex:0011223344556677"}, "--block is 0"},
        {{"--entry", "odd", "--block", "2048", "--arg", "pair=hex:0011223344556677"}, "a.ptx:17: frob.b32"},
        {{"--entry", "saxpy", "--block", "2048", "--arg", "x=f32:4", "--arg", "y=f32:4", "--arg", "f=1", "--arg",
          "n=4"},
         "the limit is 1024"},
        {{"--entry", "saxpy", "--block", "64", "--arg", "x=f32:4x0", "--arg", "y=f32:4", "--arg", "f=1", "--arg",
          "n=4"},
         "--arg x=f32:4x0"},
        {{"--entry", "saxpy", "--block", "64", "--arg", "x=f32:4", "--arg", "y=f32:4", "--arg", "f=f32:4", "--arg",
          "n=4"},
         "an array is an address of 64 bits"},
        {{"--entry", "saxpy", "--block", "64", "--arg", "x=f32:4", "--arg", "y=nothere.npy", "--arg", "f=1", "--arg",
          "n=4"},
         "nothere.npy"},
    };
    for (const Wrong& wrong : wrongs) {
        std::vector<std::string> words = {"ptx", folder.file("a.ptx")};
        words.insert(words.end(), wrong.words.begin(), wrong.words.end());
        const auto output = run_program(words);
        CAPTURE(wrong.says);
        CAPTURE(output.err);
        CHECK(output.status == 2);
        CHECK(contains(output.err, wrong.says));
    }
    CHECK(run_program({"ptx", folder.file("none.ptx"), "--list"}).status == 2);
    testing::write_text(folder.file("b.ptx"), "int main() {}");
    CHECK(contains(run_program({"ptx", folder.file("b.ptx"), "--list"}).err, "b.ptx:1: unknown directive int"));
}

TEST_CASE("check --on ptx without nvcc is not available, and a file that is given needs none") {
    const testing::TemporaryFolder folder;
    const std::vector<std::string> none = {"CUDACXX=/nowhere/nvcc"};
    const auto output = run_program({"check", "softmax_1_naive", "--on", "ptx"}, none);
    CHECK(output.status == 77);
    CHECK(contains(output.err, "there is no nvcc"));
    testing::write_text(folder.file("a.ptx"), kSaxpy);
    const auto other = run_program({"check", "softmax_1_naive", "--on", "ptx", "--ptx", folder.file("a.ptx")}, none);
    CHECK(other.status == 1);
    CHECK(contains(other.out, "a.ptx has no entries for softmax_1_naive"));
    CHECK(run_program({"check", "softmax_1_naive", "--ptx", folder.file("a.ptx")}, none).status == 2);
    CHECK(
        run_program({"check", "softmax_1_naive", "--on", "ptx", "--ptx", folder.file("a.ptx"), "--target", "80"}, none)
            .status == 2);
}
