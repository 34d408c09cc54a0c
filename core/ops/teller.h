// Says in words what an assignment did to a row of its tile. The rows of operations call it for their operands, and it
// calls them. Every number that it writes is kept with its place in the trace, so that a test can look it up there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/algorithms.h"
#include "core/ops/explainer.h"
#include "core/spelling.h"
#include "core/text.h"

namespace flashstep {

// A number in a sentence, and where it comes from.
struct Figure {
    enum class Source {
        Cell,    // of a version: index, row, col
        Node,    // an element of an expression's value: index, row, col
        Factor,  // Expr::number: index
        Bytes,   // moved of a matrix in HBM: index; `amount`
        Place,   // `amount`: a row, a column, a block, a warp, or how many there are
    };
    Source source;
    std::string text;  // as it is written
    int index = -1, row = 0, col = 0;
    std::int64_t amount = 0;
};

class Teller {
  public:
    // About what is assigned at a step.
    Teller(const Trace& trace, const Algorithm& algorithm, int step)
        : trace_(trace),
          algorithm_(algorithm),
          line_(trace.steps[static_cast<std::size_t>(step)].line),
          values_(trace, Language::English, kDigits, 8) {}

    const Trace& trace() const { return trace_; }
    const Expr& expr(int index) const { return values_.expr(index); }

    // The version that is assigned, and its row.
    void tell_of(int version) { target_ = version; }
    int target() const { return target_; }
    std::string target_name() { return name(target_, Use::Result); }
    // What became of the row in the words of its operation.
    Sentence told(int r);
    // Whether something happened in the row that makes a better example than other rows do.
    bool is_telling(int index, int r);

    // A row of an expression: columns as numbers, wider operands by their names.
    Sentence row(int index, int r);
    Sentence factor(int index, int r);  // in brackets if it is a sum
    Sentence names(int index, int r);   // columns by their names, too
    bool only_names() const { return naming_; }

    bool is_column(int index) const { return expr(index).cols == 1; }
    double value(int index, int r, int c = 0) { return values_.value(index, r, c); }
    std::string node(int index, int r, int c = 0);   // an element's value
    std::string power(int index, int r, int c = 0);  // the same as it stands in a formula
    std::string number_of(int index);                // Expr::number
    std::string cell(int r, int c);                  // of the target
    std::string cells(int r);                        // the row of the target: "1, 2", or the least and the largest
    std::string count(std::int64_t amount);
    std::string bytes(int matrix, std::int64_t amount, std::string text);

    std::string name(int version, Use use) const;  // "$\tilde{O}_i$"

    const std::vector<Figure>& figures() const { return figures_; }
    void forget_figures() { figures_.clear(); }

  private:
    static constexpr int kDigits = 3;
    std::string keep(Figure figure);

    const Trace& trace_;
    const Algorithm& algorithm_;
    int line_, target_ = -1;
    bool naming_ = false;
    Explainer values_;
    std::vector<Figure> figures_;
};

// "0.368", "−∞", "1.2e5": three significant digits, as they stand in a sentence.
std::string number_in_words(double value);
// The same in a formula.
std::string number_in_formula(double value);
// A formula's content, without the dollars round its names.
std::string in_formula(const Sentence& sentence);

}  // namespace flashstep
