// Expressions over the scenes, and numbers as text.
#include "lessons/evaluate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "core/algorithms.h"
#include "core/error.h"
#include "core/gpu_model.h"
#include "gpu/matrix_wavefronts.h"
#include "lab/format.h"

namespace flashstep {
namespace {

using Kind = Term::Kind;

constexpr std::string_view scene_of(const Term& term) {
    return term.scene.empty() ? std::string_view("main") : std::string_view(term.scene);
}

// One of a count's parts by name; the others are named in the error.
struct Part {
    std::string_view name;
    std::int64_t value;
};

double part_of(const Term& term, std::initializer_list<Part> parts) {
    std::string names;
    for (const Part& part : parts) {
        if (part.name == term.what) return static_cast<double>(part.value);
        names += fmt::format("{}{}", names.empty() ? "" : ", ", part.name);
    }
    throw Error(fmt::format("there is no {}:{}{}", term.count, term.what, term.at ? " up to a place" : ""),
                "There are " + names);
}

double bytes_of(const Term& term, std::string_view scene, Scenes& scenes) {
    std::string_view what = term.what, direction;
    if (const std::size_t dot = what.find('.'); dot != std::string_view::npos)
        direction = what.substr(dot + 1), what = what.substr(0, dot);
    std::string algorithm = term.algorithm;
    if (what == "standard") {
        const Algorithm* plain = yardstick_of(*find_algorithm(scenes.recipe(scene).algorithm));
        if (!plain) throw Error("nothing is comparable to this run, so that there is no bytes:standard");
        algorithm = plain->id;
    }
    const Counts& counts = scenes.counts(scene, algorithm);
    HbmBytes bytes{counts.traffic.hbm_read, counts.traffic.hbm_write, counts.traffic.hbm_init};
    if (what != "standard" && what != "all") {
        const auto found = counts.hbm.find(std::string(what));
        if (found == counts.hbm.end()) {
            std::vector<std::string> names;
            for (const auto& entry : counts.hbm) names.push_back(entry.first);
            throw Error(fmt::format("no matrix in HBM is called {}", what),
                        fmt::format("There are all, standard, {}", fmt::join(names, ", ")));
        }
        bytes = found->second;
    }
    if (direction.empty()) return static_cast<double>(bytes.read + bytes.write);
    if (direction == "read") return static_cast<double>(bytes.read);
    if (direction == "write") return static_cast<double>(bytes.write);
    if (direction == "init") return static_cast<double>(bytes.init);
    throw Error(fmt::format("bytes have no part called {}", direction), "There are read, write and init");
}

double problem_of(const Term& term, const Problem& p) {
    if (term.what == "scale") return p.scale;
    return part_of(term, {{"n", p.n},
                          {"nk", p.nk},
                          {"d", p.d},
                          {"dv", p.dv},
                          {"br", p.br},
                          {"bc", p.bc},
                          {"tr", p.row_blocks()},
                          {"tc", p.col_blocks()},
                          {"batch", p.batch},
                          {"heads", p.heads},
                          {"kv_heads", p.kv_heads},
                          {"element_bytes", element_bytes(p.dtype)},
                          {"scale", 0}});
}

double limit_of(const Term& term) {
    const std::string_view what = term.what;
    const std::size_t dot = std::min(what.find('.'), what.size());
    const std::optional<DType> format = dtype_from_name(what.substr(0, dot));
    if (!format)
        throw Error(fmt::format("no number format is called {}", what.substr(0, dot)),
                    "There are exact, fp32, fp16, bf16");
    const FormatLimits limits = limits_of(*format);
    const std::string_view limit = what.substr(std::min(dot + 1, what.size()));
    if (limit == "largest") return limits.largest;
    if (limit == "least") return limits.least;
    if (limit == "epsilon") return limits.epsilon;
    throw Error(fmt::format("a number format has no '{}'", limit), "There are largest, least, epsilon");
}

double flops_of(const Term& term, const Traffic& t) {
    return part_of(term, {{"all", t.flops_matmul + t.flops_other},
                          {"matmul", t.flops_matmul},
                          {"other", t.flops_other},
                          {"exp", t.flops_exp}});
}

// Up to the term's place, of the first head.
double count_so_far(const Term& term, Scenes& scenes) {
    if (!term.algorithm.empty())
        throw Error(fmt::format("{}({}) has no steps in the scene", term.count, term.algorithm),
                    "Make a scene of that algorithm");
    const std::shared_ptr<const Run> run = scenes.run(scene_of(term));
    const Traffic& t = run->trace.steps[static_cast<std::size_t>(step_at(run->trace, *term.at))].total;
    if (term.count == "flops") return flops_of(term, t);
    if (term.count == "bytes") return part_of(term, {{"all", t.hbm_read + t.hbm_write}});
    return part_of(term, {{"read", t.sram_read}, {"write", t.sram_write}, {"barriers", t.barriers}});
}

double count_of(const Term& term, Scenes& scenes) {
    if (term.count == "format") return limit_of(term);
    if (term.at) return count_so_far(term, scenes);
    const std::string_view scene = scene_of(term);
    if (term.count == "bytes") return bytes_of(term, scene, scenes);
    if (term.count == "problem") return problem_of(term, scenes.recipe(scene).problem);
    const Counts& counts = scenes.counts(scene, term.algorithm);
    const Traffic& t = counts.traffic;
    if (term.count == "flops") return flops_of(term, t);
    const Memory& m = counts.memory;
    if (term.count == "memory")
        return part_of(term, {{"all", m.inputs + m.outputs + m.extra},
                              {"inputs", m.inputs},
                              {"outputs", m.outputs},
                              {"extra", m.extra}});
    if (!counts.sram_modelled) throw Error("the on-chip memory of library calls is not modelled");
    return part_of(
        term, {{"peak", counts.sram_peak}, {"read", t.sram_read}, {"write", t.sram_write}, {"barriers", t.barriers}});
}

// One of a GPU's figures by name; the others are named in the error.
double figure_of(const Term& term, std::string_view of,
                 std::initializer_list<std::pair<std::string_view, double>> figures) {
    std::vector<std::string_view> names;
    for (const auto& [name, figure] : figures) {
        if (name == term.what) return figure;
        names.push_back(name);
    }
    throw Error(fmt::format("nothing is known as {}:{}", of, term.what),
                fmt::format("There are {}", fmt::join(names, ", ")));
}

const Gpu& gpu_named(const Term& term) {
    if (const Gpu* gpu = find_gpu(term.gpu)) return *gpu;
    std::vector<std::string_view> ids;
    for (const Gpu& known : gpus()) ids.push_back(known.id);
    throw Error(fmt::format("there is no GPU called {}", term.gpu),
                fmt::format("There are {}, written without spaces", fmt::join(ids, ", ")));
}

double gpu_of(const Term& term) {
    const Gpu& gpu = gpu_named(term);
    const SmLimits& sm = limits(gpu);
    return figure_of(term, "gpu",
                     {{"sms", gpu.sms},
                      {"bandwidth", gpu.bandwidth},
                      {"fp16_flops", gpu.fp16_flops},
                      {"bf16_flops", gpu.bf16_flops},
                      {"fp32_flops", gpu.fp32_flops},
                      {"l2_bytes", static_cast<double>(gpu.l2_bytes)},
                      {"fp32_lanes", sm.fp32_lanes},
                      {"special_lanes", sm.special_lanes},
                      {"threads", sm.threads},
                      {"blocks", sm.blocks},
                      {"registers", sm.registers},
                      {"shared_bytes", sm.shared_bytes},
                      {"shared_bytes_of_block", sm.shared_bytes_of_block}});
}

// Of the algorithm's first kernel.
double model_figure(const Term& term, Scenes& scenes) {
    const GpuModel& model = scenes.model(scene_of(term), gpu_named(term));
    const Algorithm& algorithm = model.algorithm;
    if (!model.kernels) throw Error(fmt::format("{} is not modelled as kernels of its own", algorithm.id));
    const Occupancy& o = model.kernels->occupancy;
    if (!o.refusal.empty()) throw Error(o.refusal);
    const std::int64_t blocks = model.kernels->grids.front().blocks;
    const Waves w = waves(blocks, o.blocks, model.gpu.sms);
    const Roofline& e = model.estimate;
    return figure_of(term, "model",
                     {{"blocks", static_cast<double>(blocks)},
                      {"blocks_per_sm", o.blocks},
                      {"warps_per_sm", o.warps},
                      {"occupancy", o.fraction},
                      {"shared_bytes", static_cast<double>(model.kernels->use.shared_bytes)},
                      {"waves", static_cast<double>(w.waves)},
                      {"last_wave", static_cast<double>(w.last_wave)},
                      {"busy_sms", w.busy_sms},
                      {"idle_sms", w.idle_sms},
                      {"idle_sms_at_end", w.idle_sms_at_end},
                      {"filled", w.filled},
                      {"hbm_s", e.hbm_s},
                      {"once_s", e.once_s},
                      {"matmul_s", e.matmul_s},
                      {"other_s", e.other_s},
                      {"compute_s", e.compute_s()},
                      {"seconds", e.seconds()},
                      {"flops_per_byte", e.flops_per_byte}});
}

// The kernel's counters, and the HBM bytes that its threads ask for.
std::vector<std::pair<std::string, std::int64_t>> counters(const KernelRun& run) {
    std::vector<std::pair<std::string, std::int64_t>> all = run.counters;
    HbmBytes sum;
    for (const auto& [name, bytes] : run.hbm) {
        all.emplace_back("HBM bytes read of " + name, bytes.read);
        all.emplace_back("HBM bytes written of " + name, bytes.write);
        sum.read += bytes.read, sum.write += bytes.write;
    }
    all.emplace_back("HBM bytes", sum.read + sum.write);
    return all;
}

double counter_of(const Term& term, Scenes& scenes) {
    const std::shared_ptr<const Run> run = scenes.run_with_kernel(scene_of(term));
    if (!run->kernel_run) throw Error(run->kernel_message.empty() ? "the scene has no kernel" : run->kernel_message);
    std::vector<std::string> names;
    for (const auto& [name, value] : counters(*run->kernel_run)) {
        if (name == term.what) return static_cast<double>(value);
        names.push_back("\"" + name + "\"");
    }
    throw Error(fmt::format("the kernel has no counter called \"{}\"", term.what),
                fmt::format("There are {}", fmt::join(names, ", ")));
}

double cell_of(const Term& term, Scenes& scenes, CellIndex index) {
    const auto from = [&](int written) {
        return written == kRowIndex ? index.row : written == kColIndex ? index.col : written;
    };
    const std::shared_ptr<const Run> run = scenes.run(scene_of(term));
    const CellName cell{term.tensor, from(term.row), from(term.col)};
    return term.at ? value_at(run->trace, cell, step_at(run->trace, *term.at)) : last_value(run->trace, cell);
}

double value(const Term& term, Scenes& scenes, CellIndex index) {
    const auto operand = [&](std::size_t k) { return value(term.operands[k], scenes, index); };
    switch (term.kind) {
        case Kind::Number:
            return term.number;
        case Kind::Index:
            return 1 + (term.row == kRowIndex ? index.row : index.col);
        case Kind::Cell:
            return cell_of(term, scenes, index);
        case Kind::Count:
            return count_of(term, scenes);
        case Kind::Gpu:
            return gpu_of(term);
        case Kind::Model:
            return model_figure(term, scenes);
        case Kind::Kernel:
            return counter_of(term, scenes);
        case Kind::Steps:
            return scenes.run(scene_of(term))->trace.last_step();
        case Kind::Caught:
            return scenes.run_with_kernel(scene_of(term))->kernel_failure == KernelFailure::Problem;
        case Kind::Hidden: {
            const std::shared_ptr<const Run> run = scenes.run(scene_of(term));
            return run->fault && !run->departure;
        }
        case Kind::Step:
            return step_at(scenes.run(term.at->scene)->trace, *term.at);
        case Kind::Negate:
            return -operand(0);
        case Kind::Exp:
            return std::exp(operand(0));
        case Kind::Log:
            return std::log(operand(0));
        case Kind::Sqrt:
            return std::sqrt(operand(0));
        case Kind::Abs:
            return std::abs(operand(0));
        case Kind::Ceil:
            return std::ceil(operand(0));
        case Kind::Fp32:
            return round_to(operand(0), DType::Fp32);
        case Kind::Fp16:
            return round_to(operand(0), DType::Fp16);
        case Kind::Bf16:
            return round_to(operand(0), DType::Bf16);
        case Kind::Min:
            return std::min(operand(0), operand(1));
        case Kind::Max:
            return std::max(operand(0), operand(1));
        case Kind::Wavefronts:
            return gpu::matrix_wavefronts({.row_bytes = static_cast<int>(operand(0)),
                                           .rows_alike = static_cast<int>(operand(1)),
                                           .chunks = static_cast<int>(operand(2))});
        case Kind::Add:
            return operand(0) + operand(1);
        case Kind::Subtract:
            return operand(0) - operand(1);
        case Kind::Multiply:
            return operand(0) * operand(1);
        case Kind::Divide:
            return operand(0) / operand(1);
        case Kind::Less:
            return operand(0) < operand(1);
        case Kind::LessEqual:
            return operand(0) <= operand(1);
        case Kind::Greater:
            return operand(0) > operand(1);
        case Kind::GreaterEqual:
            return operand(0) >= operand(1);
        case Kind::Equal:
            return operand(0) == operand(1);
        case Kind::NotEqual:
            return operand(0) != operand(1);
        case Kind::And:
            return operand(0) != 0 && operand(1) != 0;
    }
    return std::nan("");
}

// The magnitude to so many significant digits; zeros at the end are kept where the number was rounded.
std::string significant(double magnitude, int digits, Within within) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific, digits - 1).ptr;
    const std::string_view all(text, static_cast<std::size_t>(end - text));
    const std::size_t e = all.find('e');
    std::string mantissa;
    for (const char c : all.substr(0, e))
        if (c != '.') mantissa += c;
    int exponent = 0;
    const std::string_view power = all.substr(e + (all[e + 1] == '+' ? 2 : 1));
    std::from_chars(power.data(), power.data() + power.size(), exponent);
    double read = 0;
    std::from_chars(text, end, read);
    if (std::abs(read - magnitude) <= 1e-14 * magnitude)
        while (mantissa.size() > 1 && mantissa.back() == '0') mantissa.pop_back();
    const auto point_after = [&](std::size_t whole) {
        std::string number = mantissa.substr(0, whole);
        number.append(whole > number.size() ? whole - number.size() : 0, '0');
        if (mantissa.size() > whole) number += "." + mantissa.substr(whole);
        return number;
    };
    if (exponent >= 0 && exponent < std::max(digits, 6)) return point_after(static_cast<std::size_t>(exponent) + 1);
    if (exponent < 0 && exponent >= -4)
        return "0." + std::string(static_cast<std::size_t>(-exponent) - 1, '0') + mantissa;
    if (within == Within::Formula) return fmt::format("{} \\times 10^{{{}}}", point_after(1), exponent);
    static constexpr std::string_view kRaised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string raised = exponent < 0 ? "⁻" : "";
    for (const char c : std::to_string(std::abs(exponent))) raised += kRaised[c - '0'];
    return point_after(1) + "×10" + raised;
}

// With "file:line: {{reference}}: " before it.
[[noreturn]] void fail_at(const std::string& file, int line, std::string_view reference, const Error& error) {
    throw Error(fmt::format("{}:{}: {{{{{}}}}}: {}", file, line, reference, error.what()), error.hint());
}

// Calls on_text(piece) and on_reference(inside, line) in turn. Three braces are a group of TeX that begins with one.
template <class OnText, class OnReference>
void split(std::string_view text, int line, const std::string& file, OnText on_text, OnReference on_reference) {
    while (!text.empty()) {
        std::size_t open = text.find("{{");
        while (open != std::string_view::npos && text.substr(open).starts_with("{{{")) ++open;
        const std::string_view before = text.substr(0, open);
        on_text(before);
        if (open == std::string_view::npos) return;
        line += static_cast<int>(std::ranges::count(before, '\n'));
        text.remove_prefix(open + 2);
        const std::size_t end = text.find("}}");
        if (end == std::string_view::npos)
            throw Error(fmt::format("{}:{}: a reference has no end: {{{{{}", file, line, text.substr(0, 40)),
                        "Close it with }}");
        on_reference(text.substr(0, end), line);
        line += static_cast<int>(std::ranges::count(text.substr(0, end), '\n'));
        text.remove_prefix(end + 2);
    }
}

}  // namespace

double evaluate(const Expression& expression, Scenes& scenes, CellIndex index) {
    if (!expression.root) throw Error("an expression is missing");
    return value(*expression.root, scenes, index);
}

bool holds(const Expression& condition, Scenes& scenes, CellIndex index) {
    const double v = evaluate(condition, scenes, index);
    return v != 0 && !std::isnan(v);
}

std::string number_text(double value, const NumberStyle& style, Within within) {
    using Unit = NumberStyle::Unit;
    if (std::isnan(value)) return "NaN";
    const bool formula = within == Within::Formula;
    std::string text = value < 0 ? (formula ? "-" : "−") : "";
    const double magnitude = std::abs(value);
    if (std::isinf(value)) return text + (formula ? "\\infty" : "∞");
    const int digits = style.digits > 0 ? style.digits : 3;
    const bool counted = magnitude < 9e15 && magnitude == std::floor(magnitude);
    if (style.unit == Unit::Bytes && style.digits == 0) return text + bytes_text(static_cast<std::int64_t>(magnitude));
    if (style.unit == Unit::Count && style.digits == 0 && counted)
        return text + (formula ? fmt::format("{}", static_cast<std::int64_t>(magnitude))
                               : count_text(static_cast<std::int64_t>(magnitude)));
    const double scaled = style.unit == Unit::Percent  ? magnitude * 100
                          : style.unit == Unit::Scaled ? magnitude / style.one
                                                       : magnitude;
    text += significant(scaled, digits, within);
    if (style.unit == Unit::Percent) text += formula ? "\\%" : "%";
    if (style.unit == Unit::Factor) text += formula ? "\\times" : "×";
    if (style.unit == Unit::Bytes) text += " B";
    if (style.unit == Unit::Scaled) text += " " + style.symbol;
    return text;
}

std::string resolve(const Prose& prose, Language language, Scenes& scenes) {
    const Prose::Part& part = prose.in(language);
    const std::string file = scenes.lesson().file(language);
    std::string result;
    bool formula = false;
    split(
        part.text, part.line, file,
        [&](std::string_view text) {
            for (std::size_t k = 0; k < text.size(); ++k) {
                if (text[k] != '$' || (k > 0 && text[k - 1] == '\\')) continue;
                formula = !formula;
                if (text.substr(k).starts_with("$$")) ++k;
            }
            result += text;
        },
        [&](std::string_view reference, int line) {
            try {
                const Expression expression = parse_expression(reference);
                result += number_text(evaluate(expression, scenes), expression.style,
                                      formula ? Within::Formula : Within::Text);
            } catch (const Error& error) { fail_at(file, line, reference, error); }
        });
    return result;
}

std::vector<Expression> references_of(const Prose& prose, Language language, const Lesson& lesson) {
    const Prose::Part& part = prose.in(language);
    const std::string file = lesson.file(language);
    std::vector<Expression> references;
    split(
        part.text, part.line, file, [](std::string_view) {},
        [&](std::string_view reference, int line) {
            try {
                references.push_back(parse_expression(reference));
                references.back().line = line;
            } catch (const Error& error) { fail_at(file, line, reference, error); }
        });
    return references;
}

std::vector<LinkTarget> links_of(const Prose& prose, Language language) {
    const auto& [text, first_line] = prose.in(language);
    std::vector<LinkTarget> links;
    for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
        const std::size_t end = text.find(')', at);
        if (end == std::string::npos) break;
        const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        links.push_back({text.substr(at + 2, end - at - 2), first_line + static_cast<int>(line)});
    }
    return links;
}

}  // namespace flashstep
