// Walks the expression behind a cell.
#include "core/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "core/error.h"

namespace flashstep {
namespace {

// An index in a formula: a number, or the running k of a sum or a maximum.
struct Index {
    int value = 0;
    bool running = false;
    std::string text(int offset) const {
        if (!running) return fmt::format("{}", value + offset + 1);
        return value == 0 ? "k" : fmt::format("k+{}", value);  // k runs within a part that starts further on
    }
    Index moved(int by) const { return {value + by, running}; }
};

constexpr Index kRunning{0, true};

// "S_ij" -> "S_{ij}", "m_old" -> "m_{old}", "P_ij" -> "\tilde{P}_{ij}" is the table's business, not ours.
std::string tex_name(const std::string& name) {
    const auto underscore = name.find('_');
    if (underscore == std::string::npos) return name;
    return name.substr(0, underscore) + "_{" + name.substr(underscore + 1) + "}";
}

class Explainer {
  public:
    Explainer(const Trace& trace, int digits, int most_terms)
        : trace_(trace), digits_(digits), most_terms_(most_terms) {}

    std::string number(double value) const {
        if (std::isnan(value)) return "\\mathrm{NaN}";
        if (std::isinf(value)) return value > 0 ? "\\infty" : "-\\infty";
        const std::string text = fmt::format("{:.{}g}", value, digits_);
        const auto exponent = text.find('e');
        if (exponent == std::string::npos) return text;
        return fmt::format("{} \\cdot 10^{{{}}}", text.substr(0, exponent), std::stoi(text.substr(exponent + 1)));
    }

    // A negative number or a sum, inside a product or after a minus.
    static std::string wrapped(const std::string& text, bool always = false) {
        return always || text.starts_with('-') ? "(" + text + ")" : text;
    }

    double value(int index, int r, int c) {
        const Expr& e = trace_.exprs[index];
        return evaluated(index)(r, e.cols == 1 ? 0 : c);
    }

    std::string symbols(int index, Index r, Index c) const {
        const Expr& e = trace_.exprs[index];
        switch (e.op) {
            case Op::Leaf:
                return leaf(trace_.versions[e.version], r, c);
            case Op::Input:
                return "\\mathrm{given}";
            case Op::Fill:
                return number(e.number);
            case Op::Transpose:
                return symbols(e.a, c, r);
            case Op::MatMul:
                return "\\sum_k " + symbols(e.a, r, kRunning) + " " + symbols(e.b, kRunning, c);
            case Op::Scale: {
                const double tau = trace_.problem.scale;
                const std::string factor = e.number == tau                         ? "\\tau"
                                           : e.number == tau * std::numbers::log2e ? "(\\tau \\log_2 e)"
                                           : e.number == std::numbers::log2e       ? "\\log_2 e \\cdot"
                                           : e.number == std::numbers::ln2         ? "\\ln 2 \\cdot"
                                                                                   : number(e.number);
                return factor + " " + product_part(e.a, r, c);
            }
            case Op::Add:
                return symbols(e.a, r, c) + " + " + symbols(e.b, narrow_row(e.b, r), narrow(e.b, c));
            case Op::Sub:
                return symbols(e.a, r, c) + " - " +
                       wrapped(symbols(e.b, narrow_row(e.b, r), narrow(e.b, c)), is_sum(e.b));
            case Op::Mul:
                return product_part(e.a, r, c) + " " + product_part(e.b, narrow_row(e.b, r), narrow(e.b, c));
            case Op::DiagMul:
                return product_part(e.a, r, Index{}) + " " + product_part(e.b, r, c);
            case Op::Div:
                return fmt::format("\\frac{{{}}}{{{}}}", symbols(e.a, r, c),
                                   symbols(e.b, narrow_row(e.b, r), narrow(e.b, c)));
            case Op::Max:
                return "\\max(" + symbols(e.a, r, c) + ", " + symbols(e.b, narrow_row(e.b, r), narrow(e.b, c)) + ")";
            case Op::RowMax:
                return "\\max_k " + symbols(e.a, r, kRunning);
            case Op::RowSum:
                return "\\sum_k " + product_part(e.a, r, kRunning);
            case Op::ExpDiff:
                return fmt::format("e^{{{} - {}}}", symbols(e.a, r, c),
                                   wrapped(symbols(e.b, narrow_row(e.b, r), narrow(e.b, c)), is_sum(e.b)));
            case Op::Exp2Diff:
                return fmt::format("2^{{{} - {}}}", symbols(e.a, r, c),
                                   wrapped(symbols(e.b, narrow_row(e.b, r), narrow(e.b, c)), is_sum(e.b)));
            case Op::Exp:
                return fmt::format("e^{{{}}}", symbols(e.a, r, c));
            case Op::Reciprocal:
                return fmt::format("\\frac{{1}}{{{}}}", symbols(e.a, r, c));
            case Op::Replace:
            case Op::ToHalf:
            case Op::PadRows:
                return symbols(e.a, r, c);
            case Op::Part:
                return symbols(e.a, r.moved(e.row0), c.moved(e.col0));
            case Op::Stack: {
                const int above = trace_.exprs[e.a].rows;
                return r.value < above ? symbols(e.a, r, c) : symbols(e.b, r.moved(-above), c);
            }
            case Op::DiagMatrix:
                return "\\mathrm{diag}(" + symbols(e.a, Index{}, c) + ")";
            case Op::Log:
                return "\\log(" + symbols(e.a, r, c) + ")";
            case Op::Inverse:
                return fmt::format("\\frac{{1}}{{{}}}", symbols(e.a, r, c));
            case Op::Mask:
                return symbols(e.a, r, c);
        }
        return {};
    }

    std::string numbers(int index, int r, int c) {
        const Expr& e = trace_.exprs[index];
        const auto a = [&] { return numbers(e.a, r, column(e.a, c)); };
        const auto b = [&] { return numbers(e.b, trace_.exprs[e.b].rows == 1 ? 0 : r, column(e.b, c)); };
        switch (e.op) {
            case Op::Leaf:
            case Op::Input:
            case Op::Fill:
                return number(value(index, r, c));
            case Op::Transpose:
                return numbers(e.a, c, r);
            case Op::MatMul: {
                const int terms = trace_.exprs[e.a].cols;
                return sum(terms, [&](int k) {
                    return wrapped(numbers(e.a, r, k), is_sum(e.a)) + " \\cdot " +
                           wrapped(numbers(e.b, k, c), is_sum(e.b));
                });
            }
            case Op::Scale:
                return number(e.number) + " \\cdot " + wrapped(a(), is_sum(e.a));
            case Op::Add:
                return a() + " + " + wrapped(b());
            case Op::Sub:
                return a() + " - " + wrapped(b(), is_sum(e.b));
            case Op::Mul:
            case Op::DiagMul:
                return wrapped(a(), is_sum(e.a)) + " \\cdot " + wrapped(b(), is_sum(e.b));
            case Op::Div:
                return fmt::format("\\frac{{{}}}{{{}}}", a(), b());
            case Op::Max:
                return "\\max(" + a() + ", " + b() + ")";
            case Op::RowMax:
                return "\\max(" + list(trace_.exprs[e.a].cols, ", ", [&](int k) { return numbers(e.a, r, k); }) + ")";
            case Op::RowSum:
                return sum(trace_.exprs[e.a].cols, [&](int k) { return wrapped(numbers(e.a, r, k)); });
            case Op::ExpDiff:
                return fmt::format("e^{{{} - {}}}", a(), wrapped(b(), is_sum(e.b)));
            case Op::Exp2Diff:
                return fmt::format("2^{{{} - {}}}", a(), wrapped(b(), is_sum(e.b)));
            case Op::Exp:
                return fmt::format("e^{{{}}}", a());
            case Op::Reciprocal:
                return fmt::format("\\frac{{1}}{{{}}}", a());
            case Op::Replace:
                return value(e.a, r, c) == -kInf ? number(e.number) : a();
            case Op::ToHalf:
                return a();
            case Op::PadRows:
                return r < trace_.exprs[e.a].rows ? a() : std::string("0");
            case Op::Part:
                return numbers(e.a, r + e.row0, c + e.col0);
            case Op::Stack: {
                const int above = trace_.exprs[e.a].rows;
                return r < above ? numbers(e.a, r, c) : numbers(e.b, r - above, c);
            }
            case Op::DiagMatrix:
                return r == c ? numbers(e.a, 0, c) : std::string("0");
            case Op::Log:
                return "\\log(" + a() + ")";
            case Op::Inverse:
                return fmt::format("\\frac{{1}}{{{}}}", a());
            case Op::Mask:
                return trace_.problem.visible(e.row0 + r, e.col0 + c) ? a() : "\\mathrm{masked} \\rightarrow -\\infty";
        }
        return {};
    }

  private:
    std::string leaf(const Version& version, Index r, Index c) const {
        const Tensor& tensor = trace_.tensors[version.tensor];
        const Trace::Range at =
            tensor.space == Space::Hbm ? trace_.block_range(version.tensor, version.block) : Trace::Range{};
        const std::string row = r.text(r.running ? 0 : at.row0), col = c.text(c.running ? 0 : at.col0);
        const std::string name = tex_name(tensor.name);
        if (tensor.space == Space::Sram && tensor.rows == 1 && tensor.cols == 1) return name;
        return version.cols == 1 && tensor.cols == 1 && !c.running ? fmt::format("{}[{}]", name, row)
                                                                   : fmt::format("{}[{},{}]", name, row, col);
    }

    Index narrow(int expr, Index c) const { return trace_.exprs[expr].cols == 1 ? Index{} : c; }
    Index narrow_row(int expr, Index r) const { return trace_.exprs[expr].rows == 1 ? Index{} : r; }
    int column(int expr, int c) const { return trace_.exprs[expr].cols == 1 ? 0 : c; }

    bool is_sum(int expr) const {
        const Op op = trace_.exprs[expr].op;
        if (op == Op::Transpose || op == Op::Mask || op == Op::Part) return is_sum(trace_.exprs[expr].a);
        return op == Op::Add || op == Op::Sub || op == Op::MatMul || op == Op::RowSum;
    }
    std::string product_part(int expr, Index r, Index c) const { return wrapped(symbols(expr, r, c), is_sum(expr)); }

    template <typename F>
    std::string list(int terms, const char* separator, F term) {
        std::string text;
        const int shown = terms <= most_terms_ ? terms : most_terms_ / 2;
        for (int k = 0; k < shown; ++k) text += (k ? separator : "") + term(k);
        if (shown < terms) text += fmt::format("{}\\ldots \\text{{ ({} terms)}}", separator, terms);
        return text;
    }
    template <typename F>
    std::string sum(int terms, F term) {
        return list(terms, " + ", term);
    }

    // Values of intermediate expressions, each computed once.
    const Matrix& evaluated(int index) {
        for (const auto& [known, matrix] : values_)
            if (known == index) return matrix;
        const Expr& e = trace_.exprs[index];
        Matrix result;
        if (e.op == Op::Leaf) {
            result = trace_.value(trace_.versions[e.version]);
        } else if (e.op == Op::Input) {
            result =
                Matrix::Constant(e.rows, e.cols, std::nan(""));  // never asked for: inputs are reached through leaves
        } else {
            const Matrix a = e.a >= 0 ? evaluated(e.a) : Matrix(), b = e.b >= 0 ? evaluated(e.b) : Matrix();
            result = apply(e, &a, &b, trace_.problem);
        }
        values_.emplace_back(index, std::move(result));
        return values_.back().second;
    }

    const Trace& trace_;
    int digits_, most_terms_;
    std::vector<std::pair<int, Matrix>> values_;
};

void collect_operands(const Trace& trace, int expr, std::vector<int>& versions) {
    if (expr < 0) return;
    const Expr& e = trace.exprs[expr];
    if (e.op == Op::Leaf && std::find(versions.begin(), versions.end(), e.version) == versions.end())
        versions.push_back(e.version);
    collect_operands(trace, e.a, versions);
    collect_operands(trace, e.b, versions);
}

}  // namespace

Explanation explain(const Trace& trace, int version, int row, int col, int digits, int most_terms) {
    const Version& v = trace.versions.at(version);
    if (row < 0 || row >= v.rows || col < 0 || col >= v.cols)
        throw Error(fmt::format("cell [{},{}] lies outside {} x {}", row + 1, col + 1, v.rows, v.cols));
    const Tensor& tensor = trace.tensors[v.tensor];
    const Trace::Range at = tensor.space == Space::Hbm ? trace.block_range(v.tensor, v.block) : Trace::Range{};
    Explanation result;
    result.cell = tex_name(tensor.name);
    if (tensor.rows > 1 || tensor.cols > 1)
        result.cell += tensor.cols == 1 ? fmt::format("[{}]", at.row0 + row + 1)
                                        : fmt::format("[{},{}]", at.row0 + row + 1, at.col0 + col + 1);
    result.value = trace.value(v)(row, col);
    result.step = v.step;
    result.line = trace.steps[v.step].line;
    result.operands = operands_of(trace, v.expr);
    Explainer explainer(trace, digits, most_terms);
    result.symbols = explainer.symbols(v.expr, {row}, {col});
    const Op op = trace.exprs[v.expr].op;
    if (op != Op::Leaf && op != Op::Input && op != Op::Fill) result.numbers = explainer.numbers(v.expr, row, col);
    return result;
}

std::vector<int> operands_of(const Trace& trace, int expr) {
    std::vector<int> versions;
    collect_operands(trace, expr, versions);
    return versions;
}

}  // namespace flashstep
