// Words for rows.
#include "core/ops/teller.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/ops/operation.h"
#include "core/say.h"

namespace flashstep {

std::string number_in_words(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
    std::string text = fmt::format("{:.3g}", value == 0 ? 0.0 : std::abs(value));
    if (const auto e = text.find('e'); e != text.npos) {
        const int exponent = std::stoi(text.substr(e + 1));
        text = fmt::format("{}e{}{}", text.substr(0, e), exponent < 0 ? "−" : "", std::abs(exponent));
    }
    return value < 0 ? "−" + text : text;
}

std::string number_in_formula(double value) {
    if (std::isnan(value)) return "\\mathrm{NaN}";
    if (std::isinf(value)) return value > 0 ? "\\infty" : "-\\infty";
    const std::string text = fmt::format("{:.3g}", value == 0 ? 0.0 : value);
    const auto exponent = text.find('e');
    if (exponent == text.npos) return text;
    return fmt::format("{} \\cdot 10^{{{}}}", text.substr(0, exponent), std::stoi(text.substr(exponent + 1)));
}

std::string in_formula(const Sentence& sentence) {
    std::string text = sentence.en;
    std::erase(text, '$');
    return text;
}

Sentence Teller::told(int r) {
    const int index = trace_.versions[static_cast<std::size_t>(target_)].expr;
    return operation(expr(index).op).told(*this, index, r);
}

bool Teller::is_telling(int index, int r) {
    if (index < 0) return false;
    const Expr& e = expr(index);
    if (r >= e.rows) return false;
    const auto telling = operation(e.op).telling;
    return (telling && telling(*this, index, r)) || is_telling(e.a, r) || is_telling(e.b, r);
}

Sentence Teller::row(int index, int r) {
    const Expr& e = expr(index);
    return operation(e.op).in_row(*this, index, e.rows == 1 ? 0 : r);
}

Sentence Teller::factor(int index, int r) {
    Sentence text = row(index, r);
    const bool sum = text.en.find(" + ") != text.en.npos || text.en.find(" − ") != text.en.npos;
    return sum || text.en.starts_with("−") ? say("({})", "({})", text) : text;
}

Sentence Teller::names(int index, int r) {
    const bool before = std::exchange(naming_, true);
    Sentence text = row(index, r);
    naming_ = before;
    return text;
}

std::string Teller::keep(Figure figure) {
    figures_.push_back(std::move(figure));
    return figures_.back().text;
}

std::string Teller::node(int index, int r, int c) {
    return keep({Figure::Source::Node, number_in_words(value(index, r, c)), index, r, c});
}

std::string Teller::power(int index, int r, int c) {
    return keep({Figure::Source::Node, number_in_formula(value(index, r, c)), index, r, c});
}

std::string Teller::number_of(int index) {
    return keep({Figure::Source::Factor, number_in_words(expr(index).number), index});
}

std::string Teller::cell(int r, int c) {
    const Version& version = trace_.versions[static_cast<std::size_t>(target_)];
    return keep({Figure::Source::Cell, number_in_words(trace_.value(version)(r, c)), target_, r, c});
}

std::string Teller::cells(int r) {
    constexpr int kMost = 4;
    const Version& version = trace_.versions[static_cast<std::size_t>(target_)];
    const auto values = trace_.value(version);
    if (version.cols <= kMost) {
        std::string text;
        for (int c = 0; c < version.cols; ++c) text += (c ? ", " : "") + cell(r, c);
        return text;
    }
    int least = 0, largest = 0;
    for (int c = 1; c < version.cols; ++c) {
        if (!(values(r, least) <= values(r, c))) least = c;
        if (!(values(r, largest) >= values(r, c))) largest = c;
    }
    return cell(r, least) + " … " + cell(r, largest);
}

std::string Teller::count(std::int64_t amount) {
    return keep({.source = Figure::Source::Place, .text = fmt::format("{}", amount), .amount = amount});
}

std::string Teller::bytes(int matrix, std::int64_t amount, std::string text) {
    return keep({.source = Figure::Source::Bytes, .text = std::move(text), .index = matrix, .amount = amount});
}

std::string Teller::name(int version, Use use) const {
    const Tensor& tensor =
        trace_.tensors[static_cast<std::size_t>(trace_.versions[static_cast<std::size_t>(version)].tensor)];
    // A matrix in HBM has one spelling.
    if (tensor.space == Space::Hbm) return "$" + tex_name(tensor.name) + "$";
    return "$" + spelled(algorithm_, line_, tensor.name, use) + "$";
}

Sentence told_by_formula(Teller& t, int index, int r) {
    const std::string name = t.target_name();
    const Sentence formula = t.row(index, r);
    if (!t.is_column(index)) return say("{} = {}, now {}", "{} = {}，得 {}", name, formula, t.cells(r));
    const std::string value = t.cell(r, 0);
    if (formula.en == value) return say("{} = {}", "{} = {}", name, value);
    return say("{} = {} = {}", "{} = {} = {}", name, formula, value);
}

}  // namespace flashstep
