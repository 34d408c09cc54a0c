// A PTX module as its text says it: entries, their parameters, registers and instructions. Nothing is run here, and no
// opcode is known here; gpu/ptx/decode.h makes code of an entry.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/target.h"

namespace flashstep::gpu::ptx {

// Where an instruction comes from: the innermost line, often of a helper, and the line of the kernel that the helper
// was called from (the same where there is no helper). Index 0: the text says nothing.
struct Place {
    std::string_view file;
    int line = 0;
    std::string_view kernel_file;
    int kernel_line = 0;
};
std::string describe(const Place& place);  // "device.h:133, called at fa2_forward_1_tile.cuh:88"; empty: unknown

enum class Width : std::uint8_t { Pred, B16, B32, B64 };
struct Register {
    std::string_view name;
    Width width = Width::B32;
};

enum class Special : std::uint8_t {
    TidX,
    TidY,
    TidZ,
    NtidX,
    NtidY,
    NtidZ,
    CtaidX,
    CtaidY,
    CtaidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    Laneid,
    Warpid,
    Nwarpid,
    LanemaskEq,
    LanemaskLt,
    LanemaskLe,
    LanemaskGt,
    LanemaskGe,
    Count
};

struct Operand {
    enum class Kind : std::uint8_t {
        Register,  // `index`: of the entry's registers; `negated`: !p
        Integer,   // `bits`
        Float32,   // `bits`, as 0f3F800000 says them
        Float64,   // `bits`, as 0d3FF0000000000000 says them, or a decimal number
        Symbol,    // `text`: a variable, a parameter or a label
        Special,   // `index`: a Special
        Address,   // [base + bits]: `base` is a register (index), a symbol (text) or nothing
        Vector,    // {a, b, ...}: `count` operands of the entry's, from `index` on
        Discard,   // _
    };
    Kind kind = Kind::Integer;
    Kind base = Kind::Integer;  // of an address: Register, Symbol or Integer (none)
    bool negated = false;
    int index = 0, count = 0;
    int second = -1;  // d|p: the register after the bar
    std::string_view text;
    std::uint64_t bits = 0;
};

struct Instruction {
    std::string_view opcode;  // with its types and modifiers: "ld.global.v4.u32"
    int guard = -1;           // register of the predicate, -1: none
    bool guard_negated = false;
    int first = 0, count = 0;  // operands
    int line = 0;              // of the PTX text, from 1
    int place = 0;
};

struct Parameter {
    std::string_view name;
    std::string_view type;  // "u64"; "b8" for bytes
    int bytes = 0, alignment = 1;
    int offset = 0;  // from the start of the parameters
};

struct Variable {  // .shared or .local
    std::string_view name;
    std::int64_t bytes = 0;
    int alignment = 1;
    bool dynamic = false;  // .extern: the launch says how many bytes
};

struct Label {
    std::string_view name;
    int instruction = 0;  // the one that it stands before
};

struct Entry {
    std::string_view name;  // as the linker knows it
    std::string demangled;  // as the source spells it; the name where it is not mangled
    std::vector<Parameter> parameters;
    int parameter_bytes = 0;
    std::vector<Register> registers;
    std::vector<Operand> operands;
    std::vector<Instruction> instructions;
    std::vector<Label> labels;
    std::vector<Variable> shared, local;
    int line = 0;
};

struct Module {
    std::shared_ptr<const std::string> text;  // what all views point into
    std::string name;                         // of the file, for messages
    std::string_view version;                 // "9.0"
    Target target;
    std::vector<std::string> files;  // by number; .file
    std::vector<Place> places;
    std::vector<Entry> entries;
    std::vector<Variable> shared;  // of the whole module
    std::vector<std::string_view>
        unsupported;  // .global and .const variables, functions: code that uses one is refused
};

// Throws Error with the line: what is not PTX, or a directive that is not known (known and without effect on what a
// kernel computes are .pragma, .section, the limits such as .maxntid, and .address_size 64).
Module read_module(std::string text, std::string name);
Module read_module_file(const std::string& path);  // Error also if it cannot be read

std::string demangled(const std::string& name);

}  // namespace flashstep::gpu::ptx
