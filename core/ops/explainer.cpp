// Formulas of cells.
#include "core/ops/explainer.h"

#include <fmt/format.h>

#include <cmath>

#include "core/ops/operation.h"
#include "core/say.h"

namespace flashstep {

std::string Index::text(int offset) const {
    if (!running) return fmt::format("{}", value + offset + 1);
    return value == 0 ? "k" : fmt::format("k+{}", value);  // k runs within a part that starts further on
}

std::string tex_name(const std::string& name) {
    const auto underscore = name.find('_');
    if (underscore == std::string::npos) return name;
    return name.substr(0, underscore) + "_{" + name.substr(underscore + 1) + "}";
}

std::string wrapped(const std::string& text, bool always) {
    return always || text.starts_with('-') ? "(" + text + ")" : text;
}

std::string Explainer::symbols(int index, Index r, Index c) const {
    const Expr& e = expr(index);
    return operation(e.op).symbols(*this, e, r, c);
}

std::string Explainer::numbers(int index, int r, int c) {
    const Expr& e = expr(index);
    return operation(e.op).numbers(*this, e, r, e.cols == 1 ? 0 : c);
}

std::string Explainer::symbols_of_b(const Expr& e, Index r, Index c) const {
    const Expr& b = expr(e.b);
    return symbols(e.b, b.rows == 1 ? Index{} : r, b.cols == 1 ? Index{} : c);
}

std::string Explainer::numbers_of_b(const Expr& e, int r, int c) {
    return numbers(e.b, expr(e.b).rows == 1 ? 0 : r, c);
}

std::string Explainer::factor(int index, Index r, Index c) const {
    return wrapped(symbols(index, r, c), is_sum(index));
}
std::string Explainer::factor(int index, int r, int c) { return wrapped(numbers(index, r, c), is_sum(index)); }
std::string Explainer::factor_of_b(const Expr& e, Index r, Index c) const {
    return wrapped(symbols_of_b(e, r, c), is_sum(e.b));
}
std::string Explainer::factor_of_b(const Expr& e, int r, int c) { return wrapped(numbers_of_b(e, r, c), is_sum(e.b)); }

std::string Explainer::number(double value) const {
    if (std::isnan(value)) return "\\mathrm{NaN}";
    if (std::isinf(value)) return value > 0 ? "\\infty" : "-\\infty";
    const std::string text = fmt::format("{:.{}g}", value, digits_);
    const auto exponent = text.find('e');
    if (exponent == std::string::npos) return text;
    return fmt::format("{} \\cdot 10^{{{}}}", text.substr(0, exponent), std::stoi(text.substr(exponent + 1)));
}

double Explainer::value(int index, int r, int c) { return evaluated(index)(r, expr(index).cols == 1 ? 0 : c); }

double Explainer::recorded(const Expr& leaf, int r, int c) const {
    return trace_.value(trace_.versions[static_cast<std::size_t>(leaf.version)])(r, c);
}

std::string Explainer::leaf(const Expr& e, Index r, Index c) const {
    const Version& version = trace_.versions[static_cast<std::size_t>(e.version)];
    const Tensor& tensor = trace_.tensors[static_cast<std::size_t>(version.tensor)];
    const Trace::Range at =
        tensor.space == Space::Hbm ? trace_.block_range(version.tensor, version.block) : Trace::Range{};
    const std::string row = r.text(r.running ? 0 : at.row0), col = c.text(c.running ? 0 : at.col0);
    const std::string name = tex_name(tensor.name);
    if (tensor.space == Space::Sram && tensor.rows == 1 && tensor.cols == 1) return name;
    return version.cols == 1 && tensor.cols == 1 && !c.running ? fmt::format("{}[{}]", name, row)
                                                               : fmt::format("{}[{},{}]", name, row, col);
}

std::string Explainer::words(const Text& text) const { return fmt::format("\\mathrm{{{}}}", text.in(language_)); }

std::string Explainer::list(int terms, const char* separator, const std::function<std::string(int)>& term) const {
    std::string text;
    const int shown = terms <= most_terms_ ? terms : most_terms_ / 2;
    for (int k = 0; k < shown; ++k) text += (k ? separator : "") + term(k);
    if (shown < terms)
        text += separator + say("\\ldots \\text{{ ({} terms)}}", "\\ldots \\text{{（共 {} 项）}}", terms).in(language_);
    return text;
}

bool Explainer::is_sum(int index) const {
    const Expr& e = expr(index);
    const Form form = operation(e.op).form;
    return form == Form::AsOperand ? is_sum(e.a) : form == Form::Sum;
}

const Matrix& Explainer::evaluated(int index) {
    for (const auto& [known, matrix] : values_)
        if (known == index) return matrix;
    const Expr& e = expr(index);
    Matrix result;
    if (e.op == Op::Leaf) {
        result = trace_.value(trace_.versions[static_cast<std::size_t>(e.version)]);
    } else if (e.op == Op::Input) {
        result = Matrix::Constant(e.rows, e.cols, std::nan(""));  // never asked for: inputs are reached through leaves
    } else {
        const Matrix a = e.a >= 0 ? evaluated(e.a) : Matrix(), b = e.b >= 0 ? evaluated(e.b) : Matrix();
        result = apply(e, &a, &b, trace_.problem);
    }
    values_.emplace_back(index, std::move(result));
    return values_.back().second;
}

}  // namespace flashstep
