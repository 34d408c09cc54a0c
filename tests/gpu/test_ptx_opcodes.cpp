// What each opcode computes, by tables of values; and that the rows are the same with vector instructions and without.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>

#include "gpu/ptx/lanes.h"
#include "tests/gpu/ptx_machine.h"

namespace flashstep::gpu {

namespace {

using Bits = std::uint64_t;
constexpr Bits kNan = 0x7fffffff, kInf = 0x7f800000, kMinusInf = 0xff800000, kMinusZero = 0x80000000;

constexpr Bits f(float x) { return std::bit_cast<std::uint32_t>(x); }
constexpr Bits s(std::int32_t x) { return static_cast<std::uint32_t>(x); }
constexpr Bits l(std::int64_t x) { return static_cast<Bits>(x); }

struct Case {
    std::vector<Bits> in;
    Bits out;
};
// The opcode, its registers (result first; h 16, r 32, d 64 bits, p a predicate), and what it gives.
struct Row {
    const char *opcode, *registers;
    std::vector<Case> cases;
};

const std::vector<Row>& rows() {
    static const std::vector<Row> table{
        // ---- integers: modulo 2^n
        {"add.s32", "rrr", {{{1, 2}, 3}, {{s(-1), 1}, 0}, {{0x7fffffff, 1}, 0x80000000}}},
        {"add.s64", "ddd", {{{l(-1), 2}, 1}, {{0xffffffff, 1}, 0x100000000}}},
        {"sub.s32", "rrr", {{{1, 2}, s(-1)}, {{0x80000000, 1}, 0x7fffffff}}},
        {"sub.s64", "ddd", {{{0, 1}, ~Bits{0}}}},
        {"sub.s16", "hhh", {{{0, 1}, 0xffff}, {{0x8000, 1}, 0x7fff}}},
        {"mul.lo.s32", "rrr", {{{7, s(-3)}, s(-21)}, {{0x10000, 0x10000}, 0}, {{0xffffffff, 0xffffffff}, 1}}},
        {"mul.lo.s64", "ddd", {{{l(-7), 3}, l(-21)}, {{0x100000000, 0x100000000}, 0}}},
        {"mul.wide.s32", "drr", {{{s(-2), 3}, l(-6)}, {{0x80000000, 0x80000000}, 0x4000000000000000}}},
        {"mul.wide.u32", "drr", {{{0xffffffff, 0xffffffff}, 0xfffffffe00000001}}},
        {"mul.hi.u32", "rrr", {{{0xffffffff, 0xffffffff}, 0xfffffffe}, {{2, 3}, 0}}},
        {"mul.hi.s32", "rrr", {{{s(-1), 1}, s(-1)}, {{0x40000000, 8}, 2}}},
        {"mad.lo.s32", "rrrr", {{{3, 4, 5}, 17}, {{0x80000000, 2, 1}, 1}}},
        {"mad.lo.s64", "dddd", {{{l(-3), 4, 5}, l(-7)}}},
        {"mad.wide.s32", "drrd", {{{s(-3), 4, 5}, l(-7)}}},
        // ---- division: towards zero; by zero all ones, the remainder the dividend
        {"div.s32", "rrr", {{{7, 2}, 3}, {{s(-7), 2}, s(-3)}, {{0x80000000, s(-1)}, 0x80000000}, {{5, 0}, s(-1)}}},
        {"div.u32", "rrr", {{{7, 2}, 3}, {{s(-7), 2}, 0x7ffffffc}, {{5, 0}, 0xffffffff}}},
        {"div.u16", "hhh", {{{0xffff, 10}, 6553}}},
        {"div.s64", "ddd", {{{l(-7), 2}, l(-3)}, {{Bits{1} << 63, l(-1)}, Bits{1} << 63}}},
        {"rem.s32", "rrr", {{{7, 3}, 1}, {{s(-7), 3}, s(-1)}, {{0x80000000, s(-1)}, 0}}},
        {"rem.u32", "rrr", {{{7, 3}, 1}, {{0xffffffff, 10}, 5}}},
        {"rem.s64", "ddd", {{{l(-7), 3}, l(-1)}}},
        {"neg.s32", "rr", {{{5}, s(-5)}, {{0x80000000}, 0x80000000}}},
        {"neg.s64", "dd", {{{5}, l(-5)}}},
        {"abs.s32", "rr", {{{s(-5)}, 5}, {{0x80000000}, 0x80000000}}},
        {"min.s32", "rrr", {{{s(-1), 1}, s(-1)}}},
        {"max.s32", "rrr", {{{s(-1), 1}, 1}}},
        {"min.u32", "rrr", {{{s(-1), 1}, 1}}},
        {"max.u32", "rrr", {{{s(-1), 1}, s(-1)}}},
        // ---- bits; a shift by more than the width is one by the width
        {"and.b32", "rrr", {{{0xff00ff00, 0x0ff00ff0}, 0x0f000f00}}},
        {"and.b16", "hhh", {{{0xff00, 0x0ff0}, 0x0f00}}},
        {"and.b64", "ddd", {{{0xffffffff00000000, 0x0f0000000f}, 0x0f00000000}}},
        {"or.b32", "rrr", {{{0xff00ff00, 0x0ff00ff0}, 0xfff0fff0}}},
        {"or.b64", "ddd", {{{Bits{1} << 40, 1}, (Bits{1} << 40) + 1}}},
        {"xor.b32", "rrr", {{{0xff00ff00, 0x0ff00ff0}, 0xf0f0f0f0}}},
        {"not.b32", "rr", {{{0xff00ff00}, 0x00ff00ff}}},
        {"shl.b32", "rrr", {{{1, 31}, 0x80000000}, {{1, 32}, 0}, {{1, 0xffffffff}, 0}, {{3, 0}, 3}}},
        {"shl.b64", "ddr", {{{1, 40}, Bits{1} << 40}, {{1, 64}, 0}, {{1, 1u << 31}, 0}}},
        {"shr.s32", "rrr", {{{0x80000000, 31}, 0xffffffff}, {{0x80000000, 40}, 0xffffffff}, {{0x40000000, 40}, 0}}},
        {"shr.u32", "rrr", {{{0x80000000, 31}, 1}, {{0x80000000, 32}, 0}}},
        {"shr.s64", "ddr", {{{Bits{1} << 63, 63}, ~Bits{0}}, {{Bits{1} << 63, 64}, ~Bits{0}}}},
        {"shr.u64", "ddr", {{{Bits{1} << 63, 63}, 1}, {{Bits{1} << 63, 64}, 0}}},
        {"bfi.b32",
         "rrrrr",
         {{{0xff, 0, 4, 8}, 0xff0},
          {{0, ~Bits{0} >> 32, 28, 8}, 0x0fffffff},
          {{1, 5, 32, 1}, 5},
          {{1, 5, 0, 0}, 5},
          {{0xabcd, 0x12345678, 0, 32}, 0xabcd}}},
        {"bfi.b64",
         "dddrr",
         {{{0xff, 0, 36, 8}, Bits{0xff} << 36},
          {{0, ~Bits{0}, 60, 8}, ~Bits{0} >> 4},
          {{1, 5, 64, 1}, 5},
          {{1, 5, 0, 0}, 5},
          {{0xabcd, 0x12345678, 0, 64}, 0xabcd}}},
        {"bfe.u32", "rrrr", {{{0xabcd, 4, 8}, 0xbc}, {{0xffffffff, 28, 8}, 0xf}, {{5, 32, 4}, 0}, {{5, 0, 0}, 0}}},
        {"bfe.s32", "rrrr", {{{0xff00, 8, 8}, s(-1)}, {{0x7f00, 8, 8}, 0x7f}, {{0x80000000, 40, 4}, s(-1)}}},
        {"prmt.b32", "rrrr", {{{0x03020100, 0x07060504, 0x7531}, 0x07050301}, {{0x80, 0, 0x8888}, 0xffffffff}}},
        {"popc.b32", "rr", {{{0xf0f0}, 8}}},
        {"clz.b32", "rr", {{{0}, 32}, {{1}, 31}}},
        {"brev.b32", "rr", {{{1}, 0x80000000}, {{0x0000000f}, 0xf0000000}}},
        {"shf.l.wrap.b32", "rrrr", {{{0x80000000, 1, 1}, 3}, {{0x80000000, 1, 33}, 3}}},
        {"shf.r.clamp.b32", "rrrr", {{{2, 1, 1}, 0x80000001}, {{2, 1, 40}, 1}}},
        {"lop3.b32", "rrrrr", {{{0xf0, 0xcc, 0xaa, 0x96}, 0x96}, {{0xf0, 0xcc, 0xaa, 0x80}, 0x80}}},
        // ---- choices and moves
        {"selp.b32", "rrrp", {{{1, 2, 1}, 1}, {{1, 2, 0}, 2}}},
        {"selp.b64", "dddp", {{{1, 2, 1}, 1}, {{1, 2, 0}, 2}}},
        {"selp.f32", "rrrp", {{{f(1), kNan, 0}, kNan}}},
        {"mov.u32", "rr", {{{0xdeadbeef}, 0xdeadbeef}}},
        {"mov.b64", "dd", {{{0xdeadbeef12345678}, 0xdeadbeef12345678}}},
        {"mov.u16", "hh", {{{0xbeef}, 0xbeef}}},
        {"and.pred", "ppp", {{{1, 1}, 1}, {{1, 0}, 0}}},
        {"or.pred", "ppp", {{{0, 0}, 0}, {{1, 0}, 1}}},
        {"xor.pred", "ppp", {{{1, 1}, 0}, {{1, 0}, 1}}},
        {"not.pred", "pp", {{{1}, 0}, {{0}, 1}}},
        // ---- comparisons: with NaN only the unordered ones and ne... of numbers hold
        {"setp.eq.s32", "prr", {{{1, 1}, 1}, {{1, 2}, 0}}},
        {"setp.ne.s32", "prr", {{{1, 1}, 0}, {{1, 2}, 1}}},
        {"setp.lt.s32", "prr", {{{s(-1), 1}, 1}, {{1, 1}, 0}}},
        {"setp.lt.u32", "prr", {{{s(-1), 1}, 0}}},
        {"setp.ge.u32", "prr", {{{s(-1), 1}, 1}}},
        {"setp.lt.u16", "phh", {{{0xffff, 1}, 0}}},
        {"setp.eq.s16", "phh", {{{0xffff, 0xffff}, 1}}},
        {"setp.le.s32", "prr", {{{1, 1}, 1}}},
        {"setp.gt.s32", "prr", {{{s(-1), 1}, 0}}},
        {"setp.gt.u32", "prr", {{{s(-1), 1}, 1}}},
        {"setp.ge.s64", "pdd", {{{l(-1), 1}, 0}, {{1, 1}, 1}}},
        {"setp.eq.b64", "pdd", {{{Bits{1} << 40, 0}, 0}}},
        {"setp.ne.s64", "pdd", {{{Bits{1} << 40, 0}, 1}}},
        {"setp.eq.f32", "prr", {{{0, kMinusZero}, 1}, {{kNan, kNan}, 0}, {{kMinusInf, kMinusInf}, 1}}},
        {"setp.ne.f32", "prr", {{{f(1), f(2)}, 1}, {{kNan, f(1)}, 0}}},
        {"setp.neu.f32", "prr", {{{f(1), f(1)}, 0}, {{kNan, f(1)}, 1}}},
        {"setp.lt.f32", "prr", {{{f(1), f(2)}, 1}, {{f(1), kNan}, 0}, {{kMinusZero, 0}, 0}}},
        {"setp.ltu.f32", "prr", {{{f(2), f(1)}, 0}, {{f(1), kNan}, 1}}},
        {"setp.num.f32", "prr", {{{f(2), f(1)}, 1}, {{f(1), kNan}, 0}}},
        {"setp.nan.f32", "prr", {{{f(2), f(1)}, 0}, {{f(1), kNan}, 1}}},
        {"setp.lt.and.s32", "prrp", {{{1, 2, 1}, 1}, {{1, 2, 0}, 0}}},
        // ---- single precision
        {"add.f32",
         "rrr",
         {{{f(1), f(0x1p-24f)}, f(1)},
          {{f(1), f(0x1.8p-23f)}, f(1 + 0x1p-22f)},
          {{kInf, kMinusInf}, kNan},
          {{0x00000001, 0x00000001}, 0x00000002}}},
        {"add.ftz.f32", "rrr", {{{0x00000001, 0x00000001}, 0}, {{0x80000001, 0}, 0}}},
        {"sub.f32", "rrr", {{{f(1), f(1)}, 0}, {{kMinusInf, kMinusInf}, kNan}}},
        {"mul.f32", "rrr", {{{f(0x1p-100f), f(0x1p-49f)}, 0x00000001}, {{0, kInf}, kNan}, {{f(-2), f(3)}, f(-6)}}},
        {"fma.rn.f32", "rrrr", {{{f(1 + 0x1p-23f), f(1 - 0x1p-23f), f(-1)}, f(-0x1p-46f)}, {{0, kInf, f(1)}, kNan}}},
        // 1/3 of the way between two numbers, from both sides of zero
        {"fma.rm.f32",
         "rrrr",
         {{{f(1), f(1), f(0x1p-30f)}, f(1)},
          {{f(-1), f(1), f(-0x1p-30f)}, f(-1 - 0x1p-23f)},
          {{f(1), f(-1), f(1)}, kMinusZero},
          {{f(0.5f), f(252), f(12582913)}, f(12583039)},
          {{f(0x1p100f), f(0x1p100f), 0}, 0x7f7fffff},
          {{f(-0x1p100f), f(0x1p100f), 0}, kMinusInf},
          {{f(0x1p-100f), f(-0x1p-100f), 0}, 0x80000001}}},
        {"fma.rp.f32", "rrrr", {{{f(1), f(1), f(0x1p-30f)}, f(1 + 0x1p-23f)}, {{f(-1), f(1), f(-0x1p-30f)}, f(-1)}}},
        {"fma.rz.f32",
         "rrrr",
         {{{f(1), f(1), f(-0x1p-30f)}, f(1 - 0x1p-24f)}, {{f(-1), f(1), f(0x1p-30f)}, f(-1 + 0x1p-24f)}}},
        {"div.rn.f32", "rrr", {{{f(1), f(3)}, 0x3eaaaaab}, {{f(1), 0}, kInf}, {{0, 0}, kNan}}},
        {"rcp.rn.f32", "rr", {{{f(3)}, 0x3eaaaaab}, {{kMinusZero}, kMinusInf}}},
        {"sqrt.rn.f32", "rr", {{{f(2)}, 0x3fb504f3}, {{f(-1)}, kNan}}},
        {"neg.f32", "rr", {{{f(1)}, f(-1)}, {{0}, kMinusZero}}},
        {"abs.f32", "rr", {{{f(-1)}, f(1)}, {{kMinusInf}, kInf}}},
        {"min.f32",
         "rrr",
         {{{f(1), f(2)}, f(1)},
          {{kNan, f(2)}, f(2)},
          {{f(1), kNan}, f(1)},
          {{kNan, 0xffc00000}, kNan},
          {{0, kMinusZero}, kMinusZero},
          {{kMinusZero, 0}, kMinusZero}}},
        {"max.f32",
         "rrr",
         {{{f(1), f(2)}, f(2)},
          {{kNan, f(2)}, f(2)},
          {{f(1), kNan}, f(1)},
          {{kNan, 0xffc00000}, kNan},
          {{0, kMinusZero}, 0},
          {{kMinusZero, 0}, 0},
          {{kMinusInf, f(-3)}, f(-3)}}},
        {"max.NaN.f32", "rrr", {{{f(1), kNan}, kNan}, {{f(1), f(2)}, f(2)}}},
        {"ex2.approx.ftz.f32",
         "rr",
         {{{0}, f(1)},
          {{f(-1)}, f(0.5f)},
          {{f(127)}, f(0x1p127f)},
          {{f(128)}, kInf},
          {{kMinusInf}, 0},
          {{kInf}, kInf},
          {{f(-130)}, 0},
          {{kNan}, kNan}}},
        {"ex2.approx.f32", "rr", {{{f(-130)}, f(0x1p-130f)}}},
        {"lg2.approx.f32", "rr", {{{f(8)}, f(3)}, {{0}, kMinusInf}, {{f(-1)}, kNan}}},
        // ---- conversions
        {"cvt.rn.f32.s32", "rr", {{{s(-3)}, f(-3)}, {{16777217}, f(16777216)}, {{16777219}, f(16777220)}}},
        {"cvt.rn.f32.u32", "rr", {{{0xffffffff}, f(0x1p32f)}}},
        {"cvt.rzi.s32.f32",
         "rr",
         {{{f(-1.5f)}, s(-1)}, {{f(3e9f)}, 0x7fffffff}, {{f(-3e9f)}, 0x80000000}, {{kNan}, 0}}},
        {"cvt.rni.s32.f32", "rr", {{{f(2.5f)}, 2}, {{f(3.5f)}, 4}}},
        {"cvt.rzi.u32.f32", "rr", {{{f(-1.5f)}, 0}, {{f(4e9f)}, 4000000000}, {{kInf}, 0xffffffff}}},
        {"cvt.rpi.f32.f32", "rr", {{{f(1.25f)}, f(2)}}},
        {"cvt.sat.f32.f32",
         "rr",
         {{{f(2)}, f(1)}, {{f(-2)}, 0}, {{kNan}, 0}, {{f(0.25f)}, f(0.25f)}, {{kMinusZero}, 0}}},
        {"cvt.s64.s32", "dr", {{{s(-2)}, l(-2)}}},
        {"cvt.u64.u32", "dr", {{{s(-2)}, 0xfffffffe}}},
        {"cvt.u32.u64", "rd", {{{0x123456789}, 0x23456789}}},
        {"cvt.u16.u32", "hr", {{{0x12345678}, 0x5678}}},
        {"cvt.u32.u16", "rh", {{{0xbeef}, 0xbeef}}},
        {"cvt.s32.s16", "rh", {{{0xbeef}, 0xffffbeef}}},
        {"cvt.s32.s8", "rr", {{{0x1280}, 0xffffff80}}},
        {"cvt.f32.f16",
         "rh",
         {{{0x3c00}, f(1)}, {{0x0001}, f(0x1p-24f)}, {{0xfc00}, kMinusInf}, {{0x8000}, kMinusZero}}},
        {"cvt.rn.f16.f32",
         "hr",
         {{{f(1)}, 0x3c00},
          {{f(65520)}, 0x7c00},
          {{f(65519)}, 0x7bff},
          {{f(0x1p-25f)}, 0},
          {{f(0x1.8p-25f)}, 1},
          {{f(2049)}, 0x6800},
          {{f(2051)}, 0x6802},
          {{kNan}, 0x7fff}}},
        {"cvt.rn.bf16.f32",
         "hr",
         {{{f(1)}, 0x3f80}, {{0x3f808000}, 0x3f80}, {{0x3f818000}, 0x3f82}, {{0x7f7fffff}, 0x7f80}, {{kNan}, 0x7fff}}},
        {"cvt.rn.f16x2.f32", "rrr", {{{f(1), f(2)}, 0x3c004000}}},  // the first operand is the upper half
        {"cvt.rn.bf16x2.f32", "rrr", {{{f(1), f(2)}, 0x3f804000}}},
        {"cvt.f64.f32", "dr", {{{f(1)}, 0x3ff0000000000000}}},
        {"cvt.rn.f32.f64", "rd", {{{0x3ff0000000000001}, f(1)}}},
        {"add.f64", "ddd", {{{0x3ff0000000000000, 0x3ff0000000000000}, 0x4000000000000000}}},
    };
    return table;
}

bool is_nan(Bits bits) { return (bits & 0x7fffffff) > kInf; }

// An entry that loads each operand of lane k from its array, and stores the result.
std::string program(const Row& row) {
    const std::string registers = row.registers;
    std::string text = "mov.u32 %r30, %tid.x;\nmul.wide.u32 %rd30, %r30, 8;\n", operands;
    const auto name = [&](std::size_t k) {
        switch (registers[k]) {
            case 'h':
                return fmt::format("%rs{}", k);
            case 'r':
                return fmt::format("%r{}", k);
            case 'd':
                return fmt::format("%rd{}", k);
            default:
                return fmt::format("%p{}", k);
        }
    };
    for (std::size_t k = 1; k < registers.size(); ++k) {
        text +=
            fmt::format("ld.param.u64 %rd{}, [p{}];\nadd.s64 %rd{}, %rd{}, %rd30;\n", 10 + k, k - 1, 10 + k, 10 + k);
        const char* type = registers[k] == 'h' ? "u16" : registers[k] == 'd' ? "u64" : "u32";
        const std::string to = registers[k] == 'p' ? "%r31" : name(k);
        text += fmt::format("ld.global.{} {}, [%rd{}];\n", type, to, 10 + k);
        if (registers[k] == 'p') text += fmt::format("setp.ne.s32 {}, %r31, 0;\n", name(k));
        operands += ", " + name(k);
    }
    text += fmt::format("{} {}{};\n", row.opcode, name(0), operands);
    text += fmt::format("ld.param.u64 %rd20, [p{}];\nadd.s64 %rd20, %rd20, %rd30;\n", registers.size() - 1);
    switch (registers[0]) {
        case 'h':
            text += "cvt.u64.u16 %rd21, %rs0;\n";
            break;
        case 'r':
            text += "cvt.u64.u32 %rd21, %r0;\n";
            break;
        case 'd':
            text += "mov.u64 %rd21, %rd0;\n";
            break;
        default:
            text += "selp.b64 %rd21, 1, 0, %p0;\n";
            break;
    }
    return ptx_module(text + "st.global.u64 [%rd20], %rd21;\nret;", static_cast<int>(registers.size()));
}

}  // namespace

TEST_CASE("Each opcode gives the values of its table") {
    for (const Row& row : rows()) {
        CAPTURE(std::string(row.opcode));
        PtxRun run(program(row));
        const std::size_t operands = std::string(row.registers).size() - 1;
        for (std::size_t k = 0; k < operands; ++k) {
            std::vector<Bits> values;
            for (const Case& c : row.cases) {
                REQUIRE(c.in.size() == operands);
                values.push_back(c.in[k]);
            }
            run.input("in" + std::to_string(k), values);
        }
        run.output<Bits>("out", static_cast<int>(row.cases.size()));
        run.launch(static_cast<int>(row.cases.size()));
        const std::vector<Bits> out = run.values<Bits>("out");
        for (std::size_t k = 0; k < out.size(); ++k) {
            CAPTURE(k);
            const bool both_nan = row.registers[0] == 'r' && is_nan(out[k]) && is_nan(row.cases[k].out) &&
                                  std::string_view(row.opcode).substr(0, 3) != "min" &&
                                  std::string_view(row.opcode).substr(0, 3) != "max";
            if (!both_nan) CHECK(out[k] == row.cases[k].out);
        }
    }
}

TEST_CASE("Powers of two are within two units of the last place") {
    std::vector<float> in;
    // Results below 2^-126 are flushed to zero.
    for (float x = -125.96875f; x < 128; x += 0.03125f) in.push_back(x + 0.001f * std::sin(x));
    PtxRun run(
        ptx_module("mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r1, %r2, %r3, %r1;"
                   "ld.param.u64 %rd1, [p0]; mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;"
                   "ld.global.f32 %f1, [%rd3]; ex2.approx.ftz.f32 %f2, %f1;"
                   "ld.param.u64 %rd4, [p1]; add.s64 %rd5, %rd4, %rd2; st.global.f32 [%rd5], %f2; ret;",
                   2));
    const int count = static_cast<int>(in.size()) / 128 * 128;
    run.input("in", in).output<float>("out", count);
    run.launch(128, 0, count / 128);
    const std::vector<float> out = run.values<float>("out");
    for (int k = 0; k < count; ++k) {
        const double right = std::exp2(double{in[static_cast<std::size_t>(k)]});
        CHECK(std::abs(out[static_cast<std::size_t>(k)] - right) <= 2 * right * 0x1p-24);
    }
}

TEST_CASE("Rows give the same bits with vector instructions and without, and leave lanes alone that are not at work") {
    if (!ptx::avx2::supported()) return;
    const ptx::LaneRows any = ptx::any_processor::lane_rows(), fast = ptx::avx2::lane_rows();
    REQUIRE(any.count == fast.count);
    std::mt19937 random(1);
    constexpr std::uint32_t kSpecials[] = {0,          1,          0x80000000, 0x7f800000, 0xff800000, 0x7fffffff,
                                           0x3f800000, 0xffffffff, 0x00000100, 31,         32,         33};
    alignas(64) std::byte registers[2][5 * 256];
    for (int k = 0; k < any.count; ++k) {
        const ptx::LaneRow &a = any.rows[k], &b = fast.rows[k];
        CAPTURE(std::string(a.name));
        REQUIRE(std::string(a.name) == b.name);
        for (const std::uint32_t active : {0xffffffffu, 0x00010005u, 0xfffffffeu}) {
            for (std::size_t word = 0; word < sizeof registers[0] / 4; ++word) {
                const std::uint32_t value = random() % 3 == 0 ? kSpecials[random() % std::size(kSpecials)] : random();
                std::memcpy(registers[0] + 4 * word, &value, 4);
            }
            std::memcpy(registers[1], registers[0], sizeof registers[0]);
            std::byte before[256];
            std::memcpy(before, registers[0], sizeof before);
            const ptx::Instr instr{.d = 0, .a = 256, .b = 512, .c = 768, .fourth = 1024};
            for (int which : {0, 1}) {
                ptx::Warp warp;
                warp.registers = registers[which];
                warp.active = active;
                (which == 0 ? a : b).run(warp, instr);
            }
            if (a.result == ptx::Width::Pred) {
                std::uint32_t got[2], old;
                std::memcpy(&got[0], registers[0], 4), std::memcpy(&got[1], registers[1], 4),
                    std::memcpy(&old, before, 4);
                CHECK(got[0] == got[1]);
                CHECK((got[0] & ~active) == (old & ~active));
                continue;
            }
            const int bytes = a.result == ptx::Width::B64 ? 8 : 4;
            const bool of_doubles = std::string(a.name).find("f64") != std::string::npos;
            for (int lane = 0; lane < 32; ++lane) {
                Bits got[2] = {}, old = 0;
                std::memcpy(&got[0], registers[0] + bytes * lane, static_cast<std::size_t>(bytes));
                std::memcpy(&got[1], registers[1] + bytes * lane, static_cast<std::size_t>(bytes));
                std::memcpy(&old, before + bytes * lane, static_cast<std::size_t>(bytes));
                const bool nan = bytes == 8 ? of_doubles && std::isnan(std::bit_cast<double>(got[0])) &&
                                                  std::isnan(std::bit_cast<double>(got[1]))
                                            : is_nan(got[0]) && is_nan(got[1]);
                if (!nan) CHECK(got[0] == got[1]);
                if ((active >> lane & 1) == 0) CHECK(got[0] == old);
            }
        }
    }
}

}  // namespace flashstep::gpu
