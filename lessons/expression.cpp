// The parser of references and conditions: one precedence level per function, from comparisons down to cells.
#include "lessons/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace flashstep {
namespace {

using Kind = Term::Kind;

constexpr int kMostDepth = 64;             // of brackets
constexpr std::size_t kLongestText = 400;  // a longer one is a missing end

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

constexpr std::array<std::string_view, 6> kCounts = {"bytes", "flops", "memory", "sram", "problem", "format"};

struct Function {
    std::string_view name;
    Kind kind;
    std::size_t operands;
};
constexpr std::array kFunctions = {
    Function{"exp", Kind::Exp, 1},   Function{"log", Kind::Log, 1},   Function{"sqrt", Kind::Sqrt, 1},
    Function{"abs", Kind::Abs, 1},   Function{"ceil", Kind::Ceil, 1}, Function{"fp32", Kind::Fp32, 1},
    Function{"fp16", Kind::Fp16, 1}, Function{"bf16", Kind::Bf16, 1}, Function{"min", Kind::Min, 2},
    Function{"max", Kind::Max, 2},   Function{"wavefronts", Kind::Wavefronts, 3},
};

struct Comparison {
    std::string_view sign;
    Kind kind;
};
constexpr std::array kComparisons = {
    Comparison{"<=", Kind::LessEqual}, Comparison{">=", Kind::GreaterEqual}, Comparison{"!=", Kind::NotEqual},
    Comparison{"<", Kind::Less},       Comparison{">", Kind::Greater},       Comparison{"=", Kind::Equal},
};

struct UnitName {
    std::string_view name;
    NumberStyle::Unit unit;
    double one;
};
constexpr std::array kUnits = {
    UnitName{"bytes", NumberStyle::Unit::Bytes, 1},
    UnitName{"x", NumberStyle::Unit::Factor, 1},
    UnitName{"%", NumberStyle::Unit::Percent, 1},
    UnitName{"KB", NumberStyle::Unit::Scaled, 1e3},
    UnitName{"MB", NumberStyle::Unit::Scaled, 1e6},
    UnitName{"GB", NumberStyle::Unit::Scaled, 1e9},
    UnitName{"KiB", NumberStyle::Unit::Scaled, 1024},
    UnitName{"MiB", NumberStyle::Unit::Scaled, 1048576},
    UnitName{"GiB", NumberStyle::Unit::Scaled, 1073741824.0},
    UnitName{"TB", NumberStyle::Unit::Scaled, 1e12},
    UnitName{"GFLOP", NumberStyle::Unit::Scaled, 1e9},
    UnitName{"TFLOP", NumberStyle::Unit::Scaled, 1e12},
    UnitName{"ms", NumberStyle::Unit::Scaled, 1e-3},
    UnitName{"µs", NumberStyle::Unit::Scaled, 1e-6},
    UnitName{"ns", NumberStyle::Unit::Scaled, 1e-9},
};

std::string unit_names() {
    std::string names;
    for (const UnitName& unit : kUnits) names += fmt::format("{}{}", names.empty() ? "" : ", ", unit.name);
    return names;
}

Term binary(Kind kind, Term a, Term b) {
    Term term;
    term.kind = kind;
    term.operands.push_back(std::move(a));
    term.operands.push_back(std::move(b));
    return term;
}

Term unary(Kind kind, Term a) {
    Term term;
    term.kind = kind;
    term.operands.push_back(std::move(a));
    return term;
}

// A place after brackets holds for every cell in them that says none.
// What differs from step to step: cells, and what a run counts on its way.
bool has_places(const Term& term) {
    if (term.kind == Kind::Cell) return true;
    return term.kind == Kind::Count && (term.count == "flops" || term.count == "bytes" || term.count == "sram");
}

void set_place(Term& term, const Place& place) {
    if (has_places(term) && !term.at) term.at = place;
    for (Term& operand : term.operands) set_place(operand, place);
}

class Parser {
  public:
    explicit Parser(std::string_view text) : rest_(text) {}

    Term condition() {
        Term term = comparison();
        while (take_word("and")) term = binary(Kind::And, std::move(term), comparison());
        return term;
    }

    NumberStyle style() {
        NumberStyle style;
        if (!take("|")) return style;
        while (!at_end()) {
            if (is_digit(rest_.front())) {
                style.digits = integer();
                if (style.digits < 1 || style.digits > 17) fail("digits go from 1 to 17");
                if (!take_word("digits") && !take_word("digit")) fail("'digits' is missing after their number");
            } else if (!take_unit(style)) {
                fail(fmt::format("the unit is unknown; there are {}", unit_names()));
            }
        }
        return style;
    }

    bool at_end() {
        skip_spaces();
        return rest_.empty();
    }

    [[noreturn]] void fail(std::string_view why) const {
        throw Error(rest_.empty() ? fmt::format("{}, at the end", why) : fmt::format("{}, at '{}'", why, rest_));
    }

  private:
    Term comparison() {
        Term left = sum();
        skip_spaces();
        for (const Comparison& comparison : kComparisons)
            if (take(comparison.sign)) return binary(comparison.kind, std::move(left), sum());
        return left;
    }

    Term sum() {
        Term term = product();
        for (;;) {
            if (take("+"))
                term = binary(Kind::Add, std::move(term), product());
            else if (take("-"))
                term = binary(Kind::Subtract, std::move(term), product());
            else
                return term;
        }
    }

    Term product() {
        Term term = factor();
        for (;;) {
            if (take("*"))
                term = binary(Kind::Multiply, std::move(term), factor());
            else if (take("/"))
                term = binary(Kind::Divide, std::move(term), factor());
            else
                return term;
        }
    }

    Term factor() {
        if (++depth_ > kMostDepth) fail("too many brackets within each other");
        Term term = take("-") ? unary(Kind::Negate, factor()) : atom();
        if (take("@")) set_place(term, place());
        --depth_;
        return term;
    }

    Term atom() {
        if (take("(")) {
            Term term = condition();
            expect(")");
            return term;
        }
        skip_spaces();
        if (rest_.empty()) fail("a number is missing");
        if (is_digit(rest_.front()) || rest_.front() == '.') return number();
        const std::string name = word();
        for (const Function& function : kFunctions)
            if (name == function.name && take("(")) return call(function);
        if (name == "step" && take("(")) {
            Term term;
            term.kind = Kind::Step;
            term.at = place();
            expect(")");
            return term;
        }
        if (name == "row" || name == "col") {
            Term term;
            term.kind = Kind::Index;
            term.row = name == "row" ? kRowIndex : kColIndex;
            return term;
        }
        return of_scene(name);
    }

    // "wrong:O[1,2]", "bytes:all", "wrong:bytes:all": the name has been read.
    Term of_scene(std::string name) {
        Term term;
        for (int k = 0;; ++k) {
            if (name == "kernel" && take(":")) {
                term.kind = Kind::Kernel;
                term.what = counter_name();
                return term;
            }
            if (name == "gpu" && take("(")) return of_gpu(std::move(term), Kind::Gpu);
            if (name == "model" && take("(")) return of_gpu(std::move(term), Kind::Model);
            for (const std::string_view count : kCounts)
                if (name == count && (ahead(":") || ahead("("))) return count_of(std::move(term), count);
            if (k > 0 || !take(":")) break;
            term.scene = std::exchange(name, word());
        }
        for (const auto& [word, kind] :
             {std::pair{"steps", Kind::Steps}, {"hidden", Kind::Hidden}, {"caught", Kind::Caught}})
            if (name == word) {
                term.kind = kind;
                return term;
            }
        return cell(std::move(term), name);
    }

    Term of_gpu(Term term, Kind kind) {
        term.kind = kind;
        term.gpu = word();
        expect(")");
        expect(":");
        term.what = word();
        return term;
    }

    Term count_of(Term term, std::string_view count) {
        term.kind = Kind::Count;
        term.count = count;
        if (take("(")) {
            term.algorithm = word();
            expect(")");
        }
        expect(":");
        term.what = word();
        if (take(".")) term.what += "." + word();
        return term;
    }

    Term cell(Term term, std::string_view name) {
        term.kind = Kind::Cell;
        term.tensor = name;
        expect("[");
        term.row = index("row", kRowIndex);
        if (take(",")) term.col = index("col", kColIndex);
        expect("]");
        return term;
    }

    int index(std::string_view variable, int value) {
        if (take_word(variable)) return value;
        const int count = integer();
        if (count < 1) fail("rows and columns count from 1");
        return count - 1;
    }

    Term call(const Function& function) {
        Term term;
        term.kind = function.kind;
        term.operands.push_back(condition());
        while (term.operands.size() < function.operands) {
            expect(",");
            term.operands.push_back(condition());
        }
        expect(")");
        return term;
    }

    Place place() {
        if (take_word("start")) return parse_place("start");
        if (take_word("end")) return parse_place("end");
        std::string text;
        for (std::string next = place_word(); !next.empty(); next = place_word()) text += next + " ";
        if (text.empty()) fail("a place is missing, such as line=9 i=1 j=2");
        return parse_place(text);
    }

    // "line=9"; empty where something else follows.
    std::string place_word() {
        skip_spaces();
        std::size_t n = 0;
        while (n < rest_.size() && std::isalpha(static_cast<unsigned char>(rest_[n]))) ++n;
        if (n == 0 || n + 1 >= rest_.size() || rest_[n] != '=' || !is_digit(rest_[n + 1])) return {};
        for (++n; n < rest_.size() && is_digit(rest_[n]);) ++n;
        std::string found(rest_.substr(0, n));
        rest_.remove_prefix(n);
        return found;
    }

    // Up to what can stand behind it: counters have spaces and commas in their names.
    std::string counter_name() {
        skip_spaces();
        std::size_t n = 0;
        while (n < rest_.size() && (is_word(rest_[n]) || rest_[n] == ' ' || rest_[n] == ',')) {
            if (rest_.substr(n).starts_with(" and ")) break;
            ++n;
        }
        std::string name(rest_.substr(0, n));
        while (!name.empty() && (name.back() == ' ' || name.back() == ',')) name.pop_back();
        if (name.empty()) fail("the name of a counter is missing");
        rest_.remove_prefix(n);
        return name;
    }

    Term number() {
        Term term;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), term.number);
        if (error != std::errc{}) fail("a number is missing");
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return term;
    }

    int integer() {
        skip_spaces();
        int value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc{}) fail("a whole number is missing");
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }

    std::string word() {
        skip_spaces();
        std::size_t n = 0;
        while (n < rest_.size() && is_word(rest_[n])) ++n;
        if (n == 0) fail("a name is missing");
        std::string name(rest_.substr(0, n));
        rest_.remove_prefix(n);
        return name;
    }

    bool take_unit(NumberStyle& style) {
        for (const UnitName& unit : kUnits) {
            if (!ahead(unit.name) || (rest_.size() > unit.name.size() && is_word(rest_[unit.name.size()]))) continue;
            rest_.remove_prefix(unit.name.size());
            style.unit = unit.unit, style.one = unit.one, style.symbol = unit.name;
            return true;
        }
        return false;
    }

    void skip_spaces() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
    }
    bool ahead(std::string_view token) {
        skip_spaces();
        return rest_.starts_with(token);
    }
    bool take(std::string_view token) {
        if (!ahead(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }
    bool take_word(std::string_view name) {
        if (!ahead(name) || (rest_.size() > name.size() && is_word(rest_[name.size()]))) return false;
        rest_.remove_prefix(name.size());
        return true;
    }
    void expect(std::string_view token) {
        if (!take(token)) fail(fmt::format("'{}' is missing", token));
    }

    std::string_view rest_;
    int depth_ = 0;
};

void add_places(const Term& term, std::vector<Place>& places) {
    if (term.at) {
        places.push_back(*term.at);
        if (!term.scene.empty()) places.back().scene = term.scene;
    }
    for (const Term& operand : term.operands) add_places(operand, places);
}

// Whole numbers all through: counts, and what sums and products make of them.
bool is_count(const Term& term) {
    switch (term.kind) {
        case Kind::Count:
        case Kind::Gpu:
        case Kind::Model:
        case Kind::Wavefronts:
        case Kind::Kernel:
        case Kind::Steps:
        case Kind::Step:
            return true;
        case Kind::Number:
            return term.number == std::floor(term.number);
        case Kind::Add:
        case Kind::Subtract:
        case Kind::Multiply:
        case Kind::Negate:
            return std::ranges::all_of(term.operands, is_count);
        default:
            return false;
    }
}

}  // namespace

Expression parse_expression(std::string_view text) {
    if (text.size() > kLongestText)
        throw Error(fmt::format("{} characters, but the limit is {}", text.size(), kLongestText));
    Expression expression;
    expression.text = text;
    Parser parser(text);
    auto root = std::make_shared<Term>(parser.condition());
    expression.style = parser.style();
    if (expression.style.unit == NumberStyle::Unit::None && expression.style.digits == 0 && is_count(*root))
        expression.style.unit = NumberStyle::Unit::Count;
    if (!parser.at_end()) parser.fail("this cannot be read");
    expression.root = std::move(root);
    return expression;
}

Expression placed(Expression expression, const Place& place) {
    if (!expression.root) return expression;
    auto root = std::make_shared<Term>(*expression.root);
    set_place(*root, place);
    expression.root = std::move(root);
    return expression;
}

std::vector<Place> places_of(const Expression& expression) {
    std::vector<Place> places;
    if (expression.root) add_places(*expression.root, places);
    return places;
}

}  // namespace flashstep
