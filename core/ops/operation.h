// What an operation is, in one row: what it computes and costs, how it is explained, its error bound, and what it means
// when its result is not finite. Each operation has a file in this folder.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/expr.h"
#include "core/ops/error_terms.h"
#include "core/ops/explainer.h"
#include "core/ops/teller.h"
#include "core/ops/value_terms.h"
#include "core/text.h"

namespace flashstep {

// FLOPs. `exp` is part of `other`.
struct Cost {
    std::int64_t matmul = 0, other = 0, exp = 0;
};

// An element of an operand.
struct Element {
    enum { A, B } of;
    int row, col;
};

// How a formula reads beside others: a sum needs brackets in a product.
enum class Form { Term, Sum, AsOperand };

// "l_i = 0.368 x 1.37 + 1.14 = 1.64": the row as a formula, and what came of it.
Sentence told_by_formula(Teller& t, int index, int r);

struct Operation {
    Op op;
    const char* name;  // in messages: "matrix product"
    int operands;      // 0 to 2

    // Whether operands of these shapes give a result of this shape; one that is not there is as `a`.
    bool (*fits)(const Expr& result, const Expr& a, const Expr& b);
    // The exact value, in double.
    Matrix (*value)(const ValueTerms& t);
    Cost (*cost)(Shape a, Shape b) = [](Shape, Shape) { return Cost{}; };

    // The element (r, c) as mini-TeX, with symbols and with numbers.
    std::string (*symbols)(const Explainer& x, const Expr& e, Index r, Index c);
    std::string (*numbers)(Explainer& x, const Expr& e, int r, int c);
    Form form = Form::Term;
    bool many_terms = false;  // one for each column of the operand

    // A row of the result in a sentence (core/ops/teller.h): columns as numbers, wider operands by their names.
    Sentence (*in_row)(Teller& t, int index, int r);
    // What an assignment of the result did to a row.
    Sentence (*told)(Teller& t, int index, int r) = told_by_formula;
    // Whether something happens in the row that is worth telling: null, never.
    bool (*telling)(Teller& t, int index, int r) = nullptr;

    // E of the result: see core/error_scale.h.
    ErrorArray (*error)(const ErrorTerms& t);

    // The elements of the operands that (r, c) of the result is made of; `rows`, `cols` of the first operand.
    std::vector<Element> (*elements)(const Expr& e, Shape a, int r, int c);
    // Whether an infinite result of finite operands says what it should: a hidden key, an empty row.
    bool (*meant)(const Expr& e, const Problem& problem, const Matrix& a, int r, int c) = nullptr;
    // What happened where finite operands gave no finite result; {} is the number format.
    Text overflow{"an operation overflows {}, or meets infinities", "某步运算溢出了 {}，或者碰到了无穷大"};
};

// In the order of the enum.
std::span<const Operation* const> operations();
inline const Operation& operation(Op op) { return *operations()[static_cast<std::size_t>(op)]; }

}  // namespace flashstep
