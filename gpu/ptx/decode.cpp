// Makes code of an entry: which handler runs an opcode, and where its operands are. What is not known is refused.
#include "gpu/ptx/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/error.h"
#include "gpu/ptx/lanes.h"
#include "gpu/ptx/words.h"

namespace flashstep::gpu::ptx {

namespace {

// Thrown by what fills an instruction; becomes an Error with the line, or a row of a list.
struct Refused {
    std::string what;
};

using Parts = std::vector<std::string_view>;

Parts split(std::string_view opcode) {
    Parts parts;
    for (std::size_t at = 0; at <= opcode.size();) {
        std::size_t end = opcode.find('.', at);
        if (end == std::string_view::npos) end = opcode.size();
        parts.push_back(opcode.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

bool has(const Parts& parts, std::string_view what) {
    return std::find(parts.begin(), parts.end(), what) != parts.end();
}

// Hints of caching and ordering that change nothing of what one thread block computes.
bool is_hint(std::string_view part) {
    static constexpr std::array<std::string_view, 14> kHints = {
        "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "volatile", "weak", "relaxed", "gpu", "cta", "sys"};
    return std::find(kHints.begin(), kHints.end(), part) != kHints.end() || part.starts_with("L1::") ||
           part.starts_with("L2::");
}

struct Type {
    int bytes;
    MemoryOp::Number number;
};
std::optional<Type> type_named(std::string_view text) {
    using enum MemoryOp::Number;
    static constexpr std::pair<std::string_view, Type> kTypes[] = {
        {"b8", {1, Unsigned}},  {"u8", {1, Unsigned}},  {"s8", {1, Signed}},  {"b16", {2, Unsigned}},
        {"u16", {2, Unsigned}}, {"s16", {2, Signed}},   {"f16", {2, Float}},  {"bf16", {2, Float}},
        {"b32", {4, Unsigned}}, {"u32", {4, Unsigned}}, {"s32", {4, Signed}}, {"f32", {4, Float}},
        {"b64", {8, Unsigned}}, {"u64", {8, Unsigned}}, {"s64", {8, Signed}}, {"f64", {8, Float}}};
    for (const auto& [name, type] : kTypes)
        if (name == text) return type;
    return std::nullopt;
}

Class class_of(const Parts& parts) {
    const std::string_view word = parts.front();
    const auto any = [&](std::initializer_list<std::string_view> words) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (any({"mma"})) return Class::Tensor;
    if (any({"ex2", "lg2", "tanh", "sin", "cos", "rsqrt"})) return Class::Exponential;
    if (any({"ld", "st", "atom", "red", "cp", "ldmatrix", "cvta"})) return Class::Memory;
    if (any({"bra", "ret", "exit", "bar", "barrier", "trap", "shfl", "vote", "activemask", "membar", "fence"}))
        return Class::Control;
    for (const std::string_view part : parts)
        if (part.starts_with('f') && type_named(part)) return Class::Float;
    return Class::Integer;
}

class Decoder {
  public:
    Decoder(const Module& module, const Entry& entry) : module_(module), entry_(entry) {
        code_.name = entry.name;
        code_.module = &module;
        code_.entry = &entry;
        place_registers();
        place_shared();
        for (const Variable& variable : entry.local) {
            code_.local_bytes = (code_.local_bytes + variable.alignment - 1) / variable.alignment * variable.alignment;
            symbols_[variable.name] = static_cast<std::uint64_t>(code_.local_bytes);
            code_.local_bytes += variable.bytes;
        }
        for (const Parameter& parameter : entry.parameters)
            symbols_[parameter.name] = static_cast<std::uint64_t>(parameter.offset);
        for (const Label& label : entry.labels) labels_[label.name] = label.instruction;
        code_.granule = 4;
    }

    Code decode() {
        const std::size_t count = entry_.instructions.size();
        std::vector<char> starts_block(count + 1, 0);
        starts_block[0] = 1;
        for (const Label& label : entry_.labels) starts_block[static_cast<std::size_t>(label.instruction)] = 1;
        std::vector<std::uint32_t> place(count + 1, 0);  // in code_.instrs
        bool after_control = false;
        for (std::size_t k = 0; k < count; ++k) {
            const bool block = starts_block[k] != 0 || after_control;
            place[k] = static_cast<std::uint32_t>(code_.instrs.size());
            if (block) start_block();
            one(k);
            const Instr::Kind kind = code_.instrs.back().kind;
            after_control = kind == Instr::Kind::Branch || kind == Instr::Kind::Barrier || kind == Instr::Kind::Exit;
        }
        place[count] = static_cast<std::uint32_t>(code_.instrs.size());
        start_block();
        Instr end;  // falling off the end is a return
        end.kind = Instr::Kind::Exit;
        push(end, -1);
        for (Instr& instr : code_.instrs)
            if (instr.kind == Instr::Kind::Branch) instr.target = place[instr.target];
        code_.blocks = blocks_;
        code_.register_bytes = (next_ + 63) / 64 * 64;
        return std::move(code_);
    }

    // Decodes an instruction, and says what is not known of it.
    std::string refusal(std::size_t k) {
        try {
            one(k);
        } catch (const Refused& refused) { return refused.what; }
        return {};
    }

  private:
    // ---- places of registers, constants and variables

    void place_registers() {
        slots_.resize(entry_.registers.size());
        next_ = 64;  // slot 0 is nobody's
        for (const Width width : {Width::Pred, Width::B16, Width::B32, Width::B64}) {
            for (std::size_t k = 0; k < slots_.size(); ++k)
                if (entry_.registers[k].width == width) slots_[k] = take(width);
            next_ = (next_ + 63) / 64 * 64;
        }
        scratch_ = take(Width::B64);
    }
    Slot32 take(Width width) {
        const Slot32 slot = next_;
        next_ += width == Width::Pred ? 4 : width == Width::B64 ? 8 * kLanes : 4 * kLanes;
        return slot;
    }
    void place_shared() {
        std::int64_t end = 0;
        int dynamic_alignment = 16;
        const auto place = [&](const Variable& variable) {
            if (variable.dynamic) {
                dynamic_alignment = std::max(dynamic_alignment, variable.alignment);
                return;
            }
            end = (end + variable.alignment - 1) / variable.alignment * variable.alignment;
            symbols_[variable.name] = static_cast<std::uint64_t>(end);
            end += variable.bytes;
        };
        // The module's variables are there for an entry that names them.
        for (const Variable& variable : module_.shared)
            if (variable.dynamic || names(variable.name)) place(variable);
        for (const Variable& variable : entry_.shared) place(variable);
        code_.static_shared_bytes =
            end == 0 ? 0 : (end + dynamic_alignment - 1) / dynamic_alignment * dynamic_alignment;
        for (const Variable& variable : module_.shared)
            if (variable.dynamic) symbols_[variable.name] = static_cast<std::uint64_t>(code_.static_shared_bytes);
    }
    bool names(std::string_view symbol) const {
        return std::any_of(entry_.operands.begin(), entry_.operands.end(),
                           [&](const Operand& operand) { return operand.text == symbol; });
    }

    Slot32 constant(std::uint64_t bits, Width width) {
        if (width == Width::B16) bits &= 0xffff;
        if (width == Width::B32) bits &= 0xffffffff;
        if (width == Width::Pred) bits = bits != 0;
        // 16 and 32 bits lie alike.
        const auto [found, added] = constants_.try_emplace({bits, width == Width::B16 ? Width::B32 : width}, 0);
        if (added) {
            found->second = take(width);
            if (width == Width::Pred) next_ = (next_ + 63) / 64 * 64;
            code_.constants.push_back({found->second, bits, width});
        }
        return found->second;
    }

    // ---- operands

    [[noreturn]] void refuse(std::string what) const { throw Refused{std::move(what)}; }
    const Operand& operand(int k) const {
        if (k >= instruction_->count) refuse(fmt::format("operand {} is missing", k + 1));
        return entry_.operands[static_cast<std::size_t>(instruction_->first + k)];
    }
    void expect_operands(int least, int most) const {
        if (instruction_->count < least || instruction_->count > most)
            refuse(fmt::format("{} operands, and it takes {}", instruction_->count,
                               least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most)));
    }
    std::string_view width_name(Width width) const {
        static constexpr std::array<std::string_view, 4> kNames = {"a predicate", "16 bits", "32 bits", "64 bits"};
        return kNames[static_cast<std::size_t>(width)];
    }
    Width width_of(const Operand& o) const { return entry_.registers[static_cast<std::size_t>(o.index)].width; }

    Slot32 register_slot(const Operand& o, Width width, bool narrow = false) const {
        if (o.kind != Operand::Kind::Register) refuse("a register is expected");
        const Width own = width_of(o);
        const bool fits = own == width || (narrow && own != Width::Pred && own != Width::B64 && width != Width::B64);
        if (!fits)
            refuse(fmt::format("register {} has {}, and {} are expected", o.text, width_name(own), width_name(width)));
        if (o.negated) refuse("a negated predicate as an operand");
        return slots_[static_cast<std::size_t>(o.index)];
    }
    Slot32 source(const Operand& o, Width width, bool narrow = false) {
        switch (o.kind) {
            case Operand::Kind::Register:
                if (o.negated && width == Width::Pred) return negated(o);
                return register_slot(o, width, narrow);
            case Operand::Kind::Integer:
                return constant(o.bits, width);
            case Operand::Kind::Float32:
                if (width != Width::B32) refuse("a number of single precision for other bits");
                return constant(o.bits, width);
            case Operand::Kind::Float64:
                if (width == Width::B64) return constant(o.bits, width);
                if (width != Width::B32) refuse("a number of double precision for other bits");
                return constant(std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))), width);
            case Operand::Kind::Special: {
                if (width != Width::B32) refuse(fmt::format("{} has 32 bits", o.text));
                Slot32& slot = code_.special[o.index];
                if (slot == 0) slot = take(Width::B32);
                return slot;
            }
            case Operand::Kind::Symbol:
                if (width != Width::B32 && width != Width::B64) refuse("an address for other bits");
                return constant(symbol(o.text), width);
            default:
                refuse("an operand of this form");
        }
    }
    // !p: put aside by an instruction of its own.
    Slot32 negated(const Operand& o) {
        Instr invert;
        invert.run = find_row("not.pred")->run;
        invert.a = slots_[static_cast<std::size_t>(o.index)];
        invert.d = take(Width::Pred);
        next_ = (next_ + 63) / 64 * 64;
        push(invert, -1);
        return invert.d;
    }
    // What cvt takes of a register of 64 bits for a narrower type.
    Slot32 lower_word(const Operand& o) {
        Instr cut;
        cut.run = find_row("cvt.u32.u64")->run;
        cut.a = slots_[static_cast<std::size_t>(o.index)];
        cut.d = take(Width::B32);
        push(cut, -1);
        return cut.d;
    }
    std::uint64_t symbol(std::string_view name) const {
        const auto found = symbols_.find(name);
        if (found != symbols_.end()) return found->second;
        if (std::find(module_.unsupported.begin(), module_.unsupported.end(), name) != module_.unsupported.end())
            refuse(fmt::format("{} is a variable of .global or .const, or a function: none of them is known", name));
        refuse(fmt::format("{} is not declared", name));
    }

    // ---- instructions

    void start_block() {
        Instr start;
        start.kind = Instr::Kind::Block;
        start.list = blocks_++;
        push(start, -1);
    }
    void push(const Instr& instr, int origin) {
        code_.instrs.push_back(instr);
        code_.origin.push_back(origin);
    }

    void one(std::size_t k) {
        instruction_ = &entry_.instructions[k];
        instr_ = Instr{};
        const Parts parts = split(instruction_->opcode);
        if (instruction_->guard >= 0) {
            if (entry_.registers[static_cast<std::size_t>(instruction_->guard)].width != Width::Pred)
                refuse("the guard is not a predicate");
            instr_.has_guard = true;
            instr_.guard_negated = instruction_->guard_negated;
            instr_.guard = slots_[static_cast<std::size_t>(instruction_->guard)];
            instr_.kind = Instr::Kind::Guarded;
        }
        try {
            fill(parts);
        } catch (const Refused& refused) {
            if (listing_) throw;
            throw Error(
                fmt::format("{}:{}: {}: {}", module_.name, instruction_->line, instruction_->opcode, refused.what));
        }
        if (instr_.has_guard && instr_.kind == Instr::Kind::Collective) instr_.kind = Instr::Kind::Collective;
        push(instr_, static_cast<int>(code_.origins.size()));
        code_.origins.push_back({instruction_->opcode, class_of(parts), instruction_->line, instruction_->place,
                                 blocks_ == 0 ? 0 : blocks_ - 1});
    }

    void fill(const Parts& parts) {
        struct Family {
            std::string_view word;
            void (Decoder::*fill)(const Parts&);
        };
        static constexpr Family kFamilies[] = {{"ld", &Decoder::fill_load},
                                               {"ldu", &Decoder::fill_load},
                                               {"st", &Decoder::fill_store},
                                               {"atom", &Decoder::fill_atomic},
                                               {"red", &Decoder::fill_atomic},
                                               {"cp", &Decoder::fill_async},
                                               {"cvta", &Decoder::fill_convert_address},
                                               {"bra", &Decoder::fill_branch},
                                               {"ret", &Decoder::fill_exit},
                                               {"exit", &Decoder::fill_exit},
                                               {"trap", &Decoder::fill_trap},
                                               {"bar", &Decoder::fill_barrier},
                                               {"barrier", &Decoder::fill_barrier},
                                               {"membar", &Decoder::fill_fence},
                                               {"fence", &Decoder::fill_fence},
                                               {"shfl", &Decoder::fill_shuffle},
                                               {"vote", &Decoder::fill_vote},
                                               {"activemask", &Decoder::fill_active_mask},
                                               {"mma", &Decoder::fill_mma},
                                               {"ldmatrix", &Decoder::fill_ldmatrix}};
        for (const Family& family : kFamilies)
            if (family.word == parts.front()) return (this->*family.fill)(parts);
        if (parts.front() == "mov" && fill_vector_move(parts)) return;
        fill_row(parts);
    }

    // The name in the table of rows: modifiers that change nothing go, and types that do not matter.
    static std::string row_name(const Parts& parts) {
        const std::string_view word = parts.front();
        const bool untyped = word == "mov" || word == "selp" || word == "shl";
        std::string name(word);
        for (std::size_t k = 1; k < parts.size(); ++k) {
            std::string_view part = parts[k];
            if (part == "rn" && (word == "add" || word == "sub" || word == "mul")) continue;
            name += '.';
            if (untyped && k + 1 == parts.size() && part != "pred") {
                name += 'b';
                part = part.substr(part.find_first_of("0123456789") == std::string_view::npos
                                       ? part.size()
                                       : part.find_first_of("0123456789"));
            }
            name += part;
        }
        return name;
    }

    void fill_row(const Parts& parts) {
        const std::string name = row_name(parts);
        const LaneRow* row = find_row(name);
        if (!row) refuse("unknown opcode, type or modifier");
        expect_operands(row->count + 1, row->count + 1);
        if (operand(0).second >= 0) refuse("a second predicate");
        instr_.run = row->run;
        Slot32* const slots[] = {&instr_.a, &instr_.b, &instr_.c, &instr_.fourth};
        for (int k = 0; k < row->count; ++k) {
            const Operand& o = operand(k + 1);
            const bool wider = parts.front() == "cvt" && o.kind == Operand::Kind::Register &&
                               width_of(o) == Width::B64 && row->operands[k] != Width::B64;
            *slots[k] = wider ? lower_word(o) : source(o, row->operands[k], row->narrow);
        }
        instr_.d = register_slot(operand(0), row->result);
    }

    // mov.b32 {lo, hi}, r and mov.b32 r, {lo, hi}; mov.b64 in the same way.
    bool fill_vector_move(const Parts& parts) {
        expect_operands(2, 2);
        const Operand &to = operand(0), &from = operand(1);
        const bool unpack = to.kind == Operand::Kind::Vector, pack = from.kind == Operand::Kind::Vector;
        if (!unpack && !pack) return false;
        const bool words = parts.back() == "b64";
        if (unpack == pack || parts.size() != 2 || (!words && parts.back() != "b32")) refuse("a move of this form");
        const Width whole = words ? Width::B64 : Width::B32, part = words ? Width::B32 : Width::B16;
        const Operand& vector = unpack ? to : from;
        if (vector.count != 2) refuse("a vector that does not have two parts");
        const Operand& lower = entry_.operands[static_cast<std::size_t>(vector.index)];
        const Operand& upper = entry_.operands[static_cast<std::size_t>(vector.index) + 1];
        if (unpack) {
            const auto target = [&](const Operand& o) {
                return o.kind == Operand::Kind::Discard ? scratch_ : register_slot(o, part);
            };
            instr_.a = source(from, whole);
            instr_.d = target(lower), instr_.b = target(upper);
            instr_.run = words ? unpack_words : unpack_halves;
        } else {
            instr_.a = source(lower, part), instr_.b = source(upper, part);
            instr_.d = register_slot(to, whole);
            instr_.run = words ? pack_words : pack_halves;
        }
        return true;
    }

    // ---- memory

    // Reads the space, the vector and the type of ld, st, atom, red; the parts that are none of these are given back.
    Parts memory_parts(const Parts& parts, MemoryOp& op) const {
        Parts rest;
        op.space = Space::Generic;
        for (std::size_t k = 1; k < parts.size(); ++k) {
            const std::string_view part = parts[k];
            if (part == "param" || part == "param::entry")
                op.space = Space::Param;
            else if (part == "global")
                op.space = Space::Global;
            else if (part == "shared" || part == "shared::cta")
                op.space = Space::Shared;
            else if (part == "local")
                op.space = Space::Local;
            else if (part == "v2")
                op.count = 2;
            else if (part == "v4")
                op.count = 4;
            else if (const auto type = type_named(part))
                op.bytes = type->bytes, op.sign = type->number == MemoryOp::Number::Signed, op.number = type->number;
            else if (!is_hint(part))
                rest.push_back(part);
        }
        if (!type_named(parts.back())) refuse(fmt::format("unknown type .{}", parts.back()));
        return rest;
    }
    void fill_address(const Operand& o, bool& has_base, bool& wide, Slot32& base, std::int64_t& offset) const {
        if (o.kind != Operand::Kind::Address) refuse("an address in brackets is expected");
        offset = static_cast<std::int64_t>(o.bits);
        has_base = o.base == Operand::Kind::Register;
        if (has_base) {
            const Width width = width_of(o);
            if (width != Width::B32 && width != Width::B64) refuse("an address of 32 or 64 bits is expected");
            wide = width == Width::B64;
            base = slots_[static_cast<std::size_t>(o.index)];
        } else if (o.base == Operand::Kind::Symbol) {
            offset += static_cast<std::int64_t>(symbol(o.text));
        }
    }
    void fill_address(const Operand& o, MemoryOp& op) {
        fill_address(o, op.has_base, op.wide_base, op.base, op.offset);
        if (op.space == Space::Shared || op.space == Space::Generic)
            code_.granule = std::min(code_.granule, op.bytes * op.count);
    }
    // The registers of ld and st: as wide as the type, or wider.
    void fill_values(const Operand& o, MemoryOp& op, bool sources) {
        const bool vector = o.kind == Operand::Kind::Vector;
        if ((vector ? o.count : 1) != op.count)
            refuse(fmt::format("{} values, and its type has {}", vector ? o.count : 1, op.count));
        for (int k = 0; k < op.count; ++k) {
            const Operand& value = vector ? entry_.operands[static_cast<std::size_t>(o.index + k)] : o;
            if (value.kind == Operand::Kind::Discard && !sources) {
                op.discard[k] = true;
            } else if (value.kind == Operand::Kind::Register) {
                const Width width = width_of(value);
                const int bytes = width == Width::B16 ? 2 : width == Width::B32 ? 4 : width == Width::B64 ? 8 : 0;
                if (bytes < op.bytes) refuse(fmt::format("register {} is narrower than the type", value.text));
                op.slots[k] = slots_[static_cast<std::size_t>(value.index)];
                op.wide[k] = bytes == 8;
                op.sixteen[k] = width == Width::B16;
            } else if (sources) {
                op.wide[k] = op.bytes == 8;
                op.slots[k] = source(value, op.bytes == 8 ? Width::B64 : op.bytes == 4 ? Width::B32 : Width::B16);
            } else {
                refuse("a register is expected");
            }
        }
    }
    void add(const MemoryOp& op) {
        instr_.list = static_cast<std::uint32_t>(code_.memory.size());
        code_.memory.push_back(op);
    }

    void fill_load(const Parts& parts) {
        MemoryOp op;
        const Parts rest = memory_parts(parts, op);
        if (!rest.empty() || parts.front() == "ldu")
            refuse(fmt::format("unknown modifier .{}", rest.empty() ? "ldu" : rest[0]));
        expect_operands(2, 2);
        fill_values(operand(0), op, false);
        fill_address(operand(1), op);
        instr_.run = load;
        add(op);
    }
    void fill_store(const Parts& parts) {
        MemoryOp op;
        const Parts rest = memory_parts(parts, op);
        if (!rest.empty()) refuse(fmt::format("unknown modifier .{}", rest[0]));
        if (op.space == Space::Param) refuse("parameters are only read");
        expect_operands(2, 2);
        fill_address(operand(0), op);
        fill_values(operand(1), op, true);
        instr_.run = store;
        add(op);
    }
    void fill_atomic(const Parts& parts) {
        using enum MemoryOp::Atomic;
        static constexpr std::pair<std::string_view, MemoryOp::Atomic> kKinds[] = {
            {"add", Add}, {"min", Min}, {"max", Max},   {"and", And},
            {"or", Or},   {"xor", Xor}, {"exch", Exch}, {"cas", Cas}};
        MemoryOp op;
        const Parts rest = memory_parts(parts, op);
        const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                       [&](const auto& row) { return rest.size() == 1 && row.first == rest[0]; });
        if (kind == std::end(kKinds))
            refuse(rest.empty() ? "which operation?" : fmt::format("unknown modifier .{}", rest.back()));
        op.atomic = kind->second;
        const bool is_float = op.number == MemoryOp::Number::Float;
        if (op.count != 1 || op.bytes < 4 || (is_float && op.atomic != Add) || op.space == Space::Param ||
            op.space == Space::Local)
            refuse("an atomic of this type");
        op.returns = parts.front() == "atom";
        const int first = op.returns ? 1 : 0, wanted = first + 2 + (op.atomic == Cas ? 1 : 0);
        expect_operands(wanted, wanted);
        const Width width = op.bytes == 8 ? Width::B64 : Width::B32;
        fill_address(operand(first), op);
        instr_.a = source(operand(first + 1), width);
        if (op.atomic == Cas) instr_.b = source(operand(first + 2), width);
        if (op.returns && operand(0).kind == Operand::Kind::Discard)
            op.returns = false;
        else if (op.returns)
            instr_.d = register_slot(operand(0), width);
        instr_.run = atomic;
        add(op);
    }
    void fill_async(const Parts& parts) {
        const std::string_view opcode = instruction_->opcode;
        if (opcode == "cp.async.commit_group") {
            expect_operands(0, 0);
            instr_.run = commit_async;
        } else if (opcode == "cp.async.wait_group" || opcode == "cp.async.wait_all") {
            const bool all = parts.back() == "wait_all";
            expect_operands(all ? 0 : 1, all ? 0 : 1);
            if (!all && operand(0).kind != Operand::Kind::Integer) refuse("a number is expected");
            instr_.n = all ? -1 : static_cast<std::int32_t>(std::min<std::uint64_t>(operand(0).bits, 1u << 30));
            instr_.run = wait_async;
        } else {
            fill_copy(parts);
        }
        need("cp.async", 80);
    }
    void fill_copy(const Parts& parts) {
        Parts known;
        for (const std::string_view part : parts)
            if (!part.starts_with("L2::")) known.push_back(part);
        const bool cached = has(known, "ca");
        const Parts expected = {"cp", "async", cached ? "ca" : "cg",
                                known.size() > 3 && known[3] == "shared::cta" ? "shared::cta" : "shared", "global"};
        if (known != expected) refuse("unknown opcode, type or modifier");
        expect_operands(3, 4);
        MemoryOp op;
        op.space = Space::Shared;
        if (operand(2).kind != Operand::Kind::Integer) refuse("the number of bytes is a constant");
        op.bytes = static_cast<int>(operand(2).bits);
        if (op.bytes != 16 && (!cached || (op.bytes != 4 && op.bytes != 8)))
            refuse(fmt::format("a copy of {} bytes", operand(2).bits));
        fill_address(operand(0), op);
        fill_address(operand(1), op.from_has_base, op.from_wide_base, op.from, op.from_offset);
        op.has_source_bytes = instruction_->count == 4;
        if (op.has_source_bytes) op.source_bytes = source(operand(3), Width::B32);
        instr_.run = copy_async;
        add(op);
    }
    void fill_convert_address(const Parts& parts) {
        const bool to = parts.size() > 1 && parts[1] == "to";
        if (parts.size() != (to ? 4u : 3u) || parts.back() != "u64") refuse("unknown opcode, type or modifier");
        expect_operands(2, 2);
        const std::string_view space = parts[to ? 2 : 1];
        const std::uint64_t window = space == "global"   ? 0
                                     : space == "shared" ? kSharedWindow
                                     : space == "local"  ? kLocalWindow
                                     : space == "param"  ? kParamWindow
                                                         : 1;
        if (window == 1) refuse(fmt::format("unknown space .{}", space));
        instr_.a = source(operand(1), Width::B64);
        instr_.d = register_slot(operand(0), Width::B64);
        instr_.n = static_cast<std::int32_t>(window >> 32) * (to ? -1 : 1);
        instr_.run = add_window;
    }

    // ---- control and exchange

    void need(std::string_view what, int least) const {
        if (module_.target.arch < least)
            refuse(fmt::format("{} needs sm_{} or later, and this module is for sm_{}", what, least,
                               text(module_.target)));
    }
    void fill_branch(const Parts& parts) {
        if (parts.size() > 2 || (parts.size() == 2 && parts[1] != "uni")) refuse("unknown modifier");
        expect_operands(1, 1);
        const auto found = labels_.find(operand(0).text);
        if (operand(0).kind != Operand::Kind::Symbol || found == labels_.end())
            refuse(fmt::format("{} is not a label", operand(0).text));
        instr_.kind = Instr::Kind::Branch;
        instr_.target = static_cast<std::uint32_t>(found->second);
    }
    void fill_exit(const Parts& parts) {
        if (parts.size() > 2 || (parts.size() == 2 && parts[1] != "uni")) refuse("unknown modifier");
        expect_operands(0, 0);
        instr_.kind = Instr::Kind::Exit;
    }
    void fill_trap(const Parts& parts) {
        if (parts.size() > 1) refuse("unknown modifier");
        instr_.kind = Instr::Kind::Trap;
    }
    void fill_fence(const Parts&) { instr_.run = nothing; }  // blocks run one after another, and warps in turn
    void fill_barrier(const Parts& parts) {
        const std::string_view opcode = instruction_->opcode;
        if (opcode == "bar.warp.sync") {
            expect_operands(1, 1);
            instr_.kind = Instr::Kind::Collective;
            instr_.fourth = source(operand(0), Width::B32);
            instr_.run = sync_warp;
            return;
        }
        const bool whole = opcode == "bar.sync" || opcode == "bar.cta.sync" || opcode == "barrier.sync.aligned" ||
                           opcode == "barrier.sync" || opcode == "barrier.cta.sync.aligned" ||
                           opcode == "barrier.cta.sync";
        if (!whole) refuse("unknown opcode, type or modifier");
        (void)parts;
        expect_operands(1, 2);
        if (instruction_->count == 2) refuse("a barrier of some of the threads");
        if (operand(0).kind != Operand::Kind::Integer || operand(0).bits > 15)
            refuse("a barrier's number, 0 to 15, is expected");
        instr_.n = static_cast<std::int32_t>(operand(0).bits);
        instr_.kind = Instr::Kind::Barrier;
    }
    void fill_shuffle(const Parts& parts) {
        static constexpr std::array<std::string_view, 4> kKinds = {"up", "down", "bfly", "idx"};
        const auto kind = parts.size() == 4 ? std::find(kKinds.begin(), kKinds.end(), parts[2]) : kKinds.end();
        if (kind == kKinds.end() || parts[1] != "sync" || parts[3] != "b32") refuse("unknown opcode, type or modifier");
        expect_operands(5, 5);
        instr_.kind = Instr::Kind::Collective;
        instr_.n = static_cast<std::int32_t>(kind - kKinds.begin());
        instr_.a = source(operand(1), Width::B32);
        instr_.b = source(operand(2), Width::B32);
        instr_.c = source(operand(3), Width::B32);
        instr_.fourth = source(operand(4), Width::B32);
        instr_.d = register_slot(operand(0), Width::B32);
        if (operand(0).second >= 0) instr_.target = 1 + slots_[static_cast<std::size_t>(operand(0).second)];
        instr_.run = shuffle;
    }
    void fill_vote(const Parts& parts) {
        const std::string_view opcode = instruction_->opcode;
        (void)parts;
        instr_.n = opcode == "vote.sync.any.pred"     ? kAny
                   : opcode == "vote.sync.all.pred"   ? kEvery
                   : opcode == "vote.sync.ballot.b32" ? kBallot
                                                      : -1;
        if (instr_.n < 0) refuse("unknown opcode, type or modifier");
        expect_operands(3, 3);
        instr_.kind = Instr::Kind::Collective;
        instr_.a = source(operand(1), Width::Pred);
        instr_.fourth = source(operand(2), Width::B32);
        instr_.d = register_slot(operand(0), instr_.n == kBallot ? Width::B32 : Width::Pred);
        instr_.run = vote;
    }
    void fill_active_mask(const Parts& parts) {
        if (parts.size() != 2 || parts[1] != "b32") refuse("unknown type");
        expect_operands(1, 1);
        instr_.d = register_slot(operand(0), Width::B32);
        instr_.run = active_mask;
    }

    // ---- tensor cores

    void fill_fragment(const Operand& o, Slot32* slots, int count, bool sources) {
        if (o.kind != Operand::Kind::Vector || o.count != count) {
            if (count == 1 && o.kind == Operand::Kind::Register) {
                slots[0] = register_slot(o, Width::B32);
                return;
            }
            refuse(fmt::format("a fragment of {} registers is expected", count));
        }
        for (int k = 0; k < count; ++k) {
            const Operand& part = entry_.operands[static_cast<std::size_t>(o.index + k)];
            slots[k] = sources ? source(part, Width::B32) : register_slot(part, Width::B32);
        }
    }
    void fill_mma(const Parts& parts) {
        TensorOp op;
        const bool k8 = has(parts, "m16n8k8");
        op.bfloat = has(parts, "bf16");
        const std::string_view type = op.bfloat ? "bf16" : "f16";
        const Parts expected = {"mma", "sync", "aligned", k8 ? "m16n8k8" : "m16n8k16", "row", "col", "f32",
                                type,  type,   "f32"};
        if (parts != expected) refuse("unknown shape, type or modifier");
        expect_operands(4, 4);
        op.k = k8 ? 8 : 16;
        op.a_registers = k8 ? 2 : 4, op.b_registers = k8 ? 1 : 2;
        fill_fragment(operand(0), op.d, 4, false);
        fill_fragment(operand(1), op.a, op.a_registers, true);
        fill_fragment(operand(2), op.b, op.b_registers, true);
        fill_fragment(operand(3), op.c, 4, true);
        if (!k8 || op.bfloat) need(k8 ? "m16n8k8 of bf16" : "m16n8k16", 80);
        instr_.kind = Instr::Kind::Collective;
        instr_.run = multiply_matrices;
        instr_.list = static_cast<std::uint32_t>(code_.tensor.size());
        code_.tensor.push_back(op);
    }
    void fill_ldmatrix(const Parts& parts) {
        TensorOp op;
        op.matrices = has(parts, "x4") ? 4 : has(parts, "x2") ? 2 : 1;
        op.transposed = has(parts, "trans");
        Parts expected = {"ldmatrix", "sync", "aligned", "m8n8",
                          op.matrices == 4   ? "x4"
                          : op.matrices == 2 ? "x2"
                                             : "x1"};
        if (op.transposed) expected.push_back("trans");
        expected.push_back(has(parts, "shared::cta") ? "shared::cta" : "shared");
        expected.push_back("b16");
        if (parts != expected) refuse("unknown shape, type or modifier");
        expect_operands(2, 2);
        fill_fragment(operand(0), op.d, op.matrices, false);
        op.row.space = Space::Shared;
        op.row.bytes = 16;
        fill_address(operand(1), op.row);
        instr_.kind = Instr::Kind::Collective;
        instr_.run = load_matrices;
        instr_.list = static_cast<std::uint32_t>(code_.tensor.size());
        code_.tensor.push_back(op);
    }

    const Module& module_;
    const Entry& entry_;
    Code code_;
    std::vector<Slot32> slots_;
    Slot32 next_ = 0, scratch_ = 0;
    std::map<std::pair<std::uint64_t, Width>, Slot32> constants_;
    std::unordered_map<std::string_view, std::uint64_t> symbols_;
    std::unordered_map<std::string_view, int> labels_;
    std::uint32_t blocks_ = 0;
    const Instruction* instruction_ = nullptr;
    Instr instr_;

  public:
    bool listing_ = false;
};

}  // namespace

std::string_view name(Class what) {
    static constexpr std::array<std::string_view, static_cast<std::size_t>(Class::Count)> kNames = {
        "tensor", "exponential", "float", "integer", "memory", "control"};
    return kNames[static_cast<std::size_t>(what)];
}

const LaneRow* find_row(std::string_view name) {
    static const std::unordered_map<std::string_view, const LaneRow*> rows = [] {
        std::unordered_map<std::string_view, const LaneRow*> by_name;
        const LaneRows table = avx2::supported() ? avx2::lane_rows() : any_processor::lane_rows();
        for (int k = 0; k < table.count; ++k) by_name.emplace(table.rows[k].name, &table.rows[k]);
        return by_name;
    }();
    const auto found = rows.find(name);
    return found == rows.end() ? nullptr : found->second;
}

Code decode(const Module& module, const Entry& entry) { return Decoder(module, entry).decode(); }

std::vector<Unknown> unknown_in(const Module& module, const Entry& entry) {
    std::vector<Unknown> unknown;
    Decoder decoder(module, entry);
    decoder.listing_ = true;
    for (std::size_t k = 0; k < entry.instructions.size(); ++k) {
        const std::string what = decoder.refusal(k);
        if (what.empty()) continue;
        const Instruction& instruction = entry.instructions[k];
        unknown.push_back({fmt::format("{}: {}", instruction.opcode, what), instruction.line});
    }
    return unknown;
}

}  // namespace flashstep::gpu::ptx
