// Kernels beside their mirrors.
#include "cli/check_outcome.h"

#include <fmt/format.h>

#include <array>

#include "cli/walkthrough.h"
#include "core/algorithms.h"
#include "core/io/trace_json.h"
#include "lab/run.h"

namespace flashstep::cli {
namespace {

using io::Json;
using io::json_number;

constexpr std::array<const char*, 3> kVerdicts = {"equal", "different", "non-finite"};

const char* verdict_name(Verdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

std::string verdict_text(const Outcome& outcome) {
    return outcome.failure.empty() ? verdict_name(outcome.comparison.verdict) : "failed";
}

std::string paragraph(const Outcome& o) {
    std::string text = fmt::format("{}: {}\n", o.kernel->id, verdict_text(o));
    if (!o.left_out.empty()) return fmt::format("{}: left out: {}\n", o.kernel->id, o.left_out);
    text += fmt::format("  problem     {}\n", problem_line(o.problem));
    if (!o.failure.empty()) return text + fmt::format("  failure     {}\n", o.failure);
    const Comparison& c = o.comparison;
    text += fmt::format("  ran as      {}\n", where_label(o.run));
    if (c.first) text += fmt::format("  first       {}\n", describe(*c.first, o.problem));
    for (const TensorSummary& t : c.tensors)
        text += fmt::format("  {:<11} {}, {} {}, largest difference {:.2g} ({:.2g} of the tolerance)\n", t.name,
                            verdict_name(t.verdict), t.tiles, t.tiles == 1 ? "tile" : "tiles", t.worst_error,
                            t.worst_ratio);
    for (const OutputError& e : c.outputs)
        text += fmt::format(
            "  {:<11} {:.3g} away from plain double; the limit is {:.3g} (2 x {:.3g} of unfused "
            "attention + 1 ulp)\n",
            e.tensor, e.kernel, e.limit, e.unfused);
    if (!c.not_materialised.empty())
        text += fmt::format("  not materialised: {}\n", fmt::join(c.not_materialised, ", "));
    if (c.bytes.empty()) return text + "  HBM bytes   not counted there\n";
    text += fmt::format("  HBM bytes   {} {}\n", c.bytes_equal ? "equal" : "DIFFER FROM",
                        o.kernel->bytes_equal_mirror ? "the mirror's" : "the kernel's own closed form");
    for (const ByteCheck& b : c.bytes) {
        text += fmt::format("    {:<9} {} read, {} written", b.tensor, b.kernel.read, b.kernel.write);
        text +=
            b.kernel == b.expected ? "\n" : fmt::format("; expected {} and {}\n", b.expected.read, b.expected.write);
    }
    return text;
}

// Beside a closed form of its own stands what the paper's algorithm moves at least.
std::string bound_text(const Outcome& o) {
    if (!o.left_out.empty() || !o.failure.empty() || o.kernel->bytes_equal_mirror || o.run.hbm.empty()) return {};
    std::int64_t own = 0;
    for (const auto& [tensor, bytes] : o.run.hbm) own += bytes.read + bytes.write;
    const Algorithm& algorithm = *find_algorithm(o.kernel->algorithm);
    const Traffic bound = count(algorithm, o.problem).traffic;
    return fmt::format("    in all {} bytes; {} moves {}\n", own, algorithm.source, bound.hbm_read + bound.hbm_write);
}

Json bytes_json(const TensorBytes& bytes) { return {{"read", bytes.read}, {"write", bytes.write}}; }

Json first_json(const Outcome& o) {
    if (!o.comparison.first) return nullptr;
    const Difference& d = *o.comparison.first;
    const auto index = [](int k) { return k < 0 ? Json() : Json(k); };
    Json json = {{"step", d.step},
                 {"line", d.line},
                 {"i0", index(d.i)},
                 {"j0", index(d.j)},
                 {"batch0", d.head / o.problem.heads},
                 {"head0", d.head % o.problem.heads},
                 {"tensor", d.tensor}};
    if (d.note.empty()) {
        json["row0"] = d.row;
        json["col0"] = d.col;
        json["mirror"] = json_number(d.mirror);
        json["kernel"] = json_number(d.kernel);
        json["tolerance"] = json_number(d.tolerance);
    } else {
        json["note"] = d.note.en;
    }
    json["text"] = describe(d, o.problem);
    return json;
}

}  // namespace

Outcome check_one(const gpu::KernelInfo& kernel, const Recipe& recipe) {
    Outcome outcome{
        .kernel = &kernel, .problem = recipe.problem, .left_out = {}, .failure = {}, .run = {}, .comparison = {}};
    // What is wrong use of the mirror is wrong use here, too; it is found before anything runs.
    count(*find_algorithm(kernel.algorithm), recipe.problem);
    try {
        Run run = make_run(recipe, nullptr, Parts::Verdict);
        outcome.failure = run.kernel_message.en;
        if (!run.comparison) return outcome;
        outcome.run = std::move(*run.kernel_run);
        outcome.comparison = std::move(*run.comparison);
    } catch (const Error& error) {
        outcome.failure = error.hint().empty() ? error.what() : fmt::format("{}. {}", error.what(), error.hint());
    }
    return outcome;
}

std::string outcome_text(const Outcome& outcome) { return paragraph(outcome) + bound_text(outcome); }

std::string outcome_line(const Outcome& o) {
    if (!o.left_out.empty()) return "left out: " + o.left_out;
    if (!o.failure.empty()) return "failed: " + o.failure;
    if (o.comparison.first) return fmt::format("{}: {}", verdict_text(o), describe(*o.comparison.first, o.problem));
    return verdict_text(o) + (o.comparison.bytes_equal ? "" : ": other HBM bytes");
}

Json outcome_json(const Outcome& o) {
    const Comparison& c = o.comparison;
    Json json = {{"kernel", std::string(o.kernel->id)},
                 {"algorithm", std::string(o.kernel->algorithm)},
                 {"verdict", verdict_text(o)},
                 {"equal", o.equal()}};
    json["problem"] = io::problem_json(o.problem);
    if (!o.failure.empty()) {
        json["failure"] = o.failure;
        return json;
    }
    json["on"] = o.run.where == Where::Host ? "host" : o.run.where == Where::Ptx ? "ptx" : "cuda";
    json["device"] = o.run.device.empty() ? Json() : Json(o.run.device);
    json["worst_error"] = json_number(c.worst_error);
    json["first"] = first_json(o);
    json["tensors"] = Json::array();
    for (const TensorSummary& t : c.tensors)
        json["tensors"].push_back({{"tensor", t.name},
                                   {"verdict", verdict_name(t.verdict)},
                                   {"tiles", t.tiles},
                                   {"worst_error", json_number(t.worst_error)},
                                   {"worst_ratio", json_number(t.worst_ratio)}});
    json["outputs"] = Json::array();
    for (const OutputError& e : c.outputs)
        json["outputs"].push_back({{"tensor", e.tensor},
                                   {"error", json_number(e.kernel)},
                                   {"unfused", json_number(e.unfused)},
                                   {"limit", json_number(e.limit)},
                                   {"within", e.within}});
    json["not_materialised"] = c.not_materialised;
    json["bytes_equal"] = c.bytes.empty() ? Json() : Json(c.bytes_equal);
    json["bytes_expected_from"] = o.kernel->bytes_equal_mirror ? "mirror" : "closed form";
    json["bytes"] = Json::object();
    for (const ByteCheck& b : c.bytes)
        json["bytes"][b.tensor] = {{"kernel", bytes_json(b.kernel)}, {"expected", bytes_json(b.expected)}};
    json["counters"] = Json::object();
    for (const auto& [counter, value] : o.run.counters) json["counters"][counter] = value;
    return json;
}

}  // namespace flashstep::cli
