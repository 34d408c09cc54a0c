// The words of the pseudo-code: what each costs, and what each computes.
#include <fmt/format.h>

#include <numbers>

#include "core/machine.h"

namespace flashstep {
namespace {

std::int64_t size(const Value& value) { return std::int64_t{value.shape.rows} * value.shape.cols; }

[[noreturn]] void refuse(const char* word, const Value& a, const Value& b) {
    throw Error(fmt::format("line {}: {} of {} x {} and {} x {}", a.machine->line(), word, a.shape.rows, a.shape.cols,
                            b.shape.rows, b.shape.cols));
}

// An operation with one result element per element of `a`; b is null, as large as a, a column or a row.
Value elementwise(Op op, const char* word, const Value& a, const Value* b, double number = 0) {
    if (b && !(b->shape == a.shape) && !(b->shape == Shape{a.shape.rows, 1}) && !(b->shape == Shape{1, a.shape.cols}))
        refuse(word, a, *b);
    return a.machine->value({.op = op, .number = number, .rows = a.shape.rows, .cols = a.shape.cols}, &a, b);
}

Value counted(Op op, const char* word, const Value& a, const Value* b, double number = 0) {
    a.machine->count_other(size(a));
    return elementwise(op, word, a, b, number);
}

// e^(a - b) as the algorithms mean it.
Value exponential_of_difference(const Value& a, const Value& b) {
    a.machine->count_exp(size(a));
    return counted(a.machine->problem().base2 ? Op::Exp2Diff : Op::ExpDiff, "difference", a, &b);
}

Value replace_minus_inf(const Value& a, double number) { return elementwise(Op::Replace, "guard", a, nullptr, number); }

}  // namespace

Value operator*(const Value& a, const Value& b) {
    if (a.shape.cols != b.shape.rows) refuse("product", a, b);
    a.machine->count_matmul(2 * size(a) * b.shape.cols);
    return a.machine->value({.op = Op::MatMul, .rows = a.shape.rows, .cols = b.shape.cols}, &a, &b);
}

Value operator*(double factor, const Value& a) {
    return counted(Op::Scale, "scale", a, nullptr, a.machine->meaning(Word::Scale) == Meaning::One ? 1 : factor);
}
Value operator+(const Value& a, const Value& b) { return counted(Op::Add, "sum", a, &b); }
Value operator-(const Value& a, const Value& b) {
    if (a.machine->meaning(Word::Subtract) == Meaning::Left) return a;
    return counted(Op::Sub, "difference", a, &b);
}
Value hadamard(const Value& a, const Value& b) { return counted(Op::Mul, "element-wise product", a, &b); }
Value operator/(const Value& a, const Value& b) { return counted(Op::Div, "quotient", a, &b); }
Value max(const Value& a, const Value& b) {
    const Value right = counted(Op::Max, "max", a, &b);
    switch (a.machine->meaning(Word::Max)) {
        case Meaning::Zero:
            return zeros(*a.machine, a.shape);
        case Meaning::ZeroForMinusInf:
            return replace_minus_inf(right, 0);
        default:
            return right;
    }
}

Value T(const Value& a) {
    return a.machine->value({.op = Op::Transpose, .rows = a.shape.cols, .cols = a.shape.rows}, &a, nullptr);
}

Value rowmax(const Value& a) {
    a.machine->count_other(size(a));
    return a.machine->value({.op = Op::RowMax, .rows = a.shape.rows, .cols = 1}, &a, nullptr);
}

Value rowsum(const Value& a) {
    a.machine->count_other(size(a));
    return a.machine->value({.op = Op::RowSum, .rows = a.shape.rows, .cols = 1}, &a, nullptr);
}

Value exp(const Value& a) {
    a.machine->count_exp(size(a));
    return elementwise(Op::Exp, "exp", a, nullptr);
}

Value log(const Value& a) { return counted(Op::Log, "log", a, nullptr); }

Value exp_diff(const Value& a, const Value& b) {
    if (a.machine->meaning(Word::ExpDiff) == Meaning::TileMaximum) return exponential_of_difference(a, rowmax(a));
    return exponential_of_difference(a, b);
}

Value diag_matrix(const Value& row) {
    if (row.shape.rows != 1) refuse("diagonal matrix", row, row);
    return row.machine->value({.op = Op::DiagMatrix, .rows = row.shape.cols, .cols = row.shape.cols}, &row, nullptr);
}

Value rescale(const Value& m_old, const Value& m_new) {
    const Value right = exponential_of_difference(m_old, m_new);
    switch (m_old.machine->meaning(Word::Rescale)) {
        case Meaning::One:
            return fill(*m_old.machine, m_old.shape, 1);
        case Meaning::Inverse:
            return elementwise(Op::Reciprocal, "inverse", right, nullptr);
        case Meaning::GuardedInverse:
            return elementwise(Op::Inverse, "inverse", right, nullptr);
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
    return L.machine->problem().base2 ? counted(Op::Scale, "scale", L, nullptr, std::numbers::log2e) : L;
}
Value natural(const Value& m) {
    return m.machine->problem().base2 ? counted(Op::Scale, "scale", m, nullptr, std::numbers::ln2) : m;
}

Value stack(const Value& above, const Value& below) {
    if (above.shape.cols != below.shape.cols) refuse("stack", above, below);
    return above.machine->value(
        {.op = Op::Stack, .rows = above.shape.rows + below.shape.rows, .cols = above.shape.cols}, &above, &below);
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

Diagonal inv(Diagonal diagonal) { return {counted(Op::Inverse, "inverse", diagonal.column, nullptr)}; }

Value operator*(const Diagonal& factor, const Value& a) {
    const Value& column = factor.column;
    if (column.shape.rows != a.shape.rows) refuse("diagonal product", column, a);
    a.machine->count_other(size(a));
    return a.machine->value({.op = Op::DiagMul, .rows = a.shape.rows, .cols = a.shape.cols}, &column, &a);
}

}  // namespace flashstep
