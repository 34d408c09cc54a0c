// flashstep model: an algorithm on a GPU's shape: blocks that fit, thread blocks per SM, waves, a roofline estimate.
//
// --json: {"algorithm", "gpu": {"id", "title", "capability", "sms", "shared_per_sm", "shared_per_block", "registers",
// "threads", "blocks" (per SM), "bandwidth", "fp16_flops", "bf16_flops" (null: none), "fp32_flops", "l2_bytes"},
// "problem", "block_rule": {"capacity", "br", "bc", "needed", "fits", "largest_square"} (elements),
// "own_tiles": {"rule_bytes", "rule_fits", "largest_square"}, "block": {"threads", "registers", "shared_bytes",
// "assumed": names of those that are assumptions}, "occupancy": {"launches", "refusal", "blocks_per_sm", "by_shared",
// "by_registers", "by_threads", "by_blocks", "limited_by", "warps_per_sm", "fraction"}, "grids": [{"writes", "shape",
// "blocks", "waves": {"waves", "last_wave", "busy_sms", "idle_sms", "idle_sms_at_end", "filled"} or null}],
// "estimate": {"hbm_bytes", "flops_matmul", "flops_other", "matmul_peak", "tensor_cores", "hbm_s", "matmul_s",
// "other_s", "seconds", "memory_bound", "flops_per_byte", "hbm_once_s"}}. own_tiles, block and occupancy are null, and
// grids is empty, where an algorithm is not modelled as kernels of its own.
#include <fmt/format.h>

#include <cctype>
#include <memory>

#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/names.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/walkthrough.h"
#include "core/gpu_model.h"
#include "core/io/trace_json.h"

namespace flashstep::cli {
namespace {

using io::Json;

const Gpu& gpu_named(const std::string& typed) {
    if (typed.empty()) throw Error("--gpu NAME is needed", fmt::format("there are: {}", fmt::join(ids(gpus()), ", ")));
    const Gpu* found = find_gpu(typed);
    if (found) return *found;
    std::string upper;  // as the table spells them, so that the nearest name is found
    for (const char c : typed) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    throw unknown_name("--gpu", upper, ids(gpus()));
}

std::string time(double seconds) {
    return seconds < 1e-3 ? fmt::format("{:.4g} us", seconds * 1e6)
           : seconds < 1  ? fmt::format("{:.4g} ms", seconds * 1e3)
                          : fmt::format("{:.4g} s", seconds);
}

std::string thread_blocks(std::int64_t count) { return fmt::format("{} thread block{}", count, count == 1 ? "" : "s"); }

std::string tera(double per_second) { return fmt::format("{:.6g} T/s", per_second * 1e-12); }

std::string gpu_page(const Gpu& gpu) {
    const SmLimits& sm = limits(gpu);
    std::string page = fmt::format("GPU        {} (sm_{}), {} SMs\n", gpu.title, gpu.capability, gpu.sms);
    page += fmt::format(
        "  an SM    {} bytes of shared memory (a thread block at most {}), {} registers, {} threads,\n"
        "           {} thread blocks\n",
        sm.shared_bytes, sm.shared_bytes_of_block, sm.registers, sm.threads, sm.blocks);
    page += fmt::format("  memory   {:.6g} GB/s, L2 {} MiB\n", gpu.bandwidth * 1e-9, gpu.l2_bytes >> 20);
    page += fmt::format("  peaks    tensor cores fp16 {}, bf16 {} (dense, fp32 accumulation); fp32 {}\n",
                        tera(gpu.fp16_flops), gpu.bf16_flops > 0 ? tera(gpu.bf16_flops) : "none", tera(gpu.fp32_flops));
    return page;
}

std::string rule_page(const GpuModel& model) {
    const BlockRule& rule = model.rule;
    const auto verdict = [](bool fits) { return fits ? "fits" : "does not fit"; };
    std::string page = fmt::format("Blocks     the papers' rule with M = {} elements ({}) of one thread block\n",
                                   rule.capacity, name(model.problem.dtype));
    page += fmt::format("  rule     B_c = ceil(M / 4d) = {}, B_r = min(B_c, d) = {}\n", rule.blocks.bc, rule.blocks.br);
    page += fmt::format("  needs    {} of {} elements for K, V, Q, O and S, which the rule leaves out: {}\n",
                        rule.needed, rule.capacity, verdict(rule.fits()));
    page += fmt::format("           largest square block with these five tiles: {0} x {0}\n", rule.largest_square);
    if (!model.kernels) return page;
    const int limit = limits(model.gpu).shared_bytes_of_block;
    page += fmt::format("  its own  {} of {} bytes for all on-chip tiles of {}: {}\n", model.kernels->rule_bytes, limit,
                        model.algorithm.id, verdict(model.kernels->rule_bytes <= limit));
    page += "           (a real kernel may keep some of them in registers)\n";
    page +=
        fmt::format("           largest square block with its own tiles: {0} x {0}\n", model.kernels->largest_square);
    return page;
}

std::string kernels_page(const GpuModel& model) {
    if (!model.kernels)
        return "Kernels    not modelled (library calls or a softmax alone: no kernel of its own in the papers)\n";
    const auto& [rule_bytes, largest, use, o, launched] = *model.kernels;
    const SmLimits& sm = limits(model.gpu);
    std::string page =
        fmt::format("Kernel     a thread block of B_r = {}, B_c = {}\n", model.problem.br, model.problem.bc);
    page += fmt::format(
        "  takes    {} bytes of shared memory (its SRAM peak) and {} reserved, {} threads,\n"
        "           {} registers per thread (threads and registers are assumed: --threads, --registers)\n",
        use.shared_bytes, sm.reserved_bytes, use.threads, use.registers);
    if (!o.refusal.empty()) {
        page += fmt::format("  launch   impossible: {}\n", o.refusal);
        if (use.shared_bytes > sm.shared_bytes_of_block)
            page += fmt::format("           choose smaller blocks, at most --br {0} --bc {0} if they are square\n",
                                largest);
        for (const Grid& grid : launched)
            page += fmt::format("  grid     {} = {}, writes {}\n", grid.shape, thread_blocks(grid.blocks), grid.writes);
        return page;
    }
    std::vector<std::string_view> limiting;
    for (const Resource resource : o.limiting) limiting.push_back(name(resource));
    const std::string by_shared = o.by_shared > sm.blocks ? "any" : fmt::format("{}", o.by_shared);
    page += fmt::format("  per SM   {}, {} of {} warps ({:.0f} %), limited by {}\n", thread_blocks(o.blocks), o.warps,
                        sm.threads / kWarpThreads, 100 * o.fraction, fmt::join(limiting, " and "));
    page += fmt::format("           (shared memory alone allows {}, registers {}, threads {}, thread blocks {})\n",
                        by_shared, o.by_registers, o.by_threads, o.by_blocks);
    for (const Grid& grid : launched) {
        const Waves w = waves(grid.blocks, o.blocks, model.gpu.sms);
        page += fmt::format("  grid     {} = {}, writes {}\n", grid.shape, thread_blocks(grid.blocks), grid.writes);
        page += fmt::format(
            "           {} wave{} of at most {}; {} SMs busy, {} idle; last wave {}, {} SMs "
            "idle;\n           {:.1f} % of all places filled\n",
            w.waves, w.waves == 1 ? "" : "s", std::int64_t{o.blocks} * model.gpu.sms, w.busy_sms, w.idle_sms,
            thread_blocks(w.last_wave), w.idle_sms_at_end, 100 * w.filled);
    }
    if (model.problem.causal) page += "           (a causal mask gives them unequal work, which is not modelled)\n";
    return page;
}

std::string estimate_page(const GpuModel& model) {
    const Roofline& e = model.estimate;
    const Traffic& t = model.counts.traffic;
    std::string page =
        "Roofline   an estimate, not a measurement: everything at its peak, copies and arithmetic overlapped\n";
    page += fmt::format("  HBM      {:>20} bytes      {:>12}   (every input and output once: {})\n",
                        t.hbm_read + t.hbm_write, time(e.hbm_s), time(e.once_s));
    page += fmt::format(
        "  matmul   {:>20} FLOPs      {:>12}   at {} ({})\n", t.flops_matmul, time(e.matmul_s), tera(e.matmul_flops),
        e.tensor_cores ? "tensor cores" : fmt::format("fp32 peak: no tensor cores for {}", name(model.problem.dtype)));
    page += fmt::format("  other    {:>20} FLOPs      {:>12}   at {} (fp32 peak; an exponential counts as one)\n",
                        t.flops_other, time(e.other_s), tera(model.gpu.fp32_flops));
    page += fmt::format("  bound    {} by {}: max({}, {} + {}); {:.4g} FLOPs per byte\n", time(e.seconds()),
                        e.memory_bound() ? "memory" : "arithmetic", time(e.hbm_s), time(e.matmul_s), time(e.other_s),
                        e.flops_per_byte);
    return page;
}

Json gpu_json(const Gpu& gpu) {
    const SmLimits& sm = limits(gpu);
    return {{"id", std::string(gpu.id)},
            {"title", std::string(gpu.title)},
            {"capability", gpu.capability},
            {"sms", gpu.sms},
            {"shared_per_sm", sm.shared_bytes},
            {"shared_per_block", sm.shared_bytes_of_block},
            {"registers", sm.registers},
            {"threads", sm.threads},
            {"blocks", sm.blocks},
            {"bandwidth", gpu.bandwidth},
            {"fp16_flops", gpu.fp16_flops},
            {"bf16_flops", gpu.bf16_flops > 0 ? Json(gpu.bf16_flops) : Json()},
            {"fp32_flops", gpu.fp32_flops},
            {"l2_bytes", gpu.l2_bytes}};
}

Json occupancy_json(const Occupancy& o) {
    Json limited_by = Json::array();
    for (const Resource resource : o.limiting) limited_by.push_back(std::string(name(resource)));
    return {{"launches", o.refusal.empty()},  {"refusal", o.refusal.empty() ? Json() : Json(o.refusal)},
            {"blocks_per_sm", o.blocks},      {"by_shared", o.by_shared},
            {"by_registers", o.by_registers}, {"by_threads", o.by_threads},
            {"by_blocks", o.by_blocks},       {"limited_by", limited_by},
            {"warps_per_sm", o.warps},        {"fraction", o.fraction}};
}

Json grid_json(const Grid& grid, int blocks_per_sm, int sms) {
    Json json = {{"writes", std::string(grid.writes)},
                 {"shape", std::string(grid.shape)},
                 {"blocks", grid.blocks},
                 {"waves", nullptr}};
    if (blocks_per_sm == 0) return json;
    const Waves w = waves(grid.blocks, blocks_per_sm, sms);
    json["waves"] = {{"waves", w.waves},       {"last_wave", w.last_wave}, {"busy_sms", w.busy_sms},
                     {"idle_sms", w.idle_sms}, {"filled", w.filled},       {"idle_sms_at_end", w.idle_sms_at_end}};
    return json;
}

Json model_json(const GpuModel& model) {
    const Roofline& e = model.estimate;
    const Traffic& t = model.counts.traffic;
    Json json = {{"algorithm", std::string(model.algorithm.id)},
                 {"gpu", gpu_json(model.gpu)},
                 {"problem", io::problem_json(model.problem)},
                 {"block_rule",
                  {{"capacity", model.rule.capacity},
                   {"br", model.rule.blocks.br},
                   {"bc", model.rule.blocks.bc},
                   {"needed", model.rule.needed},
                   {"fits", model.rule.fits()},
                   {"largest_square", model.rule.largest_square}}},
                 {"own_tiles", nullptr},
                 {"block", nullptr},
                 {"occupancy", nullptr},
                 {"grids", Json::array()}};
    if (model.kernels) {
        const KernelModel& k = *model.kernels;
        json["own_tiles"] = {{"rule_bytes", k.rule_bytes},
                             {"rule_fits", k.rule_bytes <= limits(model.gpu).shared_bytes_of_block},
                             {"largest_square", k.largest_square}};
        json["block"] = {{"threads", k.use.threads},
                         {"registers", k.use.registers},
                         {"shared_bytes", k.use.shared_bytes},
                         {"assumed", {"threads", "registers"}}};
        json["occupancy"] = occupancy_json(k.occupancy);
        for (const Grid& grid : k.grids) json["grids"].push_back(grid_json(grid, k.occupancy.blocks, model.gpu.sms));
    }
    json["estimate"] = {{"hbm_bytes", t.hbm_read + t.hbm_write},
                        {"flops_matmul", t.flops_matmul},
                        {"flops_other", t.flops_other},
                        {"matmul_peak", e.matmul_flops},
                        {"tensor_cores", e.tensor_cores},
                        {"hbm_s", e.hbm_s},
                        {"matmul_s", e.matmul_s},
                        {"other_s", e.other_s},
                        {"seconds", e.seconds()},
                        {"memory_bound", e.memory_bound()},
                        {"flops_per_byte", e.flops_per_byte},
                        {"hbm_once_s", e.once_s}};
    return json;
}

struct State {
    explicit State(const Options& options) : problem(options), json(options) {}
    std::string algorithm, gpu, threads, registers;
    ProblemOptions problem;
    JsonOption json;
};

Action add(const Options& options, const Start&) {
    const auto state = std::make_shared<State>(options);
    options.text("ALGORITHM", state->algorithm, "its id (flashstep list)");
    options.text("--gpu", state->gpu, fmt::format("one of {}", fmt::join(ids(gpus()), ", ")), "NAME");
    options.text("--threads", state->threads, "threads of a thread block (128)", "COUNT");
    options.text("--registers", state->registers, "registers of a thread, an assumption (128)", "COUNT");
    return [state] {
        const Algorithm& algorithm = algorithm_named(state->algorithm);
        const Gpu& gpu = gpu_named(state->gpu);
        BlockUse use;
        if (!state->threads.empty())
            use.threads = static_cast<int>(whole_number("--threads", state->threads, 1, kMaxBlockThreads));
        if (!state->registers.empty())
            use.registers = static_cast<int>(whole_number("--registers", state->registers, 1, kMaxThreadRegisters));
        if (const int own = own_threads(algorithm); own > 0 && use.threads != own)
            throw Error(fmt::format("--threads is {}, but a thread block of {} has {} warps, {} threads", use.threads,
                                    algorithm.id, own / kWarpThreads, own));
        const Request request = state->problem.resolve(Need::Sizes);
        for (const std::string& warning : request.warnings) print_warning(warning);
        const GpuModel model = model_of(algorithm, gpu, request.problem, use);
        if (state->json.on())
            state->json.write(model_json(model));
        else
            print_page(fmt::format("{} ({})\n{}\n\n{}\n{}\n{}\n{}", algorithm.title.en, algorithm.source,
                                   problem_line(request.problem), gpu_page(gpu), rule_page(model), kernels_page(model),
                                   estimate_page(model)));
        return kOk;
    };
}

}  // namespace

const Command kModel{
    "model", "Puts an algorithm on a GPU's shape: blocks that fit, occupancy, waves, an estimate of its time", add};

}  // namespace flashstep::cli
