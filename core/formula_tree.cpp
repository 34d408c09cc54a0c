// Mini-TeX parser: recursive descent with a depth limit; an error is a text with a column, never an exception.
#include "core/formula_tree.h"

#include <algorithm>
#include <array>
#include <optional>

namespace flashstep {
namespace {

using Node = FormulaNode;
using Kind = FormulaNode::Kind;
using Face = FormulaNode::Face;
using Class = FormulaNode::Class;

constexpr int kMaxDepth = 24;

struct Symbol {
    std::string_view name, text;
    Class cls;
    Face face = Face::Roman;
};

constexpr Symbol kSymbols[] = {
    {"tau", "τ", Class::Ordinary, Face::Italic},
    {"ell", "ℓ", Class::Ordinary},
    {"alpha", "α", Class::Ordinary, Face::Italic},
    {"beta", "β", Class::Ordinary, Face::Italic},
    {"gamma", "γ", Class::Ordinary, Face::Italic},
    {"delta", "δ", Class::Ordinary, Face::Italic},
    {"epsilon", "ε", Class::Ordinary, Face::Italic},
    {"theta", "θ", Class::Ordinary, Face::Italic},
    {"lambda", "λ", Class::Ordinary, Face::Italic},
    {"mu", "μ", Class::Ordinary, Face::Italic},
    {"sigma", "σ", Class::Ordinary, Face::Italic},
    {"phi", "φ", Class::Ordinary, Face::Italic},
    {"Delta", "Δ", Class::Ordinary},
    {"Theta", "Θ", Class::Ordinary},
    {"Omega", "Ω", Class::Ordinary},
    {"infty", "∞", Class::Ordinary},
    {"partial", "∂", Class::Ordinary, Face::Italic},
    {"top", "⊤", Class::Ordinary},
    {"prime", "′", Class::Ordinary},
    {"ldots", "…", Class::Ordinary},
    {"dots", "…", Class::Ordinary},
    {"cdots", "⋯", Class::Ordinary},
    {"cdot", "·", Class::Binary},
    {"times", "×", Class::Binary},
    {"odot", "⊙", Class::Binary},
    {"circ", "∘", Class::Binary},
    {"oplus", "⊕", Class::Binary},
    {"pm", "±", Class::Binary},
    {"div", "÷", Class::Binary},
    {"leftarrow", "←", Class::Relation},
    {"gets", "←", Class::Relation},
    {"rightarrow", "→", Class::Relation},
    {"to", "→", Class::Relation},
    {"Rightarrow", "⇒", Class::Relation},
    {"mapsto", "↦", Class::Relation},
    {"in", "∈", Class::Relation},
    {"le", "≤", Class::Relation},
    {"leq", "≤", Class::Relation},
    {"ge", "≥", Class::Relation},
    {"geq", "≥", Class::Relation},
    {"ne", "≠", Class::Relation},
    {"neq", "≠", Class::Relation},
    {"approx", "≈", Class::Relation},
    {"equiv", "≡", Class::Relation},
    {"sim", "∼", Class::Relation},
    {"propto", "∝", Class::Relation},
    {"ll", "≪", Class::Relation},
    {"gg", "≫", Class::Relation},
    {"sum", "∑", Class::BigOperator},
    {"prod", "∏", Class::BigOperator},
    {"lceil", "⌈", Class::Open},
    {"lfloor", "⌊", Class::Open},
    {"langle", "⟨", Class::Open},
    {"lbrace", "{", Class::Open},
    {"rceil", "⌉", Class::Close},
    {"rfloor", "⌋", Class::Close},
    {"rangle", "⟩", Class::Close},
    {"rbrace", "}", Class::Close},
    {"|", "‖", Class::Ordinary},
    {"{", "{", Class::Open},
    {"}", "}", Class::Close},
    {"%", "%", Class::Ordinary},
    {"#", "#", Class::Ordinary},
    {"&", "&", Class::Ordinary},
    {"$", "$", Class::Ordinary},
    {"_", "_", Class::Ordinary},
};

constexpr std::string_view kFunctions[] = {"max",    "min",    "exp",  "log", "ln",  "diag", "softmax",
                                           "rowmax", "rowsum", "mask", "dim", "det", "arg"};

struct Space {
    std::string_view name;
    float em;
};
constexpr Space kSpaces[] = {{",", 0.167f},  {":", 0.222f},  {";", 0.278f},  {" ", 0.25f},
                             {"!", -0.167f}, {"quad", 1.0f}, {"qquad", 2.0f}};

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Length of the UTF-8 sequence at `at`; 0 if it is malformed.
std::size_t utf8_length(std::string_view s, std::size_t at) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(s[k]); };
    const unsigned char c = byte(at);
    const std::size_t n = c < 0x80                ? 1
                          : c >= 0xC2 && c < 0xE0 ? 2
                          : c >= 0xE0 && c < 0xF0 ? 3
                          : c >= 0xF0 && c < 0xF5 ? 4
                                                  : 0;
    if (n == 0 || at + n > s.size()) return 0;
    for (std::size_t k = 1; k < n; ++k) {
        if ((byte(at + k) & 0xC0) != 0x80) return 0;
    }
    return n;
}

Node atom(std::string_view text, Class cls, Face face = Face::Roman) {
    Node n;
    n.kind = Kind::Atom;
    n.text = text;
    n.cls = cls;
    n.face = face;
    return n;
}

// The letters and digits of a subtree, for names of symbols: {ij} -> "ij", {(j-1)} -> "(j-1)".
void flatten(const Node& n, std::string& out) {
    if (n.kind == Kind::Atom) out += n.text == "−" ? "-" : n.text == "⊤" ? "T" : n.text;
    if (n.kind == Kind::Fence) out += n.text;
    for (const Node& c : n.children) flatten(c, out);
    if (n.kind == Kind::Fence) out += n.close;
}

std::string flat(const Node& n) {
    std::string out;
    flatten(n, out);
    return out;
}

class Parser {
  public:
    explicit Parser(std::string_view source) : s_(source) {}

    Formula run() {
        Formula f;
        f.root = row(Stop::End, 0);
        f.error = error_;
        if (!error_.empty()) f.root = Node{};
        return f;
    }

  private:
    enum class Stop { End, Brace, Bracket, Right };

    void fail(const std::string& what, std::size_t at) {
        if (error_.empty()) error_ = what + " at column " + std::to_string(at + 1);
    }
    bool failed() const { return !error_.empty(); }
    void skip_space() {
        while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\n' || s_[at_] == '\t' || s_[at_] == '\r')) ++at_;
    }

    // Name of the command at the backslash at at_, which it passes: letters, or one other character.
    std::string_view command() {
        const std::size_t from = ++at_;
        while (at_ < s_.size() && is_letter(s_[at_])) ++at_;
        if (at_ == from && at_ < s_.size()) at_ += std::max<std::size_t>(1, utf8_length(s_, at_));
        return s_.substr(from, at_ - from);
    }
    bool command_is(std::string_view name) const {
        return s_.substr(at_, 1) == "\\" && s_.substr(at_ + 1, name.size()) == name &&
               !(at_ + 1 + name.size() < s_.size() && is_letter(s_[at_ + 1 + name.size()]));
    }

    Node row(Stop stop, int depth) {
        Node r;
        if (depth > kMaxDepth) {
            fail("nested too deeply", at_);
            return r;
        }
        const std::size_t opened = at_;
        while (!failed()) {
            skip_space();
            if (at_ >= s_.size()) {
                if (stop == Stop::Brace) fail("'{' without '}'", opened ? opened - 1 : 0);
                if (stop == Stop::Bracket) fail("'[' without ']'", opened ? opened - 1 : 0);
                if (stop == Stop::Right) fail("\\left without \\right", opened ? opened - 1 : 0);
                break;
            }
            if (s_[at_] == '}') {
                if (stop != Stop::Brace) fail("'}' without '{'", at_);
                break;
            }
            if (stop == Stop::Bracket && s_[at_] == ']') break;
            if (command_is("right")) {
                if (stop != Stop::Right) fail("\\right without \\left", at_);
                break;
            }
            r.children.push_back(scripted(depth));
        }
        return r;
    }

    // A nucleus and its scripts, in either order.
    Node scripted(int depth) {
        const bool bare = s_[at_] == '_' || s_[at_] == '^';
        Node base = bare ? Node{} : nucleus(depth);
        std::optional<Node> sub, super;
        while (!failed()) {
            skip_space();
            if (at_ >= s_.size()) break;
            const char c = s_[at_];
            if (c == '\'') {
                ++at_;
                if (!super) super = Node{};
                super->children.push_back(atom("′", Class::Ordinary));
                continue;
            }
            if (c != '_' && c != '^') break;
            std::optional<Node>& slot = c == '_' ? sub : super;
            if (slot) {
                fail(c == '_' ? "two subscripts" : "two superscripts", at_);
                break;
            }
            ++at_;
            slot = argument(depth, c == '_' ? "'_' without a subscript" : "'^' without a superscript");
        }
        if (failed()) return base;
        if (!sub && !super) {
            if (base.symbol.empty()) base.symbol = formula_symbol(flat(base), "", "");
            return base;
        }
        Node n;
        n.kind = Kind::Scripts;
        n.cls = base.cls;
        n.limits = base.cls == Class::BigOperator ||
                   (base.cls == Class::Operator && (base.text == "max" || base.text == "min"));
        if (base.kind == Kind::Atom || base.kind == Kind::Accent) {
            n.symbol = formula_symbol(flat(base), sub ? flat(*sub) : "", super ? flat(*super) : "");
        }
        base.symbol.clear();
        n.children.push_back(std::move(base));
        n.children.push_back(sub ? std::move(*sub) : Node{});
        n.children.push_back(super ? std::move(*super) : Node{});
        return n;
    }

    // One braced group or one nucleus.
    Node argument(int depth, const char* missing) {
        skip_space();
        if (at_ >= s_.size() || s_[at_] == '}' || s_[at_] == '_' || s_[at_] == '^') {
            fail(missing, at_);
            return {};
        }
        return nucleus(depth + 1);
    }

    Node nucleus(int depth) {
        if (depth > kMaxDepth) {
            fail("nested too deeply", at_);
            return {};
        }
        const char c = s_[at_];
        if (c == '{') {
            ++at_;
            Node r = row(Stop::Brace, depth + 1);
            if (!failed()) ++at_;
            if (r.children.size() == 1) return std::move(r.children.front());
            return r;
        }
        if (c == '\\') return command_node(depth);
        if (c == '~') {
            ++at_;
            return space(0.25f);
        }
        if (is_digit(c)) {
            const std::size_t from = at_;
            while (at_ < s_.size() &&
                   (is_digit(s_[at_]) || (s_[at_] == '.' && at_ + 1 < s_.size() && is_digit(s_[at_ + 1]))))
                ++at_;
            return atom(s_.substr(from, at_ - from), Class::Ordinary);
        }
        // "dQ" is one name: the gradient. "d" followed by another capital is two.
        if (c == 'd' && at_ + 1 < s_.size() && std::string_view("QKVSPO").find(s_[at_ + 1]) != std::string_view::npos) {
            at_ += 2;
            return atom(s_.substr(at_ - 2, 2), Class::Ordinary, Face::Italic);
        }
        const std::size_t n = utf8_length(s_, at_);
        if (n == 0 || static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            fail("not UTF-8 text", at_);
            return {};
        }
        const std::string_view text = s_.substr(at_, n);
        at_ += n;
        if (is_letter(c)) return atom(text, Class::Ordinary, Face::Italic);
        switch (c) {
            case '+':
                return atom("+", Class::Binary);
            case '-':
                return atom("−", Class::Binary);
            case '*':
                return atom("∗", Class::Binary);
            case '=':
                return atom("=", Class::Relation);
            case '<':
                return atom("<", Class::Relation);
            case '>':
                return atom(">", Class::Relation);
            case ':':
                return atom(":", Class::Relation);
            case '(':
            case '[':
                return atom(text, Class::Open);
            case ')':
            case ']':
                return atom(text, Class::Close);
            case ',':
            case ';':
                return atom(text, Class::Punctuation);
            default:
                break;
        }
        for (const Symbol& symbol : kSymbols) {
            if (symbol.text == text) return atom(text, symbol.cls, symbol.face);
        }
        return atom(text, Class::Ordinary);
    }

    Node space(float em) {
        Node n;
        n.kind = Kind::Space;
        n.width = em;
        return n;
    }

    // Everything up to the closing brace, letter by letter (spaces kept), for \mathrm and its kin.
    std::string raw_group(std::string_view name) {
        skip_space();
        if (at_ >= s_.size() || s_[at_] != '{') {
            fail("\\" + std::string(name) + " without '{'", at_);
            return {};
        }
        const std::size_t from = ++at_;
        while (at_ < s_.size() && s_[at_] != '}') {
            const std::size_t n = utf8_length(s_, at_);
            if (n == 0) {
                fail("not UTF-8 text", at_);
                return {};
            }
            if (s_[at_] == '{' || s_[at_] == '\\') {
                fail("\\" + std::string(name) + " takes plain text only, found '" + s_[at_] + "'", at_);
                return {};
            }
            at_ += n;
        }
        if (at_ >= s_.size()) {
            fail("'{' without '}'", from - 1);
            return {};
        }
        return std::string(s_.substr(from, at_++ - from));
    }

    // The delimiter after \left or \right.
    std::string delimiter(std::string_view name) {
        skip_space();
        const std::size_t from = at_;
        if (at_ < s_.size()) {
            if (s_[at_] == '\\') {
                const std::string_view c = command();
                for (const Symbol& symbol : kSymbols) {
                    if (symbol.name == c && (symbol.cls == Class::Open || symbol.cls == Class::Close || c == "|")) {
                        return std::string(symbol.text);
                    }
                }
            } else if (std::string_view("()[]|.").find(s_[at_]) != std::string_view::npos) {
                const char c = s_[at_++];
                return c == '.' ? std::string() : std::string(1, c);
            }
        }
        fail("\\" + std::string(name) + " without a delimiter", from);
        return {};
    }

    Node command_node(int depth) {
        const std::size_t from = at_;
        const std::string_view name = command();
        if (name == "frac") {
            Node n;
            n.kind = Kind::Fraction;
            n.children.push_back(argument(depth, "\\frac without a numerator"));
            if (!failed()) n.children.push_back(argument(depth, "\\frac without a denominator"));
            return failed() ? Node{} : n;
        }
        if (name == "sqrt") {
            Node n;
            n.kind = Kind::Root;
            n.children.push_back(argument(depth, "\\sqrt without an argument"));
            return failed() ? Node{} : n;
        }
        if (name == "struck" || name == "put") {
            Node n;
            n.kind = name == "struck" ? Kind::Struck : Kind::Put;
            n.children.push_back(argument(depth, "\\struck or \\put without an argument"));
            return failed() ? Node{} : n;
        }
        if (name == "tilde" || name == "hat" || name == "bar") {
            Node n;
            n.kind = Kind::Accent;
            n.text = name == "tilde" ? "~" : name == "hat" ? "^" : "-";
            n.children.push_back(argument(depth, "an accent without a letter"));
            return failed() ? Node{} : n;
        }
        if (name == "left") {
            Node n;
            n.kind = Kind::Fence;
            n.cls = Class::Ordinary;
            n.text = delimiter(name);
            if (!failed()) n.children.push_back(row(Stop::Right, depth + 1));
            if (failed()) return {};
            command();
            n.close = delimiter("right");
            return failed() ? Node{} : n;
        }
        if (name == "mathrm" || name == "mathbf" || name == "text" || name == "operatorname") {
            const std::string text = raw_group(name);
            // \mathrm{diag} is a function; \mathrm{old}, \mathbf{dQ} and \text{...} are words.
            const bool function =
                std::find(std::begin(kFunctions), std::end(kFunctions), text) != std::end(kFunctions) ||
                name == "operatorname";
            return atom(text, function ? Class::Operator : Class::Ordinary);
        }
        if (name == "mathbb") {
            const std::string text = raw_group(name);
            if (failed()) return {};
            if (text != "R" && text != "N" && text != "Z") {
                fail("\\mathbb knows R, N and Z, not '" + text + "'", from);
                return {};
            }
            return atom(text == "R" ? "ℝ" : text == "N" ? "ℕ" : "ℤ", Class::Ordinary);
        }
        for (const std::string_view f : kFunctions) {
            if (name == f) return atom(name, Class::Operator);
        }
        for (const Symbol& symbol : kSymbols) {
            if (symbol.name == name) return atom(symbol.text, symbol.cls, symbol.face);
        }
        for (const Space& s : kSpaces) {
            if (s.name == name) return space(s.em);
        }
        fail(name.empty() ? "'\\' without a command" : "unknown command \\" + std::string(name), from);
        return {};
    }

    std::string_view s_;
    std::size_t at_ = 0;
    std::string error_;
};

}  // namespace

Formula parse_formula(std::string_view source) { return Parser(source).run(); }

std::string formula_symbol(std::string_view base, std::string_view sub, std::string_view super) {
    if (base == "ℓ") base = "l";
    const bool gradient = base.size() == 2 && base[0] == 'd';
    if (base.size() != 1 && !gradient) return {};
    if (std::string_view(gradient ? "QKVSPO" : "QKVSPOXmlLDxp").find(base.back()) == std::string_view::npos) return {};
    const bool word = sub == "old" || sub == "new";
    std::string name(base);
    // FA2 writes the running values of row block i after tile j as m_i^(j); the algorithms keep one tile and a copy of
    // the maximum before the update. Scores and probabilities belong to the tile.
    if (base == "m" && (super == "(j-1)" || super == "(i-1)" || super == "old")) return "m_old";
    if (super == "new" || super == "old") return name + "_" + std::string(super);
    if (!sub.empty()) {
        if (!word) {
            for (const char c : sub) {
                if (!is_letter(c) && !is_digit(c) && c != ',') return name;  // m_{i-1}: the tensor, no tile of its own
            }
        }
        name += '_';
        for (const char c : sub) {
            if (c != ',') name += c;
        }
    }
    if ((base == "S" || base == "P" || base == "dS" || base == "dP") && sub == "i" && super == "(j)") name += 'j';
    return name;
}

}  // namespace flashstep
