// Follows each element that is not finite back to the operation that made it.
#include "core/first_non_finite.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <vector>

namespace flashstep {
namespace {

class Search {
  public:
    explicit Search(const Trace& trace) : trace_(trace) {}

    // The operation of an expression that gave its element (r, c), which is not finite, from finite operands. None if
    // other versions handed it on, or if it says what a mask says.
    std::optional<Op> origin(int index, int r, int c) {
        const Expr& e = trace_.exprs[index];
        switch (e.op) {
            case Op::Leaf:
            case Op::Input:
            case Op::Fill:
                return std::nullopt;
            case Op::Mask:
                if (!trace_.problem.visible(e.row0 + r, e.col0 + c)) return std::nullopt;
                break;
            case Op::Log:
                if (value(e.a)(r, c) == 0) return std::nullopt;  // the sum of a row that sees no key
                break;
            default:
                break;
        }
        bool from_infinity = false, from_nan = false;
        for (const auto& [operand, row, col] : operands(e, r, c)) {
            const double x = value(operand)(row, col);
            if (std::isfinite(x)) continue;
            if (const auto deeper = origin(operand, row, col)) return deeper;
            from_infinity = true;
            from_nan |= std::isnan(x);
        }
        // Infinities that are meant give what they should, unless they meet: inf - inf, 0 * inf.
        if (from_infinity && (from_nan || !std::isnan(value(index)(r, c)))) return std::nullopt;
        return e.op;
    }

    // Of an expression, before what HBM's format makes of it.
    const Matrix& value(int index) {
        if (const auto known = values_.find(index); known != values_.end()) return known->second;
        const Expr& e = trace_.exprs[index];
        Matrix result;
        if (e.op == Op::Leaf) {
            result = trace_.value(trace_.versions[e.version]);
        } else {
            const Matrix* a = e.a >= 0 ? &value(e.a) : nullptr;
            result = apply(e, a, e.b >= 0 ? &value(e.b) : nullptr, trace_.problem);
        }
        return values_[index] = std::move(result);
    }

  private:
    struct Element {
        int expr, row, col;
    };

    // The elements that (r, c) of an operation's result is made of.
    std::vector<Element> operands(const Expr& e, int r, int c) const {
        std::vector<Element> all;
        const auto add = [&](int operand, int row, int col) {  // columns and rows are broadcast
            const Expr& of = trace_.exprs[operand];
            all.push_back({operand, of.rows == 1 ? 0 : row, of.cols == 1 ? 0 : col});
        };
        const int terms = trace_.exprs[e.a].cols;
        switch (e.op) {
            case Op::Transpose:
                add(e.a, c, r);
                break;
            case Op::Part:
                add(e.a, r + e.row0, c + e.col0);
                break;
            case Op::Stack:
                r < trace_.exprs[e.a].rows ? add(e.a, r, c) : add(e.b, r - trace_.exprs[e.a].rows, c);
                break;
            case Op::DiagMatrix:
                add(e.a, 0, c);
                break;
            case Op::MatMul:
                for (int k = 0; k < terms; ++k) add(e.a, r, k), add(e.b, k, c);
                break;
            case Op::RowMax:
            case Op::RowSum:
                for (int k = 0; k < terms; ++k) add(e.a, r, k);
                break;
            default:
                add(e.a, r, c);
                if (e.b >= 0) add(e.b, r, c);
        }
        return all;
    }

    const Trace& trace_;
    std::map<int, Matrix> values_;  // by expression
};

std::optional<NonFinite> in_version(const Trace& trace, int v) {
    const Version& version = trace.versions[v];
    const Expr& expr = trace.exprs[version.expr];
    const auto values = trace.value(version);
    Search search(trace);
    for (int r = 0; r < version.rows; ++r)
        for (int c = 0; c < version.cols; ++c) {
            const double x = values(r, c);
            if (std::isfinite(x)) continue;
            if (expr.op == Op::Input) {
                if (x == -kInf && may_be_hidden(trace.tensors[version.tensor].kind)) continue;
                return NonFinite{NonFinite::Cause::Given, v, r, c, expr.op};
            }
            if (std::isfinite(search.value(version.expr)(r, c)))
                return NonFinite{NonFinite::Cause::Rounded, v, r, c, expr.op};
            if (const auto op = search.origin(version.expr, r, c))
                return NonFinite{NonFinite::Cause::Computed, v, r, c, *op};
        }
    return std::nullopt;
}

std::string cause_text(const Trace& trace, const NonFinite& found) {
    const bool exact = trace.problem.dtype == DType::Exact;
    switch (found.cause) {
        case NonFinite::Cause::Given:
            return "given so";
        case NonFinite::Cause::Rounded:
            return fmt::format("too large for {}", name(trace.problem.dtype));
        case NonFinite::Cause::Computed:
            break;
    }
    switch (found.op) {
        case Op::MatMul:
        case Op::RowSum:
            return fmt::format("a sum overflows {}", exact ? "double" : "fp32");
        case Op::ExpDiff:
        case Op::Exp2Diff:
        case Op::Exp:
            return fmt::format("an exponential overflows {}", exact ? "double" : "fp32");
        case Op::Div:
        case Op::Reciprocal:
        case Op::Inverse:
            return "a division by zero or by almost zero";
        default:
            return fmt::format("an operation overflows {}, or meets infinities", exact ? "double" : "fp32");
    }
}

}  // namespace

std::optional<NonFinite> first_non_finite(const Trace& trace) {
    for (int v = 0; v < static_cast<int>(trace.versions.size()); ++v) {
        if (trace.value(trace.versions[v]).allFinite()) continue;
        if (const auto found = in_version(trace, v)) return found;
    }
    return std::nullopt;
}

std::string describe(const Trace& trace, const NonFinite& found) {
    const Version& version = trace.versions[found.version];
    const Step& step = trace.steps[version.step];
    const Tensor& tensor = trace.tensors[version.tensor];
    std::string where = version.step == 0 ? "step 0" : fmt::format("step {}, line {}", version.step, step.line);
    if (step.i >= 0) where += fmt::format(", i={}", step.i + 1);
    if (step.j >= 0) where += fmt::format("{}j={}", step.i >= 0 ? " " : ", ", step.j + 1);
    if (step.w >= 0) where += fmt::format(", warp {}", step.w + 1);
    const int head = version.step == 0 ? version.copy : step.head;
    if (trace.problem.total_heads() > 1)
        where += fmt::format(", batch {}, head {}", head / trace.problem.heads + 1, head % trace.problem.heads + 1);
    const Trace::Range at =
        tensor.space == Space::Hbm ? trace.block_range(version.tensor, version.block) : Trace::Range{};
    return fmt::format("{}: {}[{},{}] is {}: {}", where, tensor.name, at.row0 + found.row + 1, at.col0 + found.col + 1,
                       trace.value(version)(found.row, found.col), cause_text(trace, found));
}

}  // namespace flashstep
