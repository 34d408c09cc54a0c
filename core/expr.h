// The expression behind every written value: a small shared tree of operations, and the one place that computes them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/matrix.h"
#include "core/problem.h"

namespace flashstep {

enum class Op {
    Leaf,        // a recorded version of a tensor (Expr::version)
    Input,       // given, not computed
    Fill,        // every element is Expr::number
    MatMul,      // A B
    Transpose,   // A^T
    Scale,       // number * A
    Add,         // A + B; B may be a row, broadcast over A's rows
    Sub,         // A - B
    Mul,         // A o B, element by element
    Div,         // A / B, and 0 where B is 0; B may be a column
    Max,         // element by element
    RowMax,      // column of the rows' maxima
    RowSum,      // column of the rows' sums
    ExpDiff,     // e^(A - B) with e^(-inf - -inf) = 0; B may be a column, broadcast over A's columns
    Exp2Diff,    // 2^(A - B), the same way
    Exp,         // e^A, guarding nothing
    Log,         // natural logarithm
    Reciprocal,  // 1 / A, inf where A is 0
    Replace,     // A, and number where A is -inf
    ToHalf,      // A rounded to fp16
    PadRows,     // A with zero rows below, up to `rows`
    Part,        // the `rows` x `cols` of A that start at row0, col0
    Stack,       // A above B
    DiagMatrix,  // square matrix with the row A on its diagonal
    DiagMul,     // diag(A) B with a column A: row r of B times A[r]
    Inverse,     // 1 / A, and 0 where A is 0
    Mask,        // A where the problem's mask shows the key, -inf elsewhere
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
// tensor cores take them (P is cast before PV).
Matrix apply(const Expr& expr, const Matrix* a, const Matrix* b, const Problem& problem);

}  // namespace flashstep
