// The expression behind every written value: a small shared tree of operations, and the one place that computes them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/matrix.h"
#include "core/problem.h"
#include "core/task.h"

namespace flashstep {

// What each of them is stands in core/ops, a file each. Append only: a trace file holds their numbers.
enum class Op {
    Leaf,
    Input,
    Fill,
    MatMul,
    Transpose,
    Scale,
    Add,
    Sub,
    Mul,
    Div,
    Max,
    RowMax,
    RowSum,
    ExpDiff,
    Exp,
    Log,
    Reciprocal,
    Replace,
    ToHalf,
    PadRows,
    DiagMatrix,
    DiagMul,
    Inverse,
    Mask,
    Exp2Diff,
    Part,
    Stack,
    Count,  // how many there are
};
constexpr int kOperations = static_cast<int>(Op::Count);

struct Shape {
    int rows = 0, cols = 0;
    bool operator==(const Shape&) const = default;
};

// A node of Trace::exprs. Operands are indices into it; -1 where the operation has none.
struct Expr {
    Op op = Op::Input;
    int a = -1, b = -1;
    int version = -1;        // Leaf
    double number = 0;       // Scale, Fill
    int rows = 0, cols = 0;  // shape of the result
    int row0 = 0, col0 = 0;  // Mask: position of A[0, 0] in the score matrix; Part: in A
};

// The value of one operation from its operands' values (b may be null), rounded as the problem's precision says: double
// arithmetic, then fp32 (Exact: not at all); 16-bit formats round both operands of a MatMul to the format first, as
// tensor cores take them (P is cast before PV). Throws Cancelled as the task says, also within one large product.
Matrix apply(const Expr& expr, const Matrix* a, const Matrix* b, const Problem& problem, const Task& task = {});

}  // namespace flashstep
