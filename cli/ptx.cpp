// flashstep ptx: what is in a PTX file, and any entry of it run on this CPU under the executor's checks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "core/io/file.h"
#include "core/io/npy.h"
#include "gpu/half.h"
#include "gpu/ptx/machine.h"

namespace flashstep::cli {
namespace {

namespace ptx = gpu::ptx;

struct State {
    std::string file, entry, grid = "1", block, shared = "0", target, seed = "1", out;
    std::vector<std::string> arguments;
    bool list = false, counts = false, unchecked = false;
};

// ---- numbers of all types

struct Number {
    std::string_view name, npy;  // "f32", "f4"
    int bytes;
    char kind;  // f, b (bf16), s, u
};
constexpr std::array<Number, 12> kNumbers = {{{"f16", "f2", 2, 'f'},
                                              {"bf16", "", 2, 'b'},
                                              {"f32", "f4", 4, 'f'},
                                              {"f64", "f8", 8, 'f'},
                                              {"s8", "i1", 1, 's'},
                                              {"s16", "i2", 2, 's'},
                                              {"s32", "i4", 4, 's'},
                                              {"s64", "i8", 8, 's'},
                                              {"u8", "u1", 1, 'u'},
                                              {"u16", "u2", 2, 'u'},
                                              {"u32", "u4", 4, 'u'},
                                              {"u64", "u8", 8, 'u'}}};
const Number* number_named(std::string_view name) {
    const auto found = std::ranges::find(kNumbers, name, &Number::name);
    return found == kNumbers.end() ? nullptr : &*found;
}

void encode(const Number& type, double value, std::byte* to) {
    if (type.kind == 'b' || (type.kind == 'f' && type.bytes == 2)) {
        const auto single = static_cast<float>(value);
        const std::uint16_t bits = type.kind == 'b' ? gpu::bfloat_bits(single) : gpu::half_bits(single);
        std::memcpy(to, &bits, 2);
    } else if (type.kind == 'f' && type.bytes == 4) {
        const auto single = static_cast<float>(value);
        std::memcpy(to, &single, 4);
    } else if (type.kind == 'f') {
        std::memcpy(to, &value, 8);
    } else {
        const auto bits = value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                                    : static_cast<std::uint64_t>(value);
        std::memcpy(to, &bits, static_cast<std::size_t>(type.bytes));
    }
}
double decode(const Number& type, const std::byte* from) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, static_cast<std::size_t>(type.bytes));
    if (type.kind == 'b') return gpu::bfloat_value(static_cast<std::uint16_t>(bits));
    if (type.kind == 'f' && type.bytes == 2) return gpu::half_value(static_cast<std::uint16_t>(bits));
    if (type.kind == 'f' && type.bytes == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (type.kind == 'f') return std::bit_cast<double>(bits);
    if (type.kind == 'u') return static_cast<double>(bits);
    const int shift = 64 - 8 * type.bytes;
    return static_cast<double>(static_cast<std::int64_t>(bits << shift) >> shift);
}

// ---- arguments: NAME=VALUE, in the order of the entry's parameters

struct Array {
    std::string name;
    const Number* type;
    std::vector<std::int64_t> shape;
};

std::vector<std::int64_t> shape_of(const std::string& argument, std::string_view text) {
    std::vector<std::int64_t> shape;
    std::int64_t count = 1;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('x', at), text.size());
        shape.push_back(
            whole_number("--arg " + argument, std::string(text.substr(at, end - at)), 1, std::int64_t{1} << 31));
        count *= shape.back();
        if (count > std::int64_t{1} << 31)
            throw Error(fmt::format("--arg {}: over the limit of 2^31 elements", argument));
        at = end + 1;
    }
    return shape;
}

// The type that a file's header names.
const Number& type_of_file(const std::string& path, const std::string& bytes) {
    const std::size_t at = bytes.substr(0, 4096).find("'descr'");
    const std::size_t quote = at == std::string::npos ? at : bytes.find('\'', bytes.find(':', at));
    if (quote != std::string::npos) {
        std::string_view name = std::string_view(bytes).substr(quote + 1, 3);
        if (!name.empty() && (name[0] == '<' || name[0] == '>' || name[0] == '|' || name[0] == '='))
            name.remove_prefix(1);
        if (name == "b1") return *number_named("u8");
        for (const Number& number : kNumbers)
            if (number.npy == name.substr(0, 2)) return number;
    }
    throw Error(fmt::format("{}: its element type is not known", path));
}

class Arguments {
  public:
    Arguments(const ptx::Entry& entry, const std::vector<std::string>& texts, gpu::simt::Executor& executor)
        : executor_(executor) {
        if (texts.size() != entry.parameters.size()) {
            std::string list;
            for (const ptx::Parameter& p : entry.parameters)
                list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", p.name, type_text(p));
            throw Error(
                fmt::format("{} takes {} arguments, got {}", entry.demangled, entry.parameters.size(), texts.size()),
                fmt::format("--arg for each, in this order: {}", list));
        }
        for (std::size_t k = 0; k < texts.size(); ++k) add(entry.parameters[k], texts[k]);
    }
    static std::string type_text(const ptx::Parameter& p) {
        return p.type == "b8" && p.bytes > 1 ? fmt::format("{} bytes", p.bytes) : std::string(p.type);
    }
    std::vector<std::vector<std::byte>> values;
    std::vector<Array> arrays;

  private:
    void add(const ptx::Parameter& parameter, const std::string& argument) {
        const std::size_t equals = argument.find('=');
        if (equals == std::string::npos || equals == 0)
            throw Error(fmt::format("--arg {} is not NAME=VALUE", argument),
                        "for example n=64, Q=q.npy or O=f32:64x16");
        const std::string name = argument.substr(0, equals);
        std::string value = argument.substr(equals + 1);
        std::vector<std::byte> bytes(static_cast<std::size_t>(parameter.bytes));
        const auto takes_array = [&] {
            if (parameter.bytes != 8)
                throw Error(fmt::format("--arg {}: {} has {}, and an array is an address of 64 bits", argument,
                                        parameter.name, type_text(parameter)));
        };
        const auto address = [&] {
            const std::uint64_t at = executor_.tensors().back().address;
            std::memcpy(bytes.data(), &at, 8);
            values.push_back(bytes);
        };
        enum class Start { Unwritten, Zeros } start = Start::Unwritten;
        bool writable = false;
        if (value.starts_with("zeros:")) start = Start::Zeros, value = value.substr(6);
        if (value.starts_with("inout:")) writable = true, value = value.substr(6);
        const std::size_t colon = value.find(':');
        const Number* type = colon == std::string::npos ? nullptr : number_named(value.substr(0, colon));
        if (value.ends_with(".npy")) {
            takes_array();
            const std::string path = type ? value.substr(colon + 1) : value;
            const std::string text = io::read_file(path);
            const io::NpyArray array = io::parse_npy(text, path);
            if (!type) type = &type_of_file(path, text);
            std::vector<std::byte> all(array.values.size() * static_cast<std::size_t>(type->bytes));
            for (std::size_t k = 0; k < array.values.size(); ++k)
                encode(*type, array.values[k], all.data() + k * static_cast<std::size_t>(type->bytes));
            if (writable) {
                executor_.add_temporary(name, static_cast<std::int64_t>(array.values.size()), type->bytes);
                executor_.fill(name, all);
            } else {
                executor_.add_input(name, all, type->bytes);
            }
            arrays.push_back({name, type, array.shape});
            address();
        } else if (type) {
            takes_array();
            const std::vector<std::int64_t> shape = shape_of(argument, std::string_view(value).substr(colon + 1));
            std::int64_t count = 1;
            for (const std::int64_t n : shape) count *= n;
            executor_.add_temporary(name, count, type->bytes);
            if (start == Start::Zeros) executor_.zero(name);
            arrays.push_back({name, type, shape});
            address();
        } else if (value.starts_with("hex:")) {
            const std::string digits = value.substr(4);
            if (digits.size() != 2 * bytes.size() ||
                digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
                throw Error(fmt::format("--arg {}: {} takes {} bytes, so {} hexadecimal digits", argument,
                                        parameter.name, bytes.size(), 2 * bytes.size()));
            for (std::size_t k = 0; k < bytes.size(); ++k)
                bytes[k] = static_cast<std::byte>(std::stoi(digits.substr(2 * k, 2), nullptr, 16));
            values.push_back(bytes);
        } else {
            add_number(parameter, argument, value, bytes);
        }
    }
    void add_number(const ptx::Parameter& parameter, const std::string& argument, const std::string& value,
                    std::vector<std::byte>& bytes) {
        std::string name(parameter.type);
        if (name[0] == 'b') name[0] = value.find_first_of(".eE") == std::string::npos ? 's' : 'f';
        const Number* type = number_named(name);
        if (!type || type->bytes != parameter.bytes)
            throw Error(fmt::format("--arg {}: {} is {}, not a number", argument, parameter.name, type_text(parameter)),
                        "its bytes are given as hex:0011...");
        if (type->kind == 'f') {
            encode(*type, finite_number("--arg " + argument, value), bytes.data());
        } else {
            const std::int64_t limit = type->bytes == 8 ? std::numeric_limits<std::int64_t>::max()
                                                        : (std::int64_t{1} << (8 * type->bytes)) - 1;
            const std::int64_t whole =
                whole_number("--arg " + argument, value, type->kind == 'u' ? 0 : -limit / 2 - 1, limit);
            std::memcpy(bytes.data(), &whole, bytes.size());
        }
        values.push_back(bytes);
    }
    gpu::simt::Executor& executor_;
};

gpu::Index3 three(const std::string& option, const std::string& text) {
    int parts[3] = {1, 1, 1};
    std::size_t at = 0;
    for (int k = 0; k < 3 && at <= text.size(); ++k) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        parts[k] = static_cast<int>(whole_number(option, text.substr(at, end - at), 1, 0x7fffffff));
        at = end + 1;
    }
    if (at <= text.size()) throw Error(fmt::format("{} {} has more than X,Y,Z", option, text));
    return {parts[0], parts[1], parts[2]};
}

// ---- the two things that the command does

int list(const ptx::Module& module) {
    std::string page = fmt::format("{}: PTX {} for sm_{}\n", module.name, module.version, text(module.target));
    bool all_known = true;
    for (const ptx::Entry& entry : module.entries) {
        page += fmt::format("\n{}\n", entry.demangled);
        if (entry.demangled != entry.name) page += fmt::format("  named {}\n", entry.name);
        for (const ptx::Parameter& p : entry.parameters)
            page += fmt::format("  {:<14} {}\n", Arguments::type_text(p), p.name);
        const std::vector<ptx::Unknown> unknown = ptx::unknown_in(module, entry);
        if (unknown.empty()) {
            page += fmt::format("  {} instructions, all known\n", entry.instructions.size());
            continue;
        }
        all_known = false;
        page += fmt::format("  {} instructions, {} not known:\n", entry.instructions.size(), unknown.size());
        for (const ptx::Unknown& u : unknown) page += fmt::format("    line {}: {}\n", u.line, u.what);
    }
    print_page(page);
    return all_known ? kOk : kDifferent;
}

const ptx::Entry& entry_named(const ptx::Module& module, const std::string& name) {
    std::vector<const ptx::Entry*> found;
    for (const ptx::Entry& entry : module.entries) {
        if (entry.name == name || entry.demangled == name) return entry;
        if (entry.demangled.find(name) != std::string::npos) found.push_back(&entry);
    }
    if (found.size() == 1 && !name.empty()) return *found.front();
    std::vector<std::string> names;
    for (const ptx::Entry& entry : module.entries) names.push_back(entry.demangled);
    throw Error(name.empty() ? "--entry is needed" : fmt::format("{} entries are named {}", found.size(), name),
                fmt::format("there are: {}", fmt::join(names, "; ")));
}

std::string counts_text(const InstructionCounts& counts) {
    std::string page = fmt::format("{} instructions of warps, {} of lanes\n", counts.warps, counts.lanes);
    for (const Executed& row : counts.classes)
        if (row.lanes > 0)
            page += fmt::format("  {:<44} {:>14} {:>5.1f} %\n", row.what, row.lanes,
                                100.0 * static_cast<double>(row.lanes) / static_cast<double>(counts.lanes));
    page += "by opcode\n";
    for (const Executed& row : counts.opcodes)
        if (row.lanes > 0) page += fmt::format("  {:<44} {:>14}\n", row.what, row.lanes);
    if (!counts.lines.empty()) page += "by line of the kernel\n";
    for (const Executed& row : counts.lines)
        if (row.lanes > 0) page += fmt::format("  {:<44} {:>14}\n", row.what, row.lanes);
    return page;
}

int run_entry(const State& state, const ptx::Module& module) {
    const ptx::Entry& entry = entry_named(module, state.entry);
    if (state.block.empty()) throw Error("--block is needed", "for example --block 128");
    ptx::Machine machine(module);
    machine.choose(entry);
    gpu::simt::Executor executor({.checks = state.unchecked ? gpu::Checks::Off : gpu::Checks::On,
                                  .seed = seed_number("--seed", state.seed),
                                  .target = module.target,
                                  .front = &machine});
    const Arguments arguments(entry, state.arguments, executor);
    const std::string name(entry.demangled.substr(0, entry.demangled.find('(')));
    const gpu::Launch launch{.name = name,
                             .grid = three("--grid", state.grid),
                             .block = three("--block", state.block),
                             .shared_bytes = whole_number("--shared", state.shared, 0, 1 << 24),
                             .limit = gpu::SharedLimit::OptIn};
    if (!state.out.empty()) {
        std::error_code failed;
        std::filesystem::create_directories(state.out, failed);
        if (failed) throw Error(fmt::format("cannot make the folder {}: {}", state.out, failed.message()));
    }
    ptx::decode(module, entry);  // what is not known of it is wrong use, not a finding
    gpu::check_launch(launch, gpu::opt_in_shared_bytes(module.target), fmt::format("sm_{}", text(module.target)));
    int status = kOk;
    try {
        executor.run_in_front({&launch, &typeid(void), arguments.values});
    } catch (const Error& error) {
        print_error(error);
        status = kDifferent;
    }
    if (!state.out.empty()) {
        for (const Array& array : arguments.arrays) {
            const std::vector<std::byte>& bytes = executor.bytes(array.name);
            std::vector<double> values(bytes.size() / static_cast<std::size_t>(array.type->bytes));
            for (std::size_t k = 0; k < values.size(); ++k)
                values[k] = decode(*array.type, bytes.data() + k * static_cast<std::size_t>(array.type->bytes));
            io::write_npy(state.out + "/" + array.name + ".npy", array.shape, values);
        }
    }
    if (status != kOk) return status;
    std::string page =
        fmt::format("{} ran on this CPU from its PTX for sm_{} (no GPU involved){}\n", name, text(module.target),
                    state.unchecked ? ", unchecked" : "; no check of the executor failed");
    for (const gpu::simt::Tensor& tensor : executor.tensors())
        page += fmt::format("  {:<12} {} bytes read, {} written\n", tensor.name, tensor.read_bytes, tensor.write_bytes);
    if (state.counts) page += counts_text(machine.counts());
    print_page(page);
    return kOk;
}

int run_ptx(const State& state) {
    if (state.file.empty()) throw Error("a FILE of PTX is needed", "nvcc -ptx -arch=compute_80 -lineinfo makes one");
    const ptx::Module module = ptx::read_module_file(state.file);
    if (state.list) return list(module);
    return run_entry(state, module);
}

Action add(const Options& options, const Start&) {
    const auto state = std::make_shared<State>();
    options.text("FILE", state->file, "PTX, as nvcc -ptx writes it");
    options.flag("--list", state->list, "show its entries, their parameters, and instructions that are not known");
    options.text("--entry", state->entry, "the entry to run: its name, or a part of it that only one has", "NAME");
    options.text("--grid", state->grid, "blocks (1)", "X,Y,Z");
    options.text("--block", state->block, "threads of a block", "X,Y,Z");
    options.text("--shared", state->shared, "dynamic shared memory of a block (0)", "BYTES");
    options.texts("--arg", state->arguments,
                  "an argument, in the entry's order: n=64, tau=0.125, Q=q.npy, Q=bf16:q.npy, X=inout:x.npy, "
                  "O=f32:64x16 (unwritten), O=zeros:f32:64x16, p=hex:00ff");
    options.text("--seed", state->seed, "another order of blocks and warps (1)", "N");
    options.text("--out", state->out, "write every array there as NAME.npy", "DIR");
    options.flag("--counts", state->counts, "how often instructions ran: by class, opcode and line");
    options.flag("--unchecked", state->unchecked, "faster, without the checks for races and unwritten values");
    return [state] { return run_ptx(*state); };
}

}  // namespace

const Command kPtx{"ptx", "Runs any kernel's PTX on this CPU, checked; exit 1 if a check fails", add};

}  // namespace flashstep::cli
