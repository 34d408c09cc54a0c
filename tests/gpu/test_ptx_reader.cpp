// Reading PTX: what it says is found, and what is not known is refused by name and line.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/gpu/ptx_machine.h"

namespace flashstep::gpu {

namespace {

std::string refusal(const std::string& text) {
    try {
        const ptx::Module module = ptx::read_module(text, "test.ptx");
        for (const ptx::Entry& entry : module.entries) ptx::decode(module, entry);
    } catch (const Error& error) { return error.what(); }
    return {};
}

bool says(const std::string& message, std::string_view part) {
    INFO(message);
    const bool found = message.find(part) != std::string::npos;
    CHECK(found);
    return found;
}

}  // namespace

TEST_CASE("An opcode, a type or a modifier that is not known is refused by name and line") {
    const char* lines[] = {
        "frobnicate.b32 %r1, %r2;",
        "add.s32.sat.wild %r1, %r2, %r3;",
        "add.rz.f32 %f1, %f2, %f3;",
        "add.b32 %r1, %r2, %r3;",
        "ld.global.v3.u32 %r1, [%rd1];",
        "ld.surf.u32 %r1, [%rd1];",
        "ld.global.acquire.u32 %r1, [%rd1];",
        "st.param.u32 [%rd1], %r1;",
        "atom.global.add.f16 %rs1, [%rd1], %rs2;",
        "atom.global.sub.u32 %r1, [%rd1], %r2;",
        "cp.async.cg.shared.global [%r1], [%rd1], 8;",
        "cp.async.bulk.shared.global [%r1], [%rd1], 16, [%r2];",
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r3,%r4};",
        "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1,%r2,%r3}, [%r4];",
        "shfl.bfly.b32 %r1, %r2, 1, 31;",
        "bar.sync 0, 64;",
        "bar.arrive 0, 64;",
        "bra.multi nowhere;",
        "bra nowhere;",
        "setp.lt.s32 %r1, %r2, %r3;",
        "add.s32 %r1, %rd2, %r3;",
        "add.s32 %r1, %r2;",
        "mov.u32 %r1, somewhere;",
        "call.uni (%r1), f, (%r2);",
        "cvt.rna.tf32.f32 %r1, %f1;",
        "wgmma.fence.sync.aligned;",
    };
    for (const char* line : lines) {
        CAPTURE(line);
        const std::string text = ptx_module(std::string("mov.u32 %r1, 1;\n") + line + "\nret;");
        const std::string message = refusal(text);
        const auto before = text.substr(0, text.find(line));
        const auto number = 1 + std::count(before.begin(), before.end(), '\n');
        says(message, fmt::format("test.ptx:{}", number));
        const std::string_view opcode = std::string_view(line).substr(0, std::string_view(line).find(' '));
        if (std::string_view(line).find("nowhere") == std::string_view::npos)
            says(message, opcode.substr(0, opcode.find(';')));
    }
}

TEST_CASE("A directive that is not known is refused, and so is what is not PTX") {
    says(refusal(".version 8.0\n.target sm_80\n.address_size 64\n.frob x;\n"), "test.ptx:4: unknown directive .frob");
    says(refusal(ptx_module(".frob 3;\nret;")), "unknown directive .frob");
    says(refusal("hello"), "unknown directive hello");
    says(refusal(""), "no .version");
    says(refusal(".version 8.0\n.target gfx90\n"), "unknown target gfx90");
    says(refusal(".version 8.0\n.target sm_80\n.address_size 32\n"), "64 bits");
    says(refusal(ptx_module("mov.u32 %r1, %r99;\nret;")), "unknown register %r99");
    says(refusal(ptx_module("ret;").substr(0, 150)), "test.ptx:");
    says(refusal(ptx_module("mov.u32 %r1, 0f12;\nret;")), "is not a number");
}

TEST_CASE("Copies and the tensor cores' shapes need their target") {
    says(refusal(ptx_module("cp.async.commit_group;\nret;", 1, "", "sm_75")), "cp.async needs sm_80");
    const std::string mma =
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
        "{%r5,%r6}, {%f1,%f2,%f3,%f4};\nret;";
    says(refusal(ptx_module(mma, 1, "", "sm_75")), "m16n8k16 needs sm_80");
    CHECK(refusal(ptx_module(mma)) == "");
}

TEST_CASE("Entries, parameters, shared memory and scopes are as the text says") {
    const ptx::Module module = ptx::read_module(R"(
.version 9.0
.target sm_90a, debug
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
/* a comment
   of lines */
.visible .entry _Z1fPfi4PairS0_(
  .param .u64 .ptr .global .align 4 a, // of floats
  .param .u32 n,
  .param .align 4 .b8 pair[12],
  .param .align 1 .b8 last[1])
.maxntid 128, 1, 1
.minnctapersm 2
{
  .reg .b32 %r<3>;
  .reg .pred %p;
  .shared .align 8 .b8 buffer[24];
  mov.u32 %r1, 7;
  { .reg .b32 %r1; mov.u32 %r1, 9; }
  mov.u32 %r2, dynamic;
$top: @!%p bra $top;
  ret;
}
)",
                                                "test.ptx");
    CHECK(module.target == Target(90, 'a'));
    REQUIRE(module.entries.size() == 1);
    const ptx::Entry& entry = module.entries[0];
    CHECK(entry.demangled == "f(float*, int, Pair, Pair)");
    REQUIRE(entry.parameters.size() == 4);
    CHECK(entry.parameters[1].offset == 8);
    CHECK(entry.parameters[2].offset == 12);
    CHECK(entry.parameters[3].offset == 24);
    CHECK(entry.parameter_bytes == 25);
    CHECK(entry.operands[0].index != entry.operands[2].index);  // two registers of one name
    const ptx::Code code = ptx::decode(module, entry);
    CHECK(code.static_shared_bytes == 0 + 32);  // 24, up to where the dynamic one may start
    CHECK(entry.instructions[3].guard_negated);
}

TEST_CASE("A place names the innermost line and the kernel's, through several calls") {
    const ptx::Module module = ptx::read_module(R"(
.version 9.0
.target sm_80
.address_size 64
.visible .entry k()
{
  .loc 1 10 3
  .loc 2 20 5, function_name $f, inlined_at 1 10 3
  .loc 3 30 7, function_name $g+4, inlined_at 2 20 5
  bar.sync 0;
  .loc 1 11 1
  ret;
}
.file 1 "/a/kernel.cuh"
.file 2 "/a/rows.h"
.file 3 "/a/device.h", 1, 2
.section .debug_str { $f: .b8 1,2,3
}
)",
                                                "test.ptx");
    const ptx::Entry& entry = module.entries[0];
    CHECK(ptx::describe(module.places[static_cast<std::size_t>(entry.instructions[0].place)]) ==
          "device.h:30, called at kernel.cuh:10");
    CHECK(ptx::describe(module.places[static_cast<std::size_t>(entry.instructions[1].place)]) == "kernel.cuh:11");
    CHECK(ptx::describe(module.places[0]) == "");
}

TEST_CASE("What is not known of an entry is listed with its lines") {
    const ptx::Module module =
        ptx::read_module(ptx_module("frob.x;\nmov.u32 %r1, 1;\nadd.b32 %r1, %r1, %r1;\nret;"), "t");
    const std::vector<ptx::Unknown> unknown = ptx::unknown_in(module, module.entries[0]);
    REQUIRE(unknown.size() == 2);
    CHECK(unknown[0].what.substr(0, 6) == "frob.x");
    CHECK(unknown[1].line == unknown[0].line + 2);
}

}  // namespace flashstep::gpu
