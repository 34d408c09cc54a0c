// The mini-TeX of formulas, read into a tree; shared by the typesetter and by the plain-text form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flashstep {

struct FormulaNode {
    enum class Kind {
        Row,       // children in order
        Atom,      // `text`, set in `face`
        Scripts,   // children: base, subscript, superscript (an empty Row where absent); `limits`: set below and above
        Fraction,  // children: numerator, denominator
        Root,      // children: radicand
        Accent,    // children: base; `text` is the accent ("~", "^" or "-")
        Fence,     // children: content; `text` and `close` are the delimiters, which grow with the content
        Struck,    // children: what a mistake takes away
        Put,       // children: what it puts there
        Space,     // `width` in em
    };
    enum class Face { Italic, Roman };
    // Decides the space around an atom, as in TeX.
    enum class Class { Ordinary, Operator, BigOperator, Binary, Relation, Open, Close, Punctuation };

    Kind kind = Kind::Row;
    std::string text, close;  // UTF-8
    Face face = Face::Roman;
    Class cls = Class::Ordinary;
    bool limits = false;
    float width = 0;
    std::string symbol;  // the tensor this node names ("S_ij"), set on the outermost such node; empty: none
    std::vector<FormulaNode> children;

    bool empty() const { return kind == Kind::Row && children.empty(); }
};

struct Formula {
    FormulaNode root;   // an empty Row where `error` is set
    std::string error;  // "unknown command \foo at column 5"; empty: none
};

// Never throws and never recurses without limit, whatever `source` holds. Knows letters, numbers, _ ^ { } ( ) [ ] and
// \frac \sqrt \struck \put \tilde \hat \bar \left \right \mathrm \mathbf \mathbb \text, function names, Greek letters
// and symbols.
Formula parse_formula(std::string_view source);

// The tensor that a base letter with its scripts names, as the algorithms call it: ("S", "ij", "") -> "S_ij";
// ("m", "i", "(j-1)") -> "m_old"; ("m", "i", "new") -> "m_new"; a transpose or "-1" does not matter. "" if the base is
// none of Q K V S P O X m l L D or a gradient such as dQ.
std::string formula_symbol(std::string_view base, std::string_view sub, std::string_view super);

}  // namespace flashstep
