// What the interpreter runs: an entry's instructions in a compact form, over registers that hold 32 lanes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/ptx/module.h"

namespace flashstep::gpu::ptx {

constexpr int kLanes = 32;
constexpr std::uint32_t kAllLanes = 0xffffffffu;

struct Warp;
struct Instr;
// Runs one instruction for the active lanes of a warp.
using Handler = void (*)(Warp&, const Instr&);

// A register's slot is its place in bytes in the warp's registers: 32 numbers of 4 or 8 bytes, one per lane; a 16-bit
// register takes the lower half of 4 bytes, the upper is zero. A predicate is one word with a bit per lane. Constants
// have slots too, so that every operand is one.
using Slot32 = std::uint32_t;

struct Instr {
    enum class Kind : std::uint8_t {
        Plain,       // `run`, then the next
        Guarded,     // the same for the lanes whose predicate (at `guard`) is set
        Block,       // a basic block starts: `list` is its number
        Branch,      // the lanes whose predicate is set go to `target`; without predicate all
        Collective,  // `run`, once all lanes that live are here
        Barrier,     // bar.sync `n`
        Exit,
        Trap,
    };
    Handler run = nullptr;
    Slot32 d = 0, a = 0, b = 0, c = 0;  // where the result and the operands are
    Slot32 fourth = 0;                  // operand; of a collective: the mask of its members, 0: all
    Slot32 guard = 0;
    std::uint32_t list = 0;    // of a memory or tensor instruction: its row in Code::memory, Code::tensor
    std::int32_t n = 0;        // a small number: the kind of a shuffle, the group of a wait, ...
    std::uint32_t target = 0;  // of a branch
    Kind kind = Kind::Plain;
    bool has_guard = false, guard_negated = false;
};

enum class Space : std::uint8_t { Param, Global, Shared, Local, Generic };

// ld, st, atom, red, cp.async.
struct MemoryOp {
    Space space = Space::Global;
    bool has_base = true, wide_base = true;  // a register of 64 bits (or 32)
    bool sign = false;                       // a narrower number is extended by its sign
    int bytes = 4, count = 1;                // of one element; elements of a vector
    std::int64_t offset = 0;                 // added to the address
    Slot32 base = 0;
    Slot32 slots[4] = {};
    bool wide[4] = {};  // the register has 64 bits
    bool discard[4] = {}, sixteen[4] = {};
    // Atomics
    enum class Atomic : std::uint8_t { Add, Min, Max, And, Or, Xor, Exch, Cas, Inc, Dec } atomic = Atomic::Add;
    enum class Number : std::uint8_t { Unsigned, Signed, Float } number = Number::Unsigned;
    bool returns = false;
    Slot32 compare = 0;
    // cp.async
    std::int64_t from_offset = 0;
    bool from_has_base = true, from_wide_base = true;
    Slot32 from = 0, source_bytes = 0;
    bool has_source_bytes = false;
};

// mma and ldmatrix: the slots of their fragments.
struct TensorOp {
    Slot32 d[4] = {}, a[4] = {}, b[2] = {}, c[4] = {};
    int k = 16, a_registers = 4, b_registers = 2;
    bool bfloat = false;
    int matrices = 0;  // ldmatrix: 1, 2, 4
    bool transposed = false;
    MemoryOp row;  // ldmatrix: the address
};

// What an opcode's work is, for counts.
enum class Class : std::uint8_t { Tensor, Exponential, Float, Integer, Memory, Control, Count };
std::string_view name(Class what);

// One of `instructions` in the order of the text; `instr` says where it is in Code::instrs.
struct Origin {
    std::string_view opcode;
    Class what = Class::Integer;
    int line = 0;   // of the PTX text
    int place = 0;  // in Module::places
    std::uint32_t block = 0;
};

struct Constant {
    Slot32 slot;
    std::uint64_t bits;
    Width width;
};

struct Code {
    std::string_view name;
    const Module* module = nullptr;
    const Entry* entry = nullptr;
    std::vector<Instr> instrs;
    std::vector<int> origin;      // of each instr: its number in `origins`, -1 of a block's start
    std::vector<Origin> origins;  // one per instruction of the entry
    std::vector<MemoryOp> memory;
    std::vector<TensorOp> tensor;
    std::vector<Constant> constants;
    Slot32 special[static_cast<int>(Special::Count)] = {};  // 0: not used
    std::uint32_t register_bytes = 0;                       // of one warp
    std::uint32_t blocks = 0;
    std::int64_t static_shared_bytes = 0;  // dynamic shared memory starts there
    std::int64_t local_bytes = 0;          // of one thread
    int granule = 4;                       // the fewest bytes of shared memory that it moves at once
};

// Throws Error naming the opcode, type or modifier that is not known, and its line in the PTX.
Code decode(const Module& module, const Entry& entry);

// Opcodes of the entry that decode() would refuse, with their lines; empty: it runs.
struct Unknown {
    std::string what;
    int line;
};
std::vector<Unknown> unknown_in(const Module& module, const Entry& entry);

}  // namespace flashstep::gpu::ptx
