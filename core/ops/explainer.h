// Writes formulas of cells. The rows of operations call it for their operands, and it calls them.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/text.h"
#include "core/trace.h"

namespace flashstep {

// An index in a formula: a number, or the running k of a sum or a maximum.
struct Index {
    int value = 0;
    bool running = false;
    std::string text(int offset) const;
    Index moved(int by) const { return {value + by, running}; }
};
constexpr Index kRunning{0, true};

class Explainer {
  public:
    Explainer(const Trace& trace, Language language, int digits, int most_terms)
        : trace_(trace), language_(language), digits_(digits), most_terms_(most_terms) {}

    const Problem& problem() const { return trace_.problem; }
    const Expr& expr(int index) const { return trace_.exprs[static_cast<std::size_t>(index)]; }

    // Of an expression's element. `b` may be a row or a column that is used for all rows or columns.
    std::string symbols(int index, Index r, Index c) const;
    std::string numbers(int index, int r, int c);
    std::string symbols_of_b(const Expr& e, Index r, Index c) const;
    std::string numbers_of_b(const Expr& e, int r, int c);

    // The same as a factor: in brackets if it is a sum, or a negative number.
    std::string factor(int index, Index r, Index c) const;
    std::string factor(int index, int r, int c);
    std::string factor_of_b(const Expr& e, Index r, Index c) const;
    std::string factor_of_b(const Expr& e, int r, int c);

    // The second operand of a difference: in brackets if it is a sum, or a negative number.
    std::string subtrahend(const Expr& e, Index r, Index c) const { return factor_of_b(e, r, c); }
    std::string subtrahend(const Expr& e, int r, int c) { return factor_of_b(e, r, c); }

    std::string number(double value) const;
    double value(int index, int r, int c);
    double recorded(const Expr& leaf, int r, int c) const;
    std::string leaf(const Expr& e, Index r, Index c) const;  // "S_{ij}[1,2]"

    std::string words(const Text& text) const;  // upright, in a formula

    // Terms with a separator between them; where there are too many, the first ones and how many there are.
    std::string list(int terms, const char* separator, const std::function<std::string(int)>& term) const;

  private:
    bool is_sum(int index) const;
    const Matrix& evaluated(int index);
    const Trace& trace_;
    Language language_;
    int digits_, most_terms_;
    std::vector<std::pair<int, Matrix>> values_;  // of intermediate expressions, each computed once
};

// A negative number or a sum, inside a product or after a minus.
std::string wrapped(const std::string& text, bool always = false);
// "S_ij" -> "S_{ij}", "m_old" -> "m_{old}".
std::string tex_name(const std::string& name);

}  // namespace flashstep
