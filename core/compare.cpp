// Comparison of a mirror's trace with what a kernel captured.
#include "core/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "core/error_scale.h"
#include "core/say.h"

namespace flashstep {
namespace {

// Key of the captured tile that holds a version; a whole matrix in HBM is captured under its own name, once per copy
// (what heads share has one).
SlotKey key_of(const Trace& mirror, const Version& version) {
    const Tensor& tensor = mirror.tensors[version.tensor];
    const Step& step = mirror.steps[version.step];
    if (tensor.space == Space::Hbm) return {tensor.name, version.copy, -1, -1};
    return {tensor.name, step.head, step.i, step.j};
}

// Values that were moved or given, not computed: loads and inputs.
bool is_computed(const Trace& mirror, const Version& version) {
    const Expr& expr = mirror.exprs[version.expr];
    if (expr.op == Op::Input) return false;
    // A constant is an initial value, but within an iteration it stands in for a result.
    const Step& step = mirror.steps[version.step];
    if (expr.op == Op::Fill) return step.i >= 0 && step.j >= 0;
    if (expr.op != Op::Leaf) return true;
    return mirror.tensors[version.tensor].space == Space::Hbm;  // a store
}

// The tile's part of what was captured; nullopt if the shapes do not fit.
std::optional<Matrix> part_of(const Trace& mirror, const Version& version, const Matrix& captured) {
    const Tensor& tensor = mirror.tensors[version.tensor];
    if (tensor.space == Space::Sram) {
        if (captured.rows() != version.rows || captured.cols() != version.cols) return std::nullopt;
        return captured;
    }
    if (captured.rows() != tensor.rows || captured.cols() != tensor.cols) return std::nullopt;
    const Trace::Range range = mirror.block_range(version.tensor, version.block);
    return captured.block(range.row0, range.col0, range.rows, range.cols);
}

Verdict verdict_of(double mirror, double kernel, double tolerance, bool hidden) {
    if (std::isnan(mirror) || std::isnan(kernel)) return Verdict::NonFinite;
    // Any other infinity came from an input or an overflow, even where both sides have it.
    if (mirror == kernel) return std::isfinite(mirror) || (hidden && mirror < 0) ? Verdict::Equal : Verdict::NonFinite;
    if (!std::isfinite(mirror) || !std::isfinite(kernel)) return Verdict::NonFinite;
    return std::abs(mirror - kernel) <= tolerance ? Verdict::Equal : Verdict::Different;
}

Verdict worse(Verdict a, Verdict b) { return std::max(a, b); }

TileCheck check_tile(const Eigen::Map<const Matrix>& mirror, const Matrix& kernel, const Matrix& scale, int version,
                     bool hidden) {
    TileCheck check{version, Verdict::Equal, 0, 0, 0, 0};
    for (int r = 0; r < mirror.rows(); ++r)
        for (int c = 0; c < mirror.cols(); ++c) {
            const double tolerance = kToleranceFactor * kEps32 * scale(r, c);
            const Verdict verdict = verdict_of(mirror(r, c), kernel(r, c), tolerance, hidden);
            const double error = std::abs(mirror(r, c) - kernel(r, c));
            const double ratio = error == 0 || !std::isfinite(error) ? 0 : error / tolerance;
            if (std::isfinite(error)) check.worst_error = std::max(check.worst_error, error);
            const bool first_bad = verdict > check.verdict;
            if (first_bad || (check.verdict == Verdict::Equal && ratio > check.worst_ratio))
                check.row = r, check.col = c;
            check.worst_ratio = std::max(check.worst_ratio, ratio);
            check.verdict = worse(check.verdict, verdict);
        }
    return check;
}

Difference difference_at(const Trace& mirror, const Version& version) {
    const Step& step = mirror.steps[version.step];
    Difference d;
    d.step = version.step, d.line = step.line, d.i = step.i, d.j = step.j, d.head = step.head;
    d.tensor = mirror.tensors[version.tensor].name;
    return d;
}

// Every version that a capture has to hold: the last computed write of each tile, and what stands in each block of a
// matrix in HBM at the end, be it from its initialisation.
std::vector<int> comparable(const Trace& mirror, const KernelRun& run) {
    std::set<std::string> slots;
    for (const auto& [key, values] : run.captured) slots.insert(key.slot);
    std::map<SlotKey, int> last_write;                     // on chip
    std::map<std::tuple<int, int, int>, int> last_stored;  // tensor, copy, block
    std::vector<int> versions;
    for (int v = 0; v < static_cast<int>(mirror.versions.size()); ++v) {
        const Version& version = mirror.versions[v];
        const Tensor& tensor = mirror.tensors[version.tensor];
        if (version.step == 0 || !slots.contains(tensor.name)) continue;
        if (tensor.space == Space::Hbm) {
            last_stored[{version.tensor, version.copy, version.block}] = v;
            continue;
        }
        if (!is_computed(mirror, version)) continue;
        const SlotKey key = key_of(mirror, version);
        // A kernel captures a tile once per (i, j); what happens to it outside the inner loop shows in the outputs.
        if (key.j < 0 && !run.captured.contains(key)) continue;
        last_write[key] = v;
    }
    for (const auto& [key, version] : last_write) versions.push_back(version);
    for (const auto& [block, version] : last_stored) versions.push_back(version);
    std::sort(versions.begin(), versions.end());
    return versions;
}

void note_superfluous(const Trace& mirror, const KernelRun& run, Comparison& result, const std::set<SlotKey>& used) {
    for (const auto& [key, values] : run.captured) {
        if (used.contains(key)) continue;
        result.verdict = worse(result.verdict, Verdict::Different);
        if (result.first) continue;
        Difference d;
        d.step = mirror.last_step(), d.i = key.i, d.j = key.j, d.head = key.head, d.tensor = key.slot;
        d.note = {"the kernel produced a tile that the mirror never computes", "kernel 产生了一个 CPU 从不计算的 tile"};
        result.first = d;
    }
}

void compare_bytes(const KernelRun& run, const std::map<std::string, TensorBytes>& expected, Comparison& result) {
    if (run.hbm.empty()) return;
    std::set<std::string> names;
    for (const auto& [name, bytes] : run.hbm) names.insert(name);
    for (const auto& [name, bytes] : expected) names.insert(name);
    const auto at = [](const std::map<std::string, TensorBytes>& map, const std::string& name) {
        const auto found = map.find(name);
        return found == map.end() ? TensorBytes{} : found->second;
    };
    for (const std::string& name : names) {
        result.bytes.push_back({name, at(run.hbm, name), at(expected, name)});
        if (result.bytes.back().kernel != result.bytes.back().expected) result.bytes_equal = false;
    }
    if (!result.bytes_equal) result.verdict = worse(result.verdict, Verdict::Different);
}

// A 16-bit kernel that agrees with its mirror everywhere may still lose more than attention without fusion does.
void compare_outputs(const Trace& mirror, const KernelRun& run, Comparison& result, const Task& task) {
    result.outputs = output_errors(mirror, run, task);
    for (const OutputError& output : result.outputs) {
        if (output.within) continue;
        result.verdict = worse(result.verdict, Verdict::Different);
        if (result.first) continue;
        Difference d;
        d.step = mirror.last_step(), d.line = mirror.steps.back().line, d.tensor = output.tensor;
        d.note =
            say("is {:.3g} away from plain double, the limit is {:.3g} (2 x {:.3g} of unfused attention "
                "+ 1 ulp)",
                "与直接用 double 计算的结果相差 {:.3g}，上限是 {:.3g}（未融合注意力 的误差 {:.3g} 的 2 倍，再加 1 "
                "ulp）",
                output.kernel, output.limit, output.unfused);
        result.first = d;
    }
}

}  // namespace

Comparison compare(const Trace& mirror, const KernelRun& run, const std::map<std::string, TensorBytes>& expected_bytes,
                   const Task& task) {
    Comparison result;
    result.by_version.assign(mirror.versions.size(), -1);
    std::vector<TensorSummary> summaries(mirror.tensors.size());
    std::set<SlotKey> used;
    ErrorScale scale(mirror, task);
    const std::vector<int> versions = comparable(mirror, run);
    for (std::size_t k = 0; k < versions.size(); ++k) {
        const int v = versions[k];
        task.checkpoint();
        task.report(static_cast<double>(k), static_cast<double>(versions.size()));
        const Version& version = mirror.versions[v];
        const SlotKey key = key_of(mirror, version);
        const auto captured = run.captured.find(key);
        std::optional<Matrix> kernel;
        if (captured != run.captured.end()) {
            used.insert(key);
            kernel = part_of(mirror, version, captured->second);
        }
        TensorSummary& summary = summaries[version.tensor];
        ++summary.tiles;
        if (!kernel) {
            summary.verdict = result.verdict = worse(result.verdict, Verdict::Different);
            if (result.first) continue;
            result.first = difference_at(mirror, version);
            result.first->note = captured == run.captured.end()
                                     ? Sentence("the kernel did not produce this tile", "kernel 没有产生这个 tile")
                                     : Sentence("the kernel's tile has another shape", "kernel 的这个 tile 形状不同");
            continue;
        }
        const auto values = mirror.value(version);
        const TileCheck check =
            check_tile(values, *kernel, scale.of(v), v, may_be_hidden(mirror.tensors[version.tensor].kind));
        result.by_version[v] = static_cast<int>(result.tiles.size());
        result.tiles.push_back(check);
        summary.worst_error = std::max(summary.worst_error, check.worst_error);
        summary.worst_ratio = std::max(summary.worst_ratio, check.worst_ratio);
        summary.verdict = worse(summary.verdict, check.verdict);
        result.worst_error = std::max(result.worst_error, check.worst_error);
        result.verdict = worse(result.verdict, check.verdict);
        if (check.verdict == Verdict::Equal || result.first) continue;
        result.first = difference_at(mirror, version);
        result.first->row = check.row, result.first->col = check.col;
        result.first->mirror = values(check.row, check.col);
        result.first->kernel = (*kernel)(check.row, check.col);
        result.first->tolerance = kToleranceFactor * kEps32 * scale.of(v)(check.row, check.col);
    }
    note_superfluous(mirror, run, result, used);
    std::set<int> computed;
    for (const Version& version : mirror.versions)
        if (version.step > 0 && is_computed(mirror, version)) computed.insert(version.tensor);
    for (int tensor : computed) {
        TensorSummary& summary = summaries[tensor];
        summary.name = mirror.tensors[tensor].name;
        if (summary.tiles > 0)
            result.tensors.push_back(summary);
        else
            result.not_materialised.push_back(summary.name);
    }
    compare_bytes(run, expected_bytes, result);
    compare_outputs(mirror, run, result, task);
    return result;
}

std::optional<Matrix> kernel_value(const Trace& mirror, const KernelRun& run, int version) {
    const auto captured = run.captured.find(key_of(mirror, mirror.versions[version]));
    if (captured == run.captured.end()) return std::nullopt;
    return part_of(mirror, mirror.versions[version], captured->second);
}

std::map<std::string, TensorBytes> bytes_of(const Trace& mirror) {
    std::map<std::string, TensorBytes> bytes;
    for (int t = 0; t < static_cast<int>(mirror.tensors.size()); ++t) {
        if (mirror.tensors[t].space != Space::Hbm) continue;
        const HbmBytes total = mirror.hbm_bytes(t, mirror.last_step());
        bytes[mirror.tensors[t].name] = {total.read, total.write};
    }
    return bytes;
}

std::string describe(const Difference& d, const Problem& problem, Language language) {
    std::string tile;
    if (d.i >= 0) tile += fmt::format(", i={}", d.i + 1);
    if (d.j >= 0) tile += fmt::format("{}j={}", d.i >= 0 ? " " : ", ", d.j + 1);
    if (problem.total_heads() > 1)
        tile += fmt::format(", batch {}, head {}", d.head / problem.heads + 1, d.head % problem.heads + 1);
    const Sentence where = say("step {}, line {}{}", "第 {} 步，伪代码第 {} 行{}", d.step, d.line, tile);
    if (!d.note.empty()) return say("{}: {}: {}", "{}：{}：{}", where, d.tensor, d.note).in(language);
    return say("{}: {}[{},{}] is {:.9g} in the mirror and {:.9g} in the kernel (tolerance {:.2g})",
               "{}：{}[{},{}] 在 CPU 上为 {:.9g}，在 kernel 中为 {:.9g}（容差 {:.2g}）", where, d.tensor, d.row + 1,
               d.col + 1, d.mirror, d.kernel, d.tolerance)
        .in(language);
}

}  // namespace flashstep
