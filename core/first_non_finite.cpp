// Follows each element that is not finite back to the operation that made it.
#include "core/first_non_finite.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <vector>

#include "core/ops/operation.h"

namespace flashstep {
namespace {

class Search {
  public:
    Search(const Trace& trace, const Task& task) : trace_(trace), task_(task) {}

    // The operation of an expression that gave its element (r, c), which is not finite, from finite operands. None if
    // other versions handed it on, or if it says what a mask says.
    std::optional<Op> origin(int index, int r, int c) {
        task_.checkpoint();
        const Expr& e = trace_.exprs[index];
        const Operation& operation = flashstep::operation(e.op);
        if (operation.operands == 0) return std::nullopt;
        if (operation.meant && operation.meant(e, trace_.problem, value(e.a), r, c)) return std::nullopt;
        bool from_infinity = false, from_nan = false;
        for (const Element& element : operation.elements(e, shape_of(e.a), r, c)) {
            const int operand = element.of == Element::A ? e.a : e.b;  // a column or a row may be spread
            const int row = shape_of(operand).rows == 1 ? 0 : element.row;
            const int col = shape_of(operand).cols == 1 ? 0 : element.col;
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
            result = apply(e, a, e.b >= 0 ? &value(e.b) : nullptr, trace_.problem, task_);
        }
        return values_[index] = std::move(result);
    }

  private:
    Shape shape_of(int index) const { return {trace_.exprs[index].rows, trace_.exprs[index].cols}; }

    const Trace& trace_;
    const Task& task_;
    std::map<int, Matrix> values_;  // by expression
};

std::optional<NonFinite> in_version(const Trace& trace, int v, const Task& task) {
    const Version& version = trace.versions[v];
    const Expr& expr = trace.exprs[version.expr];
    const auto values = trace.value(version);
    Search search(trace, task);
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
    return fmt::format(fmt::runtime(operation(found.op).overflow.en), exact ? "double" : "fp32");
}

}  // namespace

std::optional<NonFinite> first_non_finite(const Trace& trace, const Task& task) {
    for (int v = 0; v < static_cast<int>(trace.versions.size()); ++v) {
        task.checkpoint();
        if (trace.value(trace.versions[v]).allFinite()) continue;
        if (const auto found = in_version(trace, v, task)) return found;
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
