// flashstep sweep: counts of several algorithms while one parameter takes a range of values.
//
// CSV: a header, then one row per value and algorithm with the columns of kColumns; numbers that are not there (SRAM of
// library calls; all of a row with an error) are empty. JSON: {"vary", "rows": [{"value", "algorithm", "br", "bc",
// "counts", "error"}]} with counts as `count --json` prints them, null beside an error; error null beside counts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/names.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "core/io/file.h"
#include "core/io/trace_json.h"

namespace flashstep::cli {
namespace {

using io::Json;

constexpr std::int64_t kMostValues = 10'000;
constexpr double kMostTiles = 5e8;  // that counting visits, over all rows: about two minutes
constexpr std::array<std::string_view, 7> kParameters = {"n", "d", "br", "bc", "sram", "batch", "heads"};
constexpr std::array<std::string_view, 2> kForms = {"csv", "json"};
constexpr const char* kColumns =
    "value,algorithm,br,bc,hbm_read,hbm_write,hbm_init,sram_read,sram_write,sram_peak,"
    "flops_matmul,flops_other,flops_exp,memory_inputs,memory_outputs,memory_extra,steps,error\n";
constexpr const char* kHowToVary = "write n=1024:65536:x2 (times 2), n=64:512:+64 (plus 64) or n=64,100,128";

struct Range {
    std::string parameter;  // one of kParameters
    std::vector<std::int64_t> values;
};

struct Row {
    std::int64_t value;
    std::string_view algorithm;
    int br, bc;
    std::optional<Counts> counts;
    std::string error;  // why there are none
};

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts(1);
    for (const char c : text)
        if (c == at)
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

// FROM:TO:xFACTOR or FROM:TO:+STEP.
std::vector<std::int64_t> stepped(const std::string& option, const std::vector<std::string>& parts) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    const std::int64_t from = whole_number(option, parts[0], 1, kMost), to = whole_number(option, parts[1], 1, kMost);
    const char kind = parts[2].empty() ? ' ' : parts[2].front();
    if (kind != 'x' && kind != '+')
        throw Error(fmt::format("{} has the step {}, but it has to be x and a factor, or + and a number", option,
                                io::quoted(parts[2])),
                    kHowToVary);
    const std::int64_t step =
        whole_number(fmt::format("{} (after {})", option, kind), parts[2].substr(1), kind == 'x' ? 2 : 1, kMost);
    if (from > to) throw Error(fmt::format("{} runs from {} to {}, which is less", option, from, to), kHowToVary);
    if (kind == '+' && (to - from) / step >= kMostValues)
        throw Error(fmt::format("{} takes {} values, the limit is {}", option, (to - from) / step + 1, kMostValues),
                    "take a larger step, or sweep a part at a time");
    std::vector<std::int64_t> values;
    for (std::int64_t value = from;;) {
        values.push_back(value);
        if (kind == 'x' ? value > to / step : value > to - step) return values;
        value = kind == 'x' ? value * step : value + step;
    }
}

Range read_range(const std::string& text) {
    if (text.empty()) throw Error("--vary is needed", kHowToVary);
    const std::size_t equals = text.find('=');
    Range range{.parameter = text.substr(0, equals), .values = {}};
    if (std::ranges::find(kParameters, range.parameter) == kParameters.end())
        throw unknown_name("--vary parameter", range.parameter, kParameters);
    const std::string option = fmt::format("--vary {}", range.parameter);
    const std::string rest = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (rest.empty()) throw Error(fmt::format("{} has no values", option), kHowToVary);
    if (const std::vector<std::string> parts = split(rest, ':'); parts.size() == 3) {
        range.values = stepped(option, parts);
        return range;
    } else if (parts.size() != 1) {
        throw Error(fmt::format("{} is {}, which has {} parts", option, io::quoted(rest), parts.size()), kHowToVary);
    }
    const std::vector<std::string> values = split(rest, ',');
    if (static_cast<std::int64_t>(values.size()) > kMostValues)
        throw Error(fmt::format("{} takes {} values, the limit is {}", option, values.size(), kMostValues));
    for (const std::string& value : values)
        range.values.push_back(whole_number(option, value, 1, std::numeric_limits<std::int64_t>::max()));
    return range;
}

// In the order typed, each once; `all` are all.
std::vector<const Algorithm*> read_algorithms(const std::vector<std::string>& typed) {
    std::vector<const Algorithm*> chosen;
    const auto add = [&](const Algorithm& algorithm) {
        if (std::ranges::find(chosen, &algorithm) == chosen.end()) chosen.push_back(&algorithm);
    };
    if (typed.empty()) algorithm_named({});  // says that one is needed
    for (const std::string& id : typed)
        if (id == "all")
            for (const Algorithm& algorithm : algorithms()) add(algorithm);
        else
            add(algorithm_named(id));
    return chosen;
}

// Tiles that counting visits: of one head, or for a backward pass of the heads that share K and V.
double tiles(const Algorithm& algorithm, const Problem& p) {
    const bool by_row = algorithm.mask_tiles == MaskTiles::Rows;
    if (!by_row && algorithm.mask_tiles != MaskTiles::Blocks && algorithm.mask_tiles != MaskTiles::WarpRows) return 0;
    const double heads = algorithm.forward.empty() ? 1 : p.heads / p.kv_heads;
    return heads * (by_row ? p.n : p.row_blocks()) * p.col_blocks();
}

void refuse_endless(const Range& range, const std::vector<const Algorithm*>& chosen,
                    const std::vector<Problem>& problems) {
    double all = 0;
    for (const Problem& problem : problems)
        for (const Algorithm* algorithm : chosen) all += tiles(*algorithm, problem);
    if (all > kMostTiles)
        throw Error(
            fmt::format("--vary {} visits {:.0f} tiles in all, the limit is {:.0f}", range.parameter, all, kMostTiles),
            "use fewer values, larger blocks (--br, --bc) or fewer algorithms");
}

// One row per value and algorithm. All values are checked before the first is counted: a value that no problem can have
// is wrong use; one whose tiles do not fit on chip, or that is too large to count, has a row that says so.
std::vector<Row> counted(const Range& range, const std::vector<const Algorithm*>& chosen, ProblemOptions& options) {
    const std::string option = "--" + range.parameter;
    if (options.has(option))
        throw Error(fmt::format("{} is given, and varied by --vary", option), "leave one of them out");
    std::vector<Problem> problems;
    for (const std::int64_t value : range.values) {
        options.set(option, std::to_string(value));
        const Request request = options.resolve(Need::Sizes);
        if (problems.empty())
            for (const std::string& warning : request.warnings) print_warning(warning);
        problems.push_back(request.problem);
    }
    refuse_endless(range, chosen, problems);
    std::vector<Row> rows;
    for (std::size_t k = 0; k < problems.size(); ++k)
        for (const Algorithm* algorithm : chosen) {
            Row row{range.values[k], algorithm->id, problems[k].br, problems[k].bc, {}, {}};
            try {
                row.counts = count(*algorithm, problems[k]);
            } catch (const Error& error) {
                row.error = error.hint().empty() ? error.what() : fmt::format("{}; {}", error.what(), error.hint());
            }
            rows.push_back(std::move(row));
        }
    return rows;
}

// A field of a CSV row (RFC 4180).
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string csv(const std::vector<Row>& rows) {
    std::string text = kColumns;
    for (const Row& row : rows) {
        text += fmt::format("{},{},{},{},", row.value, row.algorithm, row.br, row.bc);
        if (row.counts) {
            const Traffic& t = row.counts->traffic;
            const Memory& memory = row.counts->memory;
            text += fmt::format("{},{},{},", t.hbm_read, t.hbm_write, t.hbm_init);
            text += row.counts->sram_modelled
                        ? fmt::format("{},{},{},", t.sram_read, t.sram_write, row.counts->sram_peak)
                        : ",,,";
            text += fmt::format("{},{},{},{},{},{},{},", t.flops_matmul, t.flops_other, t.flops_exp, memory.inputs,
                                memory.outputs, memory.extra, row.counts->steps);
        } else {
            text += std::string(13, ',');
        }
        text += field(row.error) + "\n";
    }
    return text;
}

Json json(const Range& range, const std::vector<Row>& rows) {
    Json list = Json::array();
    for (const Row& row : rows)
        list.push_back({{"value", row.value},
                        {"algorithm", std::string(row.algorithm)},
                        {"br", row.br},
                        {"bc", row.bc},
                        {"counts", row.counts ? io::count_json(*row.counts) : Json()},
                        {"error", row.counts ? Json() : Json(row.error)}});
    return {{"vary", range.parameter}, {"rows", std::move(list)}};
}

struct State {
    explicit State(const Options& options) : problem(options) {}
    std::vector<std::string> algorithms;
    std::string vary, format = "csv", out;
    ProblemOptions problem;
};

Action add(const Options& options, const Start&) {
    const auto state = std::make_shared<State>(options);
    options.texts("ALGORITHM", state->algorithms, "ids (flashstep list), or all");
    options.text("--vary", state->vary,
                 fmt::format("NAME=FROM:TO:xFACTOR, NAME=FROM:TO:+STEP or NAME=A,B,C; NAME is one of {}",
                             fmt::join(kParameters, ", ")),
                 "RANGE");
    options.text("--format", state->format, "csv or json (csv)", "FORM");
    options.text("--out", state->out, "write to a file, not to standard output", "FILE");
    return [state] {
        const std::vector<const Algorithm*> chosen = read_algorithms(state->algorithms);
        const Range range = read_range(state->vary);
        if (std::ranges::find(kForms, state->format) == kForms.end())
            throw unknown_name("--format", state->format, kForms);
        const std::vector<Row> rows = counted(range, chosen, state->problem);
        const std::string text = state->format == "csv" ? csv(rows) : io::json_text(json(range, rows), 2) + "\n";
        if (state->out.empty())
            print_page(text);
        else
            io::write_file(state->out, text);
        return kOk;
    };
}

}  // namespace

const Command kSweep{"sweep", "Counts algorithms while one parameter takes a range of values; prints CSV or JSON", add};

}  // namespace flashstep::cli
