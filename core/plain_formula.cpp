// One line of Unicode from a formula's tree: super- and subscripts by Unicode letters where they all exist.
#include "core/plain_formula.h"

#include "core/formula_tree.h"

namespace flashstep {
namespace {

using Node = FormulaNode;
using Kind = FormulaNode::Kind;
using Class = FormulaNode::Class;

struct Super {
    std::string_view plain, raised;
};
constexpr Super kSupers[] = {{"0", "⁰"}, {"1", "¹"}, {"2", "²"}, {"3", "³"}, {"4", "⁴"}, {"5", "⁵"}, {"6", "⁶"},
                             {"7", "⁷"}, {"8", "⁸"}, {"9", "⁹"}, {"−", "⁻"}, {"+", "⁺"}, {"(", "⁽"}, {")", "⁾"},
                             {"⊤", "ᵀ"}, {"T", "ᵀ"}, {"i", "ⁱ"}, {"j", "ʲ"}, {"n", "ⁿ"}, {"′", "′"}};

void write(const Node& node, std::string& out, bool tight);

std::string text_of(const Node& node, bool tight) {
    std::string out;
    write(node, out, tight);
    return out;
}

// Appends the raised form of `text`; false, with `out` as it was, if a character has none.
bool raise(std::string_view text, std::string& out) {
    std::string raised;
    while (!text.empty()) {
        bool found = false;
        for (const Super& s : kSupers) {
            if (text.substr(0, s.plain.size()) == s.plain) {
                raised += s.raised;
                text.remove_prefix(s.plain.size());
                found = true;
                break;
            }
        }
        if (!found) return false;
    }
    out += raised;
    return true;
}

// Number of characters (not bytes).
int length(std::string_view s) {
    int n = 0;
    for (const char c : s) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return n;
}

bool is_word(std::string_view s) {
    for (const char c : s) {
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
    }
    return true;
}

void write_scripts(const Node& node, std::string& out) {
    write(node.children[0], out, true);
    const std::string sub = text_of(node.children[1], true), super = text_of(node.children[2], true);
    if (!sub.empty()) {
        out += '_';
        out += length(sub) == 1 || is_word(sub) ? sub : "(" + sub + ")";
    }
    if (!super.empty() && !raise(super, out)) {
        out += '^';
        out += length(super) == 1 || is_word(super) || super.front() == '(' ? super : "(" + super + ")";
    }
}

// A fraction's part needs brackets unless it is one factor.
std::string factor(const Node& node) {
    const std::string text = text_of(node, true);
    return node.kind == Kind::Row && node.children.size() > 1 ? "(" + text + ")" : text;
}

Class class_of(const Node& n) { return n.kind == Kind::Scripts || n.kind == Kind::Atom ? n.cls : Class::Ordinary; }

// Factors that are names stand apart ("τ Q_i K_jᵀ"); brackets, numbers and scripts stay tight.
bool space_between(const Node& a, const Node& b, bool tight) {
    const Class x = class_of(a), y = class_of(b);
    if (a.kind == Kind::Space || b.kind == Kind::Space) return false;
    if (x == Class::Relation || y == Class::Relation) return !tight;
    if (x == Class::Binary || y == Class::Binary) return !tight;
    if (x == Class::Punctuation) return true;
    if (y == Class::Punctuation || x == Class::Open || y == Class::Close) return false;
    if (x == Class::Operator) return y != Class::Open && b.kind != Kind::Fence;
    if (x == Class::BigOperator) return true;
    if (y == Class::Open || b.kind == Kind::Fence) return false;
    return true;
}

void write_row(const Node& row, std::string& out, bool tight) {
    // In scripts letters stay together: {ij} is "ij".
    for (std::size_t k = 0; k < row.children.size(); ++k) {
        const Node& n = row.children[k];
        if (k > 0) {
            const Node& p = row.children[k - 1];
            // A minus or plus that opens an expression belongs to what follows.
            const bool sign = p.cls == Class::Binary && (k == 1 || class_of(row.children[k - 2]) == Class::Open ||
                                                         class_of(row.children[k - 2]) == Class::Relation ||
                                                         class_of(row.children[k - 2]) == Class::Punctuation);
            const bool letters = tight && class_of(p) == Class::Ordinary && class_of(n) == Class::Ordinary &&
                                 p.kind == Kind::Atom && n.kind == Kind::Atom;
            if (!sign && !letters && space_between(p, n, tight)) out += ' ';
        }
        write(n, out, tight);
    }
}

void write(const Node& node, std::string& out, bool tight) {
    switch (node.kind) {
        case Kind::Row:
            write_row(node, out, tight);
            break;
        case Kind::Atom:
            out += node.text;
            break;
        case Kind::Scripts:
            write_scripts(node, out);
            break;
        case Kind::Fraction:
            out += factor(node.children[0]) + "/" + factor(node.children[1]);
            break;
        case Kind::Root: {
            const std::string inside = text_of(node.children[0], true);
            out += length(inside) == 1 ? "√" + inside : "√(" + inside + ")";
            break;
        }
        case Kind::Accent: {
            // A combining mark behind the letter.
            write(node.children[0], out, true);
            out += node.text == "~" ? "\u0303" : node.text == "^" ? "\u0302" : "\u0304";
            break;
        }
        case Kind::Struck:
            out += "~~" + text_of(node.children[0], tight) + "~~";
            break;
        case Kind::Put:
            write(node.children[0], out, tight);
            break;
        case Kind::Fence:
            out += node.text + text_of(node.children[0], tight) + node.close;
            break;
        case Kind::Space:
            if (node.width > 0.2f && !out.empty() && out.back() != ' ') out += ' ';
            break;
    }
}

}  // namespace

std::string plain_text(std::string_view source) {
    const Formula formula = parse_formula(source);
    if (!formula.error.empty()) return std::string(source);
    std::string out;
    write(formula.root, out, false);
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

}  // namespace flashstep
