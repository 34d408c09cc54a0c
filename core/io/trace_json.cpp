// Traces and counts as JSON.
#include "core/io/trace_json.h"

#include <array>

#include "core/first_non_finite.h"

namespace flashstep::io {
namespace {

Json index_or_null(int index) { return index < 0 ? Json() : Json(index); }

Json hbm_json(const HbmBytes& bytes) { return {{"read", bytes.read}, {"write", bytes.write}, {"init", bytes.init}}; }

Json traffic_json(const Traffic& t) {
    return {{"hbm", {{"read", t.hbm_read}, {"write", t.hbm_write}, {"init", t.hbm_init}}},
            {"sram", {{"read", t.sram_read}, {"write", t.sram_write}}},
            {"flops", {{"matmul", t.flops_matmul}, {"other", t.flops_other}, {"exp", t.flops_exp}}},
            {"barriers", t.barriers}};
}

Json memory_json(const Memory& memory) {
    return {{"inputs", memory.inputs}, {"outputs", memory.outputs}, {"extra", memory.extra}};
}

Json tensor_json(const Tensor& tensor) {
    constexpr std::array kRoles = {"input", "output", "extra"};
    constexpr std::array kPer = {"query head", "key/value head", "problem"};
    constexpr std::array kKinds = {"operand",     "scores",          "weights",  "maximum", "sum",
                                   "log-sum-exp", "row dot product", "gradient", "mask"};
    Json json = {{"name", tensor.name},
                 {"kind", kKinds[static_cast<std::size_t>(tensor.kind)]},
                 {"space", tensor.space == Space::Hbm ? "hbm" : "sram"}};
    if (tensor.space == Space::Hbm) {
        json["role"] = kRoles[static_cast<std::size_t>(tensor.role)];
        json["per"] = kPer[static_cast<std::size_t>(tensor.per)];
    }
    if (tensor.space == Space::Sram) json["registers"] = tensor.registers;
    json["rows"] = tensor.rows;
    json["cols"] = tensor.cols;
    if (tensor.space == Space::Hbm) json["block_rows"] = tensor.block_rows, json["block_cols"] = tensor.block_cols;
    json["element_bytes"] = tensor.element_bytes;
    return json;
}

Json touch_json(const Trace& trace, const Touch& touch) {
    constexpr std::array kKinds = {"load", "store", "init", "read", "write"};
    const std::string& name = trace.tensors[static_cast<std::size_t>(touch.tensor)].name;
    Json json = {{"kind", kKinds[static_cast<std::size_t>(touch.kind)]}, {"tensor", name}, {"bytes", touch.bytes}};
    if (touch.kind == TouchKind::Read || touch.kind == TouchKind::Write) return json;
    json["block0"] = index_or_null(touch.block);
    if (touch.partner >= 0) json["tile"] = trace.tensors[static_cast<std::size_t>(touch.partner)].name;
    return json;
}

Json write_json(const Trace& trace, const Version& version) {
    const Tensor& tensor = trace.tensors[static_cast<std::size_t>(version.tensor)];
    Json json = {{"tensor", tensor.name}};
    if (tensor.space == Space::Hbm) {
        const Trace::Range range = trace.block_range(version.tensor, version.block);
        json["copy0"] = version.copy;
        json["row0"] = range.row0;
        json["col0"] = range.col0;
    }
    json["values"] = json_matrix(trace.value(version));
    return json;
}

Json non_finite_json(const Trace& trace) {
    const auto found = first_non_finite(trace);
    if (!found) return nullptr;
    const Version& version = trace.versions[static_cast<std::size_t>(found->version)];
    const Tensor& tensor = trace.tensors[static_cast<std::size_t>(version.tensor)];
    const Trace::Range at =
        tensor.space == Space::Hbm ? trace.block_range(version.tensor, version.block) : Trace::Range{};
    return {{"step", version.step},           {"line", trace.steps[static_cast<std::size_t>(version.step)].line},
            {"tensor", tensor.name},          {"row0", at.row0 + found->row},
            {"col0", at.col0 + found->col},   {"value", json_number(trace.value(version)(found->row, found->col))},
            {"text", describe(trace, *found)}};
}

Json step_json(const Trace& trace, int number) {
    const Step& step = trace.steps[static_cast<std::size_t>(number)];
    Json json = {{"step", number}, {"line", step.line}};
    json["batch0"] = step.head / trace.problem.heads;
    json["head0"] = step.head % trace.problem.heads;
    json["i0"] = index_or_null(step.i);
    json["j0"] = index_or_null(step.j);
    json["warp0"] = index_or_null(step.w);
    json["touches"] = Json::array();
    for (int t = step.touch_begin; t < step.touch_end; ++t)
        json["touches"].push_back(touch_json(trace, trace.touches[static_cast<std::size_t>(t)]));
    json["writes"] = Json::array();
    for (int v = step.version_begin; v < step.version_end; ++v)
        json["writes"].push_back(write_json(trace, trace.versions[static_cast<std::size_t>(v)]));
    json["sram_bytes"] = step.sram_bytes;
    json["total"] = traffic_json(step.total);
    return json;
}

}  // namespace

Json problem_json(const Problem& p) {
    return {{"n", p.n},
            {"nk", p.nk},
            {"d", p.d},
            {"dv", p.dv},
            {"br", p.br},
            {"bc", p.bc},
            {"scale", json_number(p.scale)},
            {"causal", p.causal},
            {"mask", p.mask == MaskShape::None   ? "none"
                     : p.mask == MaskShape::Keys ? "keys"
                                                 : "scores"},
            {"batch", p.batch},
            {"heads", p.heads},
            {"kv_heads", p.kv_heads},
            {"dtype", std::string(name(p.dtype))},
            {"base2", p.base2},
            {"seed", p.seed},
            {"sram", p.sram_bytes}};
}

Json count_json(const Counts& counts) {
    const Traffic& t = counts.traffic;
    Json json = traffic_json(t);
    json["hbm"]["by_tensor"] = Json::object();
    for (const auto& [tensor, bytes] : counts.hbm) json["hbm"]["by_tensor"][tensor] = hbm_json(bytes);
    if (counts.sram_modelled)
        json["sram"]["peak"] = counts.sram_peak;
    else
        json["sram"] = {{"read", nullptr}, {"write", nullptr}, {"peak", nullptr}};
    json["memory"] = memory_json(counts.memory);
    json["steps"] = counts.steps;
    return json;
}

Json trace_json(const Algorithm& algorithm, const Trace& trace) {
    constexpr std::array kKinds = {"step", "loop", "text"};
    Json json = {{"algorithm", std::string(algorithm.id)},
                 {"title", std::string(algorithm.title.en)},
                 {"source", std::string(algorithm.source)}};
    json["problem"] = problem_json(trace.problem);
    json["lines"] = Json::array();
    for (const PseudoLine& line : algorithm.lines)
        json["lines"].push_back({{"line", line.number},
                                 {"indent", line.indent},
                                 {"kind", kKinds[static_cast<std::size_t>(line.kind)]},
                                 {"tex", line.en}});
    json["tensors"] = Json::array();
    for (const Tensor& tensor : trace.tensors) json["tensors"].push_back(tensor_json(tensor));
    json["memory"] = memory_json(trace.memory);
    json["sram_peak"] = trace.sram_modelled ? Json(trace.sram_peak) : Json();
    json["first_non_finite"] = non_finite_json(trace);
    json["steps"] = Json::array();
    for (int k = 0; k <= trace.last_step(); ++k) json["steps"].push_back(step_json(trace, k));
    return json;
}

}  // namespace flashstep::io
