// The device bench's rows in JSON and as lines.
#include "cli/bench_device.h"

#include <fmt/format.h>

#include "cli/lookup.h"
#include "cli/numbers.h"
#include "cli/output.h"

namespace flashstep::cli {
namespace {

io::Json shape_json(const gpu::BenchShape& s) {
    return {{"pass", std::string(gpu::name(s.pass))},
            {"d", s.d},
            {"causal", s.causal},
            {"n", s.n},
            {"batch", s.batch},
            {"heads", s.heads}};
}

}  // namespace

io::Json schedule_json() {
    io::Json json = {{"format", "flashstep device bench schedule"},
                     {"version", 1},
                     {"dtype", "fp16"},
                     {"shapes", io::Json::array()}};
    for (const gpu::BenchShape& shape : gpu::bench_schedule()) json["shapes"].push_back(shape_json(shape));
    return json;
}

io::Json results_json(const gpu::DeviceStatus& device, std::string_view date, const std::vector<gpu::BenchRow>& rows) {
    io::Json json = {{"format", "flashstep device bench"},
                     {"version", 1},
                     {"source", "flashstep"},
                     {"device", device.name},
                     {"target", fmt::format("sm_{}", device.capability)},
                     {"driver", device.driver},
                     {"date", std::string(date)},
                     {"results", io::Json::array()}};
    for (const gpu::BenchRow& row : rows) {
        io::Json result = shape_json(row.shape);
        result["name"] = std::string(row.kernel->id);
        result["dtype"] = std::string(name(row.kernel->dtypes.front()));
        if (row.skipped.empty()) {
            result["ms"] = row.time.median_ms;
            result["repetitions"] = row.time.runs;
        } else {
            result["skipped"] = row.skipped;
        }
        json["results"].push_back(std::move(result));
    }
    return json;
}

std::string bench_line(const gpu::BenchRow& row) {
    const gpu::BenchShape& s = row.shape;
    const std::string where = fmt::format("{:<28} {:<8} d={:<3} {:<6} N={:<6}", row.kernel->id, gpu::name(s.pass), s.d,
                                          s.causal ? "causal" : "", s.n);
    if (!row.skipped.empty()) return fmt::format("{} left out: {}", where, row.skipped);
    return fmt::format("{} {:>10.4g} ms {:>8.4g} TFLOP/s  ({} runs)", where, row.time.median_ms,
                       gpu::attention_flops(s) / row.time.median_ms * 1e-9, row.time.runs);
}

std::vector<const gpu::KernelInfo*> attention_kernels(const std::string& kernel) {
    std::vector<const gpu::KernelInfo*> chosen;
    if (!kernel.empty()) {
        chosen.push_back(&kernel_named(kernel));
        if (!gpu::pass_of(*chosen.front()))
            throw Error(fmt::format("{} is no attention kernel; the bench is of those", kernel));
        return chosen;
    }
    for (const gpu::KernelInfo& k : gpu::kernels())
        if (gpu::pass_of(k)) chosen.push_back(&k);
    return chosen;
}

std::vector<gpu::BenchShape> scheduled(const std::string& number) {
    std::vector<gpu::BenchShape> shapes = gpu::bench_schedule();
    if (number.empty()) return shapes;
    const auto k = whole_number("--shape", number, 0, static_cast<std::int64_t>(shapes.size()) - 1);
    return {shapes[static_cast<std::size_t>(k)]};
}

std::vector<gpu::BenchRow> run_device_bench(const std::vector<const gpu::KernelInfo*>& chosen,
                                            const std::vector<gpu::BenchShape>& shapes) {
    return gpu::bench_ladder(chosen, shapes, gpu::prepare_on_device, {},
                             [](const gpu::BenchRow& row) { print_note(bench_line(row)); });
}

}  // namespace flashstep::cli
