// What NVIDIA's profiler, Nsight Compute (ncu), counts of a kernel: the metrics to ask for, and a reader of its CSV.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flashstep::gpu {

// A number that is shown, and the metrics that give it. Metrics' names vary with the chip, so there may be several
// ways; the first one whose metrics are all in a file counts.
struct NcuQuantity {
    std::string_view key;                             // in JSON
    std::string_view title;                           // one or two words above a column
    std::string_view base;                            // what its metrics count: "byte", "sector", "inst" or "wavefront"
    std::vector<std::vector<std::string_view>> ways;  // each: metrics whose values are added
};

// In the order of columns. The three kinds of bytes come first: they are three different numbers.
std::span<const NcuQuantity> ncu_quantities();

// Every metric of the table, separated by commas, as `ncu --metrics` takes them.
std::string ncu_metric_list();

// A launch in the file.
struct NcuLaunch {
    std::string id;      // ncu's number of the launch; empty: the file has none
    std::string kernel;  // its name as ncu prints it
    // One for each of ncu_quantities(): bytes, instructions or wavefronts; nullopt: not in the file.
    std::vector<std::optional<double>> values;
};

// Reads what `ncu --csv` prints, with --page raw (a row for each launch, units below the header) or without (a row for
// each metric, with its unit and value). Lines of the profiler itself (==PROF==) and everything above the header are
// skipped. Values come in base units whatever units the file has. Throws Error naming `name` and the line.
std::vector<NcuLaunch> parse_ncu_csv(std::string_view text, const std::string& name);

}  // namespace flashstep::gpu
