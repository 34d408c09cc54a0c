// The metrics that are asked of Nsight Compute, and the reader of its CSV.
#include "gpu/ncu.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include "core/error.h"
#include "core/io/csv.h"
#include "core/io/file.h"

namespace flashstep::gpu {

namespace {

constexpr double kSectorBytes = 32;
constexpr double kMostCount = 18446744073709551616.0;  // 2^64: no counter of 64 bits holds it
constexpr const char* kHowToProfile = "gpu/PROFILING.md shows the command";

const std::vector<NcuQuantity>& table() {
    static const std::vector<NcuQuantity> rows{
        // What L1 asks of L2: loads that L1 misses, cp.async, stores, atomics.
        {"requested_bytes", "requested", "sector", {{"lts__t_sectors_srcunit_tex.sum"}}},
        // All that passes the tags of L2, whoever asks: also its own fills and what its halves exchange.
        {"l2_bytes", "L2", "byte", {{"lts__t_bytes.sum"}, {"lts__t_sectors.sum"}}},
        // The second names are those of the Blackwell generation.
        {"dram_bytes",
         "DRAM",
         "byte",
         {{"dram__bytes_read.sum", "dram__bytes_write.sum"}, {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"}}},
        // Passes through shared memory; without bank conflicts they are the ideal ones.
        {"shared_wavefronts", "shared wavefronts", "wavefront", {{"memory_l1_wavefronts_shared"}}},
        {"shared_wavefronts_ideal", "ideal", "wavefront", {{"memory_l1_wavefronts_shared_ideal"}}},
        {"tensor_instructions",
         "tensor",
         "inst",
         {{"sm__inst_executed_pipe_tensor.sum"}, {"sm__inst_executed_pipe_tensor_op_hmma.sum"}}},
        {"cp_async_instructions", "cp.async", "inst", {{"smsp__inst_executed_op_ldgsts.sum"}}},
        {"ldmatrix_instructions", "ldmatrix", "inst", {{"smsp__inst_executed_op_ldsm.sum"}}},
    };
    return rows;
}

// A metric that counts sectors where its quantity is in bytes, too.
bool counts_sectors(std::string_view metric) { return metric.find("sectors") != std::string_view::npos; }

struct Metric {
    std::string_view name, base;
};

std::vector<Metric> all_metrics() {
    std::vector<Metric> metrics;
    for (const NcuQuantity& quantity : table())
        for (const auto& way : quantity.ways)
            for (std::string_view name : way)
                metrics.push_back({name, counts_sectors(name) ? "sector" : quantity.base});
    return metrics;
}

const Metric* find_metric(std::string_view name) {
    static const std::vector<Metric> metrics = all_metrics();
    const auto found = std::ranges::find(metrics, name, &Metric::name);
    return found == metrics.end() ? nullptr : &*found;
}

// What one of `unit` is of `base`: 1000 for "Kbyte" and "byte". 0: it is another unit.
double scale_of(std::string_view unit, std::string_view base) {
    if (unit.empty()) return 1;  // as ncu prints plain counts
    double scale = 1;
    for (std::string_view prefixes = "KMGT"; !prefixes.empty(); prefixes.remove_suffix(1))
        if (unit.front() == prefixes.back()) {
            scale = std::pow(1000.0, static_cast<double>(prefixes.size()));
            unit.remove_prefix(1);
            break;
        }
    if (unit.ends_with('s')) unit.remove_suffix(1);
    return unit == base ? scale : 0;
}

// "1,234,567.5" or "1.5e+06": digits, or groups of three with commas. nullopt: not such a number, or a negative one.
std::optional<double> number(std::string_view text) {
    const std::string_view whole = text.substr(0, text.find_first_of(".eE"));
    std::string digits;
    if (const std::size_t comma = whole.find(','); comma != std::string_view::npos) {
        if (comma == 0 || comma > 3) return std::nullopt;
        for (std::size_t k = comma; k < whole.size(); k += 4)
            if (whole[k] != ',' || k + 4 > whole.size()) return std::nullopt;
        for (std::size_t k = 0; k < whole.size(); ++k)
            if (whole[k] != ',' || (k - comma) % 4 != 0) digits += whole[k];
    } else {
        digits = whole;
    }
    digits += text.substr(whole.size());
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    if (!std::isfinite(value) || value < 0) return std::nullopt;
    return value;
}

bool is_absent(std::string_view value) {
    return value.empty() || value == "n/a" || value == "(!) n/a" || value == "nan" || value == "-nan";
}

class NcuParser {
  public:
    explicit NcuParser(const std::string& name) : name_(io::quoted(name, 200)) {}

    std::vector<NcuLaunch> parse(std::string_view text) {
        if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
        while (!text.empty()) {
            ++line_;
            const std::string_view line = io::trimmed(io::next_line(text));
            if (line.empty()) continue;
            if (line.starts_with("==")) {
                if (complaint_.empty() && line.starts_with("==ERROR=="))
                    complaint_ = fmt::format("; its line {} says {}", line_, io::quoted(line, 160));
            } else if (header_.empty()) {
                read_header(line);
            } else {
                read_row(fields(line));
            }
        }
        if (header_.empty())
            throw Error(fmt::format("{}: no header of ncu's CSV (a line with \"Kernel Name\"){}", name_, complaint_),
                        kHowToProfile);
        if (launches_.empty())
            throw Error(fmt::format("{}: no launch below the header{}", name_, complaint_), kHowToProfile);
        return finished();
    }

  private:
    struct Launch {
        std::string id, kernel;
        std::map<std::string_view, double> metrics;  // by Metric::name, in base units
    };

    struct Place {
        std::size_t launch;  // in launches_
        std::int64_t line;
    };

    [[noreturn]] void stop(const std::string& what, std::string hint = {}) const {
        throw Error(fmt::format("{}: line {}: {}", name_, line_, what), std::move(hint));
    }

    // The fields of a line, without their quotes; a doubled quote within quotes is one.
    std::vector<std::string> fields(std::string_view line) const {
        std::vector<std::string> out(1);
        bool quoted = false;
        for (std::size_t k = 0; k < line.size(); ++k) {
            const char c = line[k];
            if (c == '"' && quoted && line.substr(k + 1).starts_with('"')) {
                out.back() += '"', ++k;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                out.emplace_back();
            } else {
                out.back() += c;
            }
        }
        if (quoted) stop("a quote that is not closed", "was the file cut off? write it anew");
        return out;
    }

    std::optional<std::size_t> column(std::string_view title) const {
        const auto found = std::ranges::find(header_, title);
        if (found == header_.end()) return std::nullopt;
        return static_cast<std::size_t>(found - header_.begin());
    }

    void check_once(std::string_view title) const {
        if (std::ranges::count(header_, title) > 1) stop(fmt::format("two columns {}", title), kHowToProfile);
    }

    // Anything may stand above the header: the profiled program prints there.
    void read_header(std::string_view line) {
        if (line.find("Kernel Name") == std::string_view::npos) return;
        header_ = fields(line);
        kernel_ = column("Kernel Name");
        if (!kernel_) {
            header_.clear();
            return;
        }
        for (const char* title : {"ID", "Kernel Name", "Process ID", "Metric Name", "Metric Unit", "Metric Value"})
            check_once(title);
        id_ = column("ID"), process_ = column("Process ID");
        metric_ = column("Metric Name"), unit_ = column("Metric Unit"), value_ = column("Metric Value");
        if (metric_ && (!unit_ || !value_))
            stop(fmt::format("a \"Metric Name\" column without \"{}\"", unit_ ? "Metric Value" : "Metric Unit"),
                 kHowToProfile);
        for (std::size_t k = 0; k < header_.size(); ++k) {
            const Metric* metric = find_metric(header_[k]);
            if (!metric) continue;
            check_once(header_[k]);
            columns_.push_back({k, metric, 1});
        }
    }

    void read_row(const std::vector<std::string>& row) {
        if (row.size() != header_.size())
            stop(fmt::format("{} fields, the header has {}", row.size(), header_.size()),
                 "let ncu write into a file of its own (--log-file), apart from what the program prints");
        if (row[*kernel_].empty()) {
            if (!metric_ && launches_.empty()) read_units(row);
            return;  // names no launch
        }
        if (metric_) {
            const Metric* metric = find_metric(row[*metric_]);
            Launch& launch = launch_of(row, true);
            if (metric) add(launch, *metric, row[*value_], scale(*metric, row[*unit_]));
        } else {
            Launch& launch = launch_of(row, false);
            for (const Column& c : columns_) add(launch, *c.metric, row[c.index], c.scale);
        }
    }

    void read_units(const std::vector<std::string>& row) {
        for (Column& c : columns_) c.scale = scale(*c.metric, row[c.index]);
    }

    double scale(const Metric& metric, const std::string& unit) const {
        const double scale = scale_of(unit, metric.base);
        if (scale == 0)
            stop(fmt::format("{} has the unit {}, but counts {}s", metric.name, io::quoted(unit), metric.base),
                 "let ncu print plain counts: --print-units base");
        return scale;
    }

    // In the long form a launch has many rows; without an ID they are those of one kernel. On the raw page it has one.
    Launch& launch_of(const std::vector<std::string>& row, bool again) {
        const std::string id = id_ ? row[*id_] : "", &kernel = row[*kernel_], process = process_ ? row[*process_] : "";
        if (again || !id.empty()) {
            const auto [at, fresh] =
                places_.emplace(std::tuple(process, id, again ? kernel : ""), Place{launches_.size(), line_});
            if (!fresh && !again)
                stop(fmt::format("launch {} is also in line {}", io::quoted(id), at->second.line),
                     "keep the files of two runs apart");
            if (!fresh) return launches_[at->second.launch];
        }
        return launches_.emplace_back(Launch{id, kernel, {}});
    }

    void add(Launch& launch, const Metric& metric, const std::string& text, double scale) const {
        if (is_absent(text)) return;
        const std::optional<double> count = number(text);
        if (!count)
            stop(fmt::format("{} is {}, not a count", metric.name, io::quoted(text)),
                 "run ncu with LC_ALL=C and --print-metric-instances none");
        const double value = *count * scale;
        if (value >= kMostCount)
            stop(fmt::format("{} is {}{}, more than a counter of 64 bits holds", metric.name, io::quoted(text),
                             scale == 1 ? "" : fmt::format(" times {:g}", scale)),
                 "was the file altered? write it anew");
        const auto [at, fresh] = launch.metrics.emplace(metric.name, value);
        if (!fresh && at->second != value)
            stop(fmt::format("{} of launch {} is {}, but stood above with another value", metric.name,
                             io::quoted(launch.id.empty() ? launch.kernel : launch.id), io::quoted(text)),
                 id_ ? "keep the files of two runs apart"
                     : "let ncu number the launches: without an ID column one fits");
    }

    std::vector<NcuLaunch> finished() const {
        std::vector<NcuLaunch> out;
        for (const Launch& launch : launches_) {
            NcuLaunch& done = out.emplace_back(NcuLaunch{launch.id, launch.kernel, {}});
            for (const NcuQuantity& quantity : table()) done.values.push_back(value_of(quantity, launch));
        }
        return out;
    }

    static std::optional<double> value_of(const NcuQuantity& quantity, const Launch& launch) {
        for (const auto& way : quantity.ways) {
            double sum = 0;
            const bool all = std::ranges::all_of(way, [&](std::string_view metric) {
                const auto found = launch.metrics.find(metric);
                if (found == launch.metrics.end()) return false;
                sum += found->second * (counts_sectors(metric) ? kSectorBytes : 1);
                return true;
            });
            if (all) return sum;
        }
        return std::nullopt;
    }

    struct Column {
        std::size_t index;
        const Metric* metric;
        double scale;
    };

    const std::string name_;  // of the file, in quotes
    std::int64_t line_ = 0;
    std::string complaint_;  // what the profiler itself said first
    std::vector<std::string> header_;
    std::optional<std::size_t> kernel_, id_, process_, metric_, unit_, value_;
    std::vector<Column> columns_;  // of the raw page
    std::vector<Launch> launches_;
    std::map<std::tuple<std::string, std::string, std::string>, Place> places_;  // by process, ID and kernel
};

}  // namespace

std::span<const NcuQuantity> ncu_quantities() { return table(); }

std::string ncu_metric_list() {
    std::string list;
    for (const Metric& metric : all_metrics()) list += fmt::format("{}{}", list.empty() ? "" : ",", metric.name);
    return list;
}

std::vector<NcuLaunch> parse_ncu_csv(std::string_view text, const std::string& name) {
    return NcuParser(name).parse(text);
}

}  // namespace flashstep::gpu
