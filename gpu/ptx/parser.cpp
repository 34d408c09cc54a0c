// Reads PTX text.
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>
#include <unordered_map>

#include "core/error.h"
#include "gpu/ptx/module.h"

namespace flashstep::gpu::ptx {

namespace {

struct Token {
    enum class Kind { End, Word, Number, Text, Mark };
    Kind kind = Kind::End;
    std::string_view text;
    int line = 0;
    bool is(std::string_view what) const { return kind != Kind::Text && text == what; }
};

constexpr bool starts_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Words hold dots, because an opcode does; a number such as 1.5 begins with a digit.
constexpr bool in_word(char c) { return starts_word(c) || is_digit(c); }

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}
    Token next() {
        skip_blank();
        Token token{Token::Kind::End, {}, line_};
        if (at_ >= text_.size()) return token;
        const std::size_t start = at_;
        const char c = text_[at_];
        if (starts_word(c)) {
            token.kind = Token::Kind::Word;
            for (; at_ < text_.size(); ++at_) {
                if (in_word(text_[at_])) continue;
                if (text_.substr(at_, 2) != "::") break;
                ++at_;  // L2::128B
            }
        } else if (is_digit(c)) {
            token.kind = Token::Kind::Number;
            while (at_ < text_.size() && in_word(text_[at_]) && text_[at_] != '$' && text_[at_] != '%') ++at_;
        } else if (c == '"') {
            token.kind = Token::Kind::Text;
            const std::size_t end = text_.find('"', at_ + 1);
            at_ = end == std::string_view::npos ? text_.size() : end + 1;
            token.text = text_.substr(start + 1, at_ - start - (end == std::string_view::npos ? 1 : 2));
            return token;
        } else {
            token.kind = Token::Kind::Mark;
            ++at_;
        }
        token.text = text_.substr(start, at_ - start);
        return token;
    }

  private:
    void skip_blank() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '\n') {
                ++line_, ++at_;
            } else if (c == ' ' || c == '\t' || c == '\r') {
                ++at_;
            } else if (c == '/' && text_.substr(at_, 2) == "//") {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (c == '/' && text_.substr(at_, 2) == "/*") {
                const std::size_t end = std::min(text_.find("*/", at_ + 2), text_.size());
                line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                     text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
                at_ = std::min(end + 2, text_.size());
            } else {
                return;
            }
        }
    }
    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
};

// The last one before is the type's size in bytes.
int bytes_of_type(std::string_view type) {
    if (type == ".pred") return 0;
    if (type.ends_with("64")) return 8;
    if (type.ends_with("32") || type == ".f16x2" || type == ".bf16x2") return 4;
    if (type.ends_with("16")) return 2;
    if (type.ends_with("8")) return 1;
    return -1;
}

constexpr std::array<std::string_view, static_cast<std::size_t>(Special::Count)> kSpecials = {
    "%tid.x",   "%tid.y",       "%tid.z",       "%ntid.x",      "%ntid.y",      "%ntid.z",     "%ctaid.x",
    "%ctaid.y", "%ctaid.z",     "%nctaid.x",    "%nctaid.y",    "%nctaid.z",    "%laneid",     "%warpid",
    "%nwarpid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"};

// Limits and hints between an entry's parameters and its body; each is followed by numbers.
constexpr std::array<std::string_view, 11> kEntryDirectives = {
    ".maxntid",         ".reqntid",           ".minnctapersm",   ".maxnctapersm",      ".maxnreg",     ".noreturn",
    ".explicitcluster", ".reqnctapercluster", ".maxclusterrank", ".blocksareclusters", ".abi_preserve"};

class Parser {
  public:
    Parser(std::string text, std::string name) {
        module_.text = std::make_shared<const std::string>(std::move(text));
        module_.name = std::move(name);
        module_.places.emplace_back();
        lexer_ = Lexer(*module_.text);
        advance();
    }
    Module read() {
        while (token_.kind != Token::Kind::End) read_module_statement();
        if (module_.version.empty()) fail(1, "there is no .version: is this PTX?");
        resolve_files();
        return std::move(module_);
    }

  private:
    // Registers of one scope: those named one by one, and families such as %r<12>.
    struct Family {
        std::string_view prefix;
        int count, first;
    };
    struct Scope {
        std::unordered_map<std::string_view, int> names;
        std::vector<Family> families;
    };

    [[noreturn]] void fail(int line, const std::string& what) const {
        throw Error(fmt::format("{}:{}: {}", module_.name, line, what));
    }
    void advance() { token_ = lexer_.next(); }
    bool accept(std::string_view what) {
        if (!token_.is(what)) return false;
        advance();
        return true;
    }
    void expect(std::string_view what) {
        if (!accept(what)) fail(token_.line, fmt::format("'{}' is expected, and here is '{}'", what, shown(token_)));
    }
    static std::string_view shown(const Token& token) {
        return token.kind == Token::Kind::End ? "the end of the text" : token.text;
    }
    std::string_view word() {
        if (token_.kind != Token::Kind::Word)
            fail(token_.line, fmt::format("a name is expected, not '{}'", shown(token_)));
        const std::string_view text = token_.text;
        advance();
        return text;
    }

    // Also negative, 0x, 0b, octal; with U at its end or not.
    std::uint64_t integer() {
        const bool negative = accept("-");
        if (token_.kind != Token::Kind::Number)
            fail(token_.line, fmt::format("a number is expected, not '{}'", shown(token_)));
        std::uint64_t value = 0;
        if (!parse_integer(token_.text, value))
            fail(token_.line, fmt::format("'{}' is not a whole number", token_.text));
        advance();
        return negative ? ~value + 1 : value;
    }
    int small_integer(std::string_view what, std::uint64_t most) {
        const int line = token_.line;
        const std::uint64_t value = integer();
        if (value > most) fail(line, fmt::format("{} of {} is over the limit of {}", what, value, most));
        return static_cast<int>(value);
    }
    static bool parse_integer(std::string_view text, std::uint64_t& value) {
        if (text.ends_with('U')) text.remove_suffix(1);
        int base = 10;
        if (text.size() > 1 && text[0] == '0') {
            base = text[1] == 'x' || text[1] == 'X' ? 16 : text[1] == 'b' || text[1] == 'B' ? 2 : 8;
            text.remove_prefix(base == 8 ? 1 : 2);
        }
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
        return error == std::errc() && end == text.data() + text.size();
    }

    void skip_to(std::string_view mark) {
        while (token_.kind != Token::Kind::End && !token_.is(mark)) advance();
        accept(mark);
    }
    void skip_braces() {
        expect("{");
        for (int depth = 1; depth > 0; advance()) {
            if (token_.kind == Token::Kind::End) fail(token_.line, "a '}' is missing");
            if (token_.is("{")) ++depth;
            if (token_.is("}")) --depth;
        }
    }

    void read_module_statement() {
        const Token start = token_;
        if (start.kind != Token::Kind::Word)
            fail(start.line, fmt::format("'{}' is not the start of a statement", start.text));
        advance();
        if (start.is(".version")) {
            module_.version = token_.text;
            advance();
        } else if (start.is(".target")) {
            const std::string_view target = word();
            int architecture = 0;
            const char* const end = target.data() + target.size();
            const char* const start_of_number = target.data() + std::min<std::size_t>(3, target.size());
            const auto [rest, error] = std::from_chars(start_of_number, end, architecture);
            if (!target.starts_with("sm_") || error != std::errc() || end - rest > 1)
                fail(start.line, fmt::format("unknown target {}", target));
            module_.target = Target(architecture, rest == end ? char{0} : *rest);
            while (accept(",")) word();  // texmode_..., debug
        } else if (start.is(".address_size")) {
            if (integer() != 64) fail(start.line, "addresses of 64 bits are known only");
        } else if (start.is(".file")) {
            read_file();
        } else if (start.is(".section")) {
            while (!token_.is("{") && token_.kind != Token::Kind::End) advance();
            skip_braces();
        } else if (start.is(".pragma")) {
            skip_to(";");
        } else if (start.is(".visible") || start.is(".weak") || start.is(".common")) {
            // The statement that follows is read as it is.
        } else if (start.is(".extern")) {
            read_extern();
        } else if (start.is(".entry")) {
            read_entry(start.line);
        } else if (start.is(".func")) {
            read_function();
        } else if (start.is(".shared")) {
            module_.shared.push_back(read_variable());
        } else if (start.is(".global") || start.is(".const")) {
            read_unsupported_variable();
        } else {
            fail(start.line, fmt::format("unknown directive {}", start.text));
        }
    }

    void read_file() {
        const int number = small_integer("a file's number", 100000);
        if (token_.kind != Token::Kind::Text) fail(token_.line, "a file's name is expected");
        if (module_.files.size() <= static_cast<std::size_t>(number))
            module_.files.resize(static_cast<std::size_t>(number) + 1);
        module_.files[static_cast<std::size_t>(number)] = std::string(token_.text);
        advance();
        while (accept(",")) integer();  // time and size
    }

    void read_extern() {
        if (accept(".func")) return read_function();
        if (accept(".shared")) {
            Variable variable = read_variable();
            variable.dynamic = true;
            module_.shared.push_back(variable);
            return;
        }
        if (accept(".global") || accept(".const")) return read_unsupported_variable();
        fail(token_.line, fmt::format("unknown external {}", shown(token_)));
    }

    void read_function() {
        std::string_view name;
        if (accept("(")) skip_to(")");
        name = word();
        module_.unsupported.push_back(name);
        while (!token_.is("{") && !token_.is(";") && token_.kind != Token::Kind::End) advance();
        if (!accept(";")) skip_braces();
    }

    void read_unsupported_variable() {
        std::string_view name;
        while (!token_.is(";") && !token_.is("=") && token_.kind != Token::Kind::End) {
            if (token_.kind == Token::Kind::Word && !token_.text.starts_with('.')) name = token_.text;
            advance();
        }
        module_.unsupported.push_back(name);
        skip_to(";");
    }

    // After .shared or .local: [.align N] .b8 name[bytes]; an empty [] is an array of unknown size.
    Variable read_variable() {
        Variable variable;
        const int line = token_.line;
        int alignment = 0;
        if (accept(".align")) alignment = small_integer("an alignment", 4096);
        const int bytes = bytes_of_type(token_.text);
        if (bytes < 1) fail(line, fmt::format("unknown type {}", shown(token_)));
        advance();
        variable.name = word();
        variable.alignment = alignment > 0 ? alignment : bytes;
        variable.bytes = bytes;
        while (accept("[")) {
            variable.bytes *= token_.is("]") ? 0 : static_cast<std::int64_t>(integer());
            if (variable.bytes > (std::int64_t{1} << 32)) fail(line, fmt::format("{} is too large", variable.name));
            expect("]");
        }
        expect(";");
        return variable;
    }

    void read_entry(int line) {
        Entry& entry = module_.entries.emplace_back();
        entry_ = &entry;
        entry.line = line;
        entry.name = word();
        entry.demangled = ptx::demangled(std::string(entry.name));
        if (accept("(")) {
            while (!token_.is(")")) {
                read_parameter(entry);
                if (!accept(",")) break;
            }
            expect(")");
        }
        while (token_.kind == Token::Kind::Word && token_.text.starts_with('.')) {
            if (std::find(kEntryDirectives.begin(), kEntryDirectives.end(), token_.text) == kEntryDirectives.end())
                fail(token_.line, fmt::format("unknown directive {}", token_.text));
            advance();
            while (token_.kind == Token::Kind::Number || token_.is(",")) advance();
        }
        if (accept(";")) {  // a declaration
            module_.entries.pop_back();
            return;
        }
        place_ = 0;
        callers_.clear();
        locals_.clear();
        scopes_.assign(1, Scope{});
        expect("{");
        while (!scopes_.empty()) read_statement();
        entry_ = nullptr;
    }

    void read_parameter(Entry& entry) {
        const int line = token_.line;
        expect(".param");
        Parameter parameter;
        if (accept(".align")) parameter.alignment = small_integer("an alignment", 4096);
        const int size = bytes_of_type(token_.text);
        if (size < 1) fail(line, fmt::format("unknown type {}", shown(token_)));
        parameter.type = token_.text.substr(1);
        advance();
        while (token_.is(".ptr") || token_.is(".global") || token_.is(".shared") || token_.is(".const") ||
               token_.is(".align")) {
            const bool align = token_.is(".align");  // of what the pointer points to
            advance();
            if (align) integer();
        }
        parameter.name = word();
        parameter.bytes = size;
        parameter.alignment = std::max(parameter.alignment, size);
        if (accept("[")) {
            parameter.bytes = size * small_integer("an array", 32764);
            expect("]");
        }
        if (!std::has_single_bit(static_cast<unsigned>(parameter.alignment)))
            fail(line, "an alignment is a power of two");
        parameter.offset = (entry.parameter_bytes + parameter.alignment - 1) & -parameter.alignment;
        entry.parameter_bytes = parameter.offset + parameter.bytes;
        entry.parameters.push_back(parameter);
    }

    void read_statement() {
        const Token start = token_;
        if (start.kind == Token::Kind::End) fail(start.line, "a '}' is missing");
        if (accept("{")) {
            scopes_.emplace_back();
        } else if (accept("}")) {
            scopes_.pop_back();
        } else if (accept(";")) {
        } else if (start.is(".reg")) {
            advance();
            read_registers();
        } else if (start.is(".loc")) {
            advance();
            read_location(start.line);
        } else if (start.is(".pragma")) {
            skip_to(";");
        } else if (start.is(".shared") || start.is(".local")) {
            advance();
            (start.is(".shared") ? entry_->shared : entry_->local).push_back(read_variable());
        } else if (start.text.starts_with('.')) {
            fail(start.line, fmt::format("unknown directive {}", start.text));
        } else {
            read_instruction();
        }
    }

    void read_registers() {
        const int line = token_.line;
        const int bytes = bytes_of_type(token_.text);
        if (bytes != 0 && bytes != 2 && bytes != 4 && bytes != 8)
            fail(line, fmt::format("unknown type of a register {}", shown(token_)));
        const Width width = bytes == 0 ? Width::Pred : bytes == 2 ? Width::B16 : bytes == 4 ? Width::B32 : Width::B64;
        advance();
        do {
            const std::string_view name = word();
            int count = 1;
            const int first = static_cast<int>(entry_->registers.size());
            if (accept("<")) {
                count = small_integer("a family of registers", 1u << 20);
                expect(">");
                scopes_.back().families.push_back({name, count, first});
            } else {
                scopes_.back().names[name] = first;
            }
            entry_->registers.resize(entry_->registers.size() + static_cast<std::size_t>(count), Register{name, width});
        } while (accept(","));
        expect(";");
    }

    int register_of(std::string_view name) const {
        std::size_t digits = name.size();
        while (digits > 0 && is_digit(name[digits - 1])) --digits;
        const std::string_view prefix = name.substr(0, digits);
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            if (const auto found = scope->names.find(name); found != scope->names.end()) return found->second;
            if (digits == name.size()) continue;
            for (const Family& family : scope->families) {
                int number = 0;
                if (family.prefix != prefix) continue;
                std::from_chars(name.data() + digits, name.data() + name.size(), number);
                if (number < family.count) return family.first + number;
            }
        }
        return -1;
    }

    // .loc file line column[, function_name label[+n], inlined_at file line column]
    void read_location(int at) {
        using Spot = std::tuple<int, int, int>;
        const auto spot = [&]() -> Spot {
            const int file = small_integer("a file's number", 100000), line = small_integer("a line", 1u << 24);
            return {file, line, small_integer("a column", 1u << 24)};
        };
        const Spot here = spot();
        Spot outermost = here;
        if (accept(",")) {
            if (word() != "function_name") fail(at, "function_name is expected");
            word();
            if (accept("+")) integer();
            expect(",");
            if (word() != "inlined_at") fail(at, "inlined_at is expected");
            const Spot caller = spot();
            const auto found = callers_.find(caller);
            outermost = found == callers_.end() ? caller : found->second;
        }
        callers_[here] = outermost;
        const std::pair key{here, outermost};
        const auto [found, added] = locals_.try_emplace(key, static_cast<int>(spots_.size()) + 1);
        if (added)
            spots_.push_back({std::get<0>(here), std::get<1>(here), std::get<0>(outermost), std::get<1>(outermost)});
        place_ = found->second;
    }

    // The names of files stand at the end of the text.
    void resolve_files() {
        const auto name = [&](int file) -> std::string_view {
            const auto at = static_cast<std::size_t>(file);
            return at < module_.files.size() ? std::string_view(module_.files[at]) : std::string_view();
        };
        for (const auto& [file, line, kernel_file, kernel_line] : spots_)
            module_.places.push_back({name(file), line, name(kernel_file), kernel_line});
    }

    void read_instruction() {
        Instruction instruction;
        instruction.line = token_.line;
        instruction.place = place_;
        if (accept("@")) {
            instruction.guard_negated = accept("!");
            const std::string_view name = word();
            instruction.guard = register_of(name);
            if (instruction.guard < 0) fail(instruction.line, fmt::format("{} is not declared", name));
        }
        opcode_ = instruction.opcode = word();
        if (instruction.guard < 0 && accept(":")) {
            entry_->labels.push_back({instruction.opcode, static_cast<int>(entry_->instructions.size())});
            return;
        }
        operands_.clear();
        if (!token_.is(";")) {
            do operands_.push_back(read_operand());
            while (accept(","));
        }
        expect(";");
        instruction.first = static_cast<int>(entry_->operands.size());
        instruction.count = static_cast<int>(operands_.size());
        entry_->operands.insert(entry_->operands.end(), operands_.begin(), operands_.end());
        entry_->instructions.push_back(instruction);
    }

    Operand read_operand() {
        const int line = token_.line;
        if (accept("{")) return read_vector();
        if (accept("[")) return read_address(line);
        if (accept("!")) {
            Operand operand = read_plain(line);
            if (operand.kind != Operand::Kind::Register) fail(line, "a predicate is expected after '!'");
            operand.negated = true;
            return operand;
        }
        Operand operand = read_plain(line);
        if (accept("|")) {
            const Operand second = read_plain(line);
            if (second.kind != Operand::Kind::Register) fail(line, "a predicate is expected after '|'");
            operand.second = second.index;
        }
        return operand;
    }

    Operand read_plain(int line) {
        Operand operand;
        if (token_.kind == Token::Kind::Word) {
            const std::string_view name = word();
            operand.text = name;
            if (name == "_") {
                operand.kind = Operand::Kind::Discard;
            } else if (name == "WARP_SZ") {
                operand.bits = 32;
            } else if (operand.index = register_of(name); operand.index >= 0) {
                operand.kind = Operand::Kind::Register;
            } else if (const auto special = std::find(kSpecials.begin(), kSpecials.end(), name);
                       special != kSpecials.end()) {
                operand.kind = Operand::Kind::Special;
                operand.index = static_cast<int>(special - kSpecials.begin());
            } else if (name.starts_with('%')) {
                fail(line, fmt::format("unknown register {}", name));
            } else {
                operand.kind = Operand::Kind::Symbol;
            }
            return operand;
        }
        const bool negative = accept("-");
        if (token_.kind != Token::Kind::Number)
            fail(line, fmt::format("{}: an operand is expected, not '{}'", opcode_, shown(token_)));
        const std::string_view text = token_.text;
        advance();
        if (text.size() > 2 && text[0] == '0' &&
            (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D')) {
            const bool single = text[1] == 'f' || text[1] == 'F';
            operand.kind = single ? Operand::Kind::Float32 : Operand::Kind::Float64;
            const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), operand.bits, 16);
            if (error != std::errc() || end != text.data() + text.size() || text.size() != (single ? 10u : 18u))
                fail(line, fmt::format("'{}' is not a number", text));
            if (negative) operand.bits ^= single ? 0x80000000u : std::uint64_t{1} << 63;
            return operand;
        }
        if (parse_integer(text, operand.bits)) {
            if (negative) operand.bits = ~operand.bits + 1;
            return operand;
        }
        char* end = nullptr;
        const std::string copy(text);
        const double value = std::strtod(copy.c_str(), &end);
        if (*end != '\0') fail(line, fmt::format("'{}' is not a number", text));
        operand.kind = Operand::Kind::Float64;
        operand.bits = std::bit_cast<std::uint64_t>(negative ? -value : value);
        return operand;
    }

    Operand read_address(int line) {
        Operand operand = read_plain(line);
        operand.base = operand.kind;
        if (operand.kind != Operand::Kind::Register && operand.kind != Operand::Kind::Symbol &&
            operand.kind != Operand::Kind::Integer)
            fail(line, "an address is a register or a variable, and a number added to it");
        operand.kind = Operand::Kind::Address;
        if (accept("+"))
            operand.bits = integer();
        else if (token_.is("-"))
            operand.bits = integer();
        expect("]");
        return operand;
    }

    Operand read_vector() {
        std::vector<Operand> parts;
        do parts.push_back(read_plain(token_.line));
        while (accept(","));
        expect("}");
        Operand operand;
        operand.kind = Operand::Kind::Vector;
        operand.index = static_cast<int>(entry_->operands.size());
        operand.count = static_cast<int>(parts.size());
        entry_->operands.insert(entry_->operands.end(), parts.begin(), parts.end());
        return operand;
    }

    Module module_;
    Lexer lexer_{{}};
    Token token_;
    Entry* entry_ = nullptr;
    std::vector<Scope> scopes_;
    std::vector<Operand> operands_;
    std::string_view opcode_;  // of the instruction that is read
    int place_ = 0;
    using Spot = std::tuple<int, int, int>;
    struct Spots {
        int file, line, kernel_file, kernel_line;
    };
    std::map<Spot, Spot> callers_;  // the outermost line that each line was called from last
    std::map<std::pair<Spot, Spot>, int> locals_;
    std::vector<Spots> spots_;
};

}  // namespace

std::string demangled(const std::string& name) {
    int status = 0;
    char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    const std::string result = status == 0 && text ? text : name;
    std::free(text);
    return result;
}

std::string describe(const Place& place) {
    const auto base = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
    if (place.line == 0) return {};
    std::string text = fmt::format("{}:{}", base(place.file), place.line);
    if (place.kernel_line != place.line || place.kernel_file != place.file)
        text += fmt::format(", called at {}:{}", base(place.kernel_file), place.kernel_line);
    return text;
}

Module read_module(std::string text, std::string name) { return Parser(std::move(text), std::move(name)).read(); }

Module read_module_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) throw Error(fmt::format("cannot read {}", path));
    return read_module(std::move(text).str(), path.substr(path.rfind('/') + 1));
}

}  // namespace flashstep::gpu::ptx
