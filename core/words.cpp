// The words of the pseudo-code: what each costs, and what each computes.
#include <fmt/format.h>

#include <numbers>

#include "core/machine.h"
#include "core/ops/operation.h"

namespace flashstep {
namespace {

[[noreturn]] void refuse(const char* word, const Value& a, const Value& b) {
    throw Error(fmt::format("line {}: {} of {} x {} and {} x {}", a.machine->line(), word, a.shape.rows, a.shape.cols,
                            b.shape.rows, b.shape.cols));
}

// An operation on values that stand in for what the papers write: it costs nothing.
Value uncounted(const Expr& e, const Value& a, const Value* b = nullptr) { return a.machine->value(e, &a, b); }

// An operation of the papers.
Value counted(const Expr& e, const Value& a, const Value* b = nullptr) {
    a.machine->count(operation(e.op).cost(a.shape, b ? b->shape : Shape{}));
    return uncounted(e, a, b);
}

// One result element per element of `a`; b is as large as a, a column or a row.
Expr like(const Value& a, Op op, double number = 0) {
    return {.op = op, .number = number, .rows = a.shape.rows, .cols = a.shape.cols};
}

Value each(Op op, const Value& a, const Value& b) {
    if (!(b.shape == a.shape) && !(b.shape == Shape{a.shape.rows, 1}) && !(b.shape == Shape{1, a.shape.cols}))
        refuse(operation(op).name, a, b);
    return counted(like(a, op), a, &b);
}

// e^(a - b) as the algorithms mean it.
Value exponential_of_difference(const Value& a, const Value& b) {
    return each(a.machine->problem().base2 ? Op::Exp2Diff : Op::ExpDiff, a, b);
}

Value replace_minus_inf(const Value& a, double number) { return uncounted(like(a, Op::Replace, number), a); }

}  // namespace

Value operator*(const Value& a, const Value& b) {
    if (a.shape.cols != b.shape.rows) refuse("product", a, b);
    const Value right = counted({.op = Op::MatMul, .rows = a.shape.rows, .cols = b.shape.cols}, a, &b);
    if (a.machine->meaning(Word::Product) != Meaning::HalfPrecision) return right;
    return uncounted(like(right, Op::ToHalf), right);
}

Value operator*(double factor, const Value& a) {
    return counted(like(a, Op::Scale, a.machine->meaning(Word::Scale) == Meaning::One ? 1 : factor), a);
}
Value operator+(const Value& a, const Value& b) { return each(Op::Add, a, b); }
Value operator-(const Value& a, const Value& b) {
    if (a.machine->meaning(Word::Subtract) == Meaning::Left) return a;
    return each(Op::Sub, a, b);
}
Value hadamard(const Value& a, const Value& b) { return each(Op::Mul, a, b); }
Value operator/(const Value& a, const Value& b) { return each(Op::Div, a, b); }
Value max(const Value& a, const Value& b) {
    const Value right = each(Op::Max, a, b);
    switch (a.machine->meaning(Word::Max)) {
        case Meaning::Zero:
            return zeros(*a.machine, a.shape);
        case Meaning::First:
            return a.machine->loop_j > 0 ? each(Op::Max, a, a) : right;
        case Meaning::ZeroForMinusInf:
            return replace_minus_inf(right, 0);
        default:
            return right;
    }
}

Value T(const Value& a) { return uncounted({.op = Op::Transpose, .rows = a.shape.cols, .cols = a.shape.rows}, a); }

Value rowmax(const Value& a) { return counted({.op = Op::RowMax, .rows = a.shape.rows, .cols = 1}, a); }

Value rowsum(const Value& a) { return counted({.op = Op::RowSum, .rows = a.shape.rows, .cols = 1}, a); }

Value exp(const Value& a) { return counted(like(a, Op::Exp), a); }

Value log(const Value& a) { return counted(like(a, Op::Log), a); }

Value exp_diff(const Value& a, const Value& b) {
    if (a.machine->meaning(Word::ExpDiff) == Meaning::TileMaximum) return exponential_of_difference(a, rowmax(a));
    return exponential_of_difference(a, b);
}

Value diag_matrix(const Value& row) {
    if (row.shape.rows != 1) refuse("diagonal matrix", row, row);
    return uncounted({.op = Op::DiagMatrix, .rows = row.shape.cols, .cols = row.shape.cols}, row);
}

Value rescale(const Value& m_old, const Value& m_new) {
    const Value right = exponential_of_difference(m_old, m_new);
    switch (m_old.machine->meaning(Word::Rescale)) {
        case Meaning::One:
            return fill(*m_old.machine, m_old.shape, 1);
        case Meaning::Inverse:
            return uncounted(like(right, Op::Reciprocal), right);
        case Meaning::GuardedInverse:
            return uncounted(like(right, Op::Inverse), right);
        default:
            return right;
    }
}

namespace {

Value mask_part(const Value& scores, int i, int j, const Part* part) {
    Machine& machine = *scores.machine;
    Value result = scores;
    if (machine.has_mask()) {
        const Value M = in_base(machine.load_mask(i, j, part));
        result = result + M;
    }
    if (machine.problem().causal) {
        const Value scores_seen = result;
        result = machine.value({.op = Op::Mask,
                                .rows = scores.shape.rows,
                                .cols = scores.shape.cols,
                                .row0 = i * machine.mask_tile().rows + (part ? part->row0 : 0),
                                .col0 = j * machine.mask_tile().cols + (part ? part->col0 : 0)},
                               &scores_seen, nullptr);
    }
    return machine.meaning(Word::Mask) == Meaning::FiniteSentinel ? replace_minus_inf(result, kMaskSentinel) : result;
}

}  // namespace

Value mask(const Value& scores, int i, int j) { return mask_part(scores, i, j, nullptr); }
Value mask(const Value& scores, int i, int j, const Part& part) { return mask_part(scores, i, j, &part); }
Value mask(const Value& scores) { return mask(scores, 0, 0); }

Value in_base(const Value& L) {
    return L.machine->problem().base2 ? counted(like(L, Op::Scale, std::numbers::log2e), L) : L;
}
Value natural(const Value& m) {
    return m.machine->problem().base2 ? counted(like(m, Op::Scale, std::numbers::ln2), m) : m;
}

Value stack(const Value& above, const Value& below) {
    if (above.shape.cols != below.shape.cols) refuse("stack", above, below);
    return uncounted({.op = Op::Stack, .rows = above.shape.rows + below.shape.rows, .cols = above.shape.cols}, above,
                     &below);
}

Value softmax(const Value& scores) {
    const Value e = exp_diff(scores, rowmax(scores));
    return inv(diag(rowsum(e))) * e;
}

Value softmax_gradient(const Value& P, const Value& dP) { return hadamard(P, dP - rowsum(hadamard(P, dP))); }

Value zeros(Machine& machine, Shape shape) { return fill(machine, shape, 0); }

Value fill(Machine& machine, Shape shape, double number) {
    return machine.value({.op = Op::Fill, .number = number, .rows = shape.rows, .cols = shape.cols}, nullptr, nullptr);
}

Diagonal diag(Value column) {
    if (column.shape.cols != 1)
        throw Error(
            fmt::format("line {}: diag of {} x {}", column.machine->line(), column.shape.rows, column.shape.cols));
    return {std::move(column)};
}

Diagonal inv(Diagonal diagonal) { return {counted(like(diagonal.column, Op::Inverse), diagonal.column)}; }

Value operator*(const Diagonal& factor, const Value& a) {
    const Value& column = factor.column;
    if (column.shape.rows != a.shape.rows) refuse("diagonal product", column, a);
    return counted({.op = Op::DiagMul, .rows = a.shape.rows, .cols = a.shape.cols}, column, &a);
}

}  // namespace flashstep
