// flashstep ncu: what NVIDIA's profiler counted of kernels, from its CSV.
//
// JSON: {"format": "flashstep ncu", "version": 1, "launches": [{"id", "kernel", and each ncu_quantities() key: a
// number, or null where the file does not have its metrics}]}.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "core/io/file.h"
#include "gpu/ncu.h"

namespace flashstep::cli {
namespace {

std::string shown(const std::optional<double>& value) { return value ? fmt::format("{:.0f}", *value) : "n/a"; }

// A name from outside may hold anything.
std::string one_line(const std::string& name) {
    const std::string quoted = io::quoted(name, 200);
    return quoted.substr(1, quoted.size() - 2);
}

// How many passes through shared memory one ideal pass took.
std::string conflict_factor(const gpu::NcuLaunch& launch) {
    const auto value = [&](std::string_view key) {
        const auto quantities = gpu::ncu_quantities();
        const auto found = std::ranges::find(quantities, key, &gpu::NcuQuantity::key);
        return launch.values[static_cast<std::size_t>(found - quantities.begin())];
    };
    const auto taken = value("shared_wavefronts"), ideal = value("shared_wavefronts_ideal");
    return taken && ideal && *ideal >= 1 ? fmt::format("{:.2f}", *taken / *ideal) : "n/a";
}

std::string absent_page(const std::vector<gpu::NcuLaunch>& launches) {
    std::string page;
    for (std::size_t k = 0; k < gpu::ncu_quantities().size(); ++k) {
        const gpu::NcuQuantity& quantity = gpu::ncu_quantities()[k];
        if (std::ranges::none_of(launches, [&](const gpu::NcuLaunch& launch) { return !launch.values[k]; })) continue;
        std::vector<std::string> ways;
        for (const auto& way : quantity.ways) ways.push_back(fmt::format("{}", fmt::join(way, " and ")));
        page += fmt::format("  {} needs {}\n", quantity.title, fmt::join(ways, ", or "));
    }
    if (page.empty()) return page;
    return "\nn/a: not in the file (give ncu the metrics of `flashstep ncu --metrics`; `ncu --query-metrics` says what "
           "a "
           "chip has)\n" +
           page;
}

std::string ncu_page(const std::vector<gpu::NcuLaunch>& launches) {
    const auto quantities = gpu::ncu_quantities();
    std::vector<std::vector<std::string>> rows(1);
    rows[0].push_back("launch");
    for (const gpu::NcuQuantity& quantity : quantities)
        rows[0].push_back(fmt::format("{}{}", quantity.title, quantity.key.ends_with("_bytes") ? " (bytes)" : ""));
    rows[0].push_back("wavefronts/ideal");
    for (const gpu::NcuLaunch& launch : launches) {
        std::vector<std::string>& row = rows.emplace_back();
        row.push_back(launch.id.empty() ? "-" : one_line(launch.id));
        for (const auto& value : launch.values) row.push_back(shown(value));
        row.push_back(conflict_factor(launch));
    }
    std::vector<std::size_t> widths(rows[0].size());
    for (const auto& row : rows)
        for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
    std::string page =
        "Measured by ncu. Requested, L2 and DRAM bytes are three different numbers: what L1 asks of L2, all that L2\n"
        "moves, and what its misses and write-backs move in DRAM.\n\n";
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t k = 0; k < rows[r].size(); ++k) page += fmt::format("{:>{}}  ", rows[r][k], widths[k]);
        page += r == 0 ? "kernel\n" : one_line(launches[r - 1].kernel) + "\n";
    }
    return page + absent_page(launches);
}

io::Json ncu_json(const std::vector<gpu::NcuLaunch>& launches) {
    io::Json json = {{"format", "flashstep ncu"}, {"version", 1}, {"launches", io::Json::array()}};
    for (const gpu::NcuLaunch& launch : launches) {
        io::Json row = {{"id", launch.id}, {"kernel", launch.kernel}};
        for (std::size_t k = 0; k < launch.values.size(); ++k)
            row[std::string(gpu::ncu_quantities()[k].key)] =
                launch.values[k] ? io::json_number(*launch.values[k]) : io::Json(nullptr);
        json["launches"].push_back(std::move(row));
    }
    return json;
}

struct State {
    explicit State(const Options& options) : json(options) {}
    std::string file;
    bool metrics = false;
    JsonOption json;
};

// Throws Error where --json=FILE, by whatever path or link, is the file that is read.
void check_target(const JsonOption& json, const std::string& file) {
    std::error_code absent;  // then they are not the same
    if (json.on() && !json.file().empty() && std::filesystem::equivalent(file, json.file(), absent))
        throw Error(fmt::format("--json={} is the input", io::quoted(json.file(), 200)), "name another file");
}

Action add(const Options& options, const Start&) {
    const auto state = std::make_shared<State>(options);
    options.text("FILE", state->file, "the CSV that `ncu --csv --page raw` wrote");
    options.flag("--metrics", state->metrics, "print the metrics to ask ncu for, and nothing else");
    return [state] {
        if (state->metrics) {
            if (!state->file.empty() || state->json.on())
                throw Error("--metrics prints a list and reads no file", "leave FILE and --json out");
            print_page(gpu::ncu_metric_list() + "\n");
            return kOk;
        }
        if (state->file.empty())
            throw Error("a FILE is needed, the CSV that `ncu --csv --page raw` wrote",
                        "gpu/PROFILING.md shows the command");
        check_target(state->json, state->file);
        const auto launches = gpu::parse_ncu_csv(io::read_file(state->file), state->file);
        if (state->json.on())
            state->json.write(ncu_json(launches));
        else
            print_page(ncu_page(launches));
        return kOk;
    };
}

}  // namespace

const Command kNcu{"ncu", "Reads what NVIDIA's profiler counted of a kernel (gpu/PROFILING.md)", add};

}  // namespace flashstep::cli
