// Walks the expression behind a cell.
#include "core/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/ops/explainer.h"

namespace flashstep {
namespace {

void collect_operands(const Trace& trace, int expr, std::vector<int>& versions) {
    if (expr < 0) return;
    const Expr& e = trace.exprs[expr];
    if (e.op == Op::Leaf && std::find(versions.begin(), versions.end(), e.version) == versions.end())
        versions.push_back(e.version);
    collect_operands(trace, e.a, versions);
    collect_operands(trace, e.b, versions);
}

}  // namespace

Explanation explain(const Trace& trace, int version, int row, int col, Language language, int digits, int most_terms) {
    const Version& v = trace.versions.at(version);
    if (row < 0 || row >= v.rows || col < 0 || col >= v.cols)
        throw Error(fmt::format("cell [{},{}] lies outside {} x {}", row + 1, col + 1, v.rows, v.cols));
    const Tensor& tensor = trace.tensors[v.tensor];
    const Trace::Range at = tensor.space == Space::Hbm ? trace.block_range(v.tensor, v.block) : Trace::Range{};
    Explanation result;
    result.cell = tex_name(tensor.name);
    if (tensor.rows > 1 || tensor.cols > 1)
        result.cell += tensor.cols == 1 ? fmt::format("[{}]", at.row0 + row + 1)
                                        : fmt::format("[{},{}]", at.row0 + row + 1, at.col0 + col + 1);
    result.value = trace.value(v)(row, col);
    result.step = v.step;
    result.line = trace.steps[v.step].line;
    result.operands = operands_of(trace, v.expr);
    Explainer explainer(trace, language, digits, most_terms);
    result.symbols = explainer.symbols(v.expr, {row}, {col});
    const Op op = trace.exprs[v.expr].op;
    if (op != Op::Leaf && op != Op::Input && op != Op::Fill) result.numbers = explainer.numbers(v.expr, row, col);
    return result;
}

std::vector<int> operands_of(const Trace& trace, int expr) {
    std::vector<int> versions;
    collect_operands(trace, expr, versions);
    return versions;
}

}  // namespace flashstep
