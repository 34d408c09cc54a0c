// Reading times of attention on a GPU.
#include "cli/bench_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/matrix.h"
#include "gpu/registry.h"

namespace flashstep::cli {
namespace {

using io::Json;

constexpr int kMostDepth = 64;  // a file of times has three
constexpr const char* kFormat = "flashstep device bench";
constexpr const char* kHowToMake = "`flashstep bench --device --json=FILE` or gpu/bench_torch.py writes such a file";

std::string shown(const Json& value) { return io::quoted(io::json_text(value, -1)); }

// How deep lists and objects of JSON stand in each other. In text that is none: at least as deep as any reader gets.
int depth_of(std::string_view text) {
    int depth = 0, most = 0;
    bool in_string = false;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const char c = text[k];
        if (c == '"') in_string = !in_string;
        if (in_string && c == '\\') ++k;  // what follows ends no string
        if (in_string) continue;
        if (c == '[' || c == '{') most = std::max(most, ++depth);
        if (c == ']' || c == '}') --depth;
    }
    return most;
}

class ResultsReader {
  public:
    ResultsReader(const std::string& file, BenchSource expected) : file_(file), expected_(expected) {}

    BenchResults read(std::string_view text) const {
        const Json json = parse(text);
        if (!json.is_object() || !json.contains("format") || json["format"] != kFormat)
            stop("not a file of times on a device", kHowToMake);
        if (!json.contains("version") || json["version"] != 1)
            stop(fmt::format("version {}, but this program reads version 1",
                             json.contains("version") ? shown(json["version"]) : "missing"),
                 kHowToMake);
        BenchResults out{.source = word(json, "", "source"),
                         .device = word(json, "", "device"),
                         .target = word(json, "", "target"),
                         .driver = word(json, "", "driver"),
                         .date = word(json, "", "date"),
                         .results = {}};
        check_source(out.source);
        if (!json.contains("results") || !json["results"].is_array()) stop("results has to be a list", kHowToMake);
        std::set<std::tuple<std::string, std::string, gpu::Pass, int, bool, int>> seen;
        for (std::size_t k = 0; k < json["results"].size(); ++k) {
            const std::string where = fmt::format("results[{}]", k);
            const BenchResult result = row(json["results"][k], where);
            const gpu::BenchShape& s = result.shape;
            if (!seen.insert({result.name, result.dtype, s.pass, s.d, s.causal, s.n}).second)
                stop(fmt::format("{} is there twice: {} {} {} d={}{} N={}", where, io::quoted(result.name),
                                 result.dtype, gpu::name(s.pass), s.d, s.causal ? " causal" : "", s.n),
                     "keep the times of two runs in two files");
            out.results.push_back(result);
        }
        if (std::ranges::none_of(out.results, &BenchResult::timed)) stop("nothing in it was timed");
        return out;
    }

  private:
    [[noreturn]] void stop(const std::string& what, std::string hint = {}) const {
        throw Error(fmt::format("{}: {}", io::quoted(file_, 200), what), std::move(hint));
    }

    Json parse(std::string_view text) const {
        if (depth_of(text) > kMostDepth)  // what walks through values calls itself
            stop(fmt::format("lists and objects within each other deeper than {} levels", kMostDepth), kHowToMake);
        try {
            return Json::parse(text);
        } catch (const Json::parse_error& error) {
            stop(fmt::format("not JSON at byte {}", error.byte), kHowToMake);
        } catch (const Json::exception&) {  // a number that no double holds
            stop("not JSON: a number in it is out of range", kHowToMake);
        }
    }

    void check_source(const std::string& source) const {
        const bool ours = source == "flashstep";
        if (expected_ == BenchSource::Flashstep && !ours)
            stop(fmt::format("its source is {}, but has to be flashstep", io::quoted(source)),
                 "give times of others as --peers");
        if (expected_ == BenchSource::Peers && ours)
            stop("its source is flashstep, but peers are others", "gpu/bench_torch.py writes times of PyTorch");
    }

    static std::string path(const std::string& where, std::string_view key) {
        return where.empty() ? std::string(key) : fmt::format("{}.{}", where, key);
    }

    const Json& at(const Json& object, const std::string& where, const char* key) const {
        if (!object.contains(key)) stop(fmt::format("{} is missing", path(where, key)), kHowToMake);
        return object[key];
    }

    std::string word(const Json& object, const std::string& where, const char* key) const {
        const Json& value = at(object, where, key);
        if (!value.is_string() || value.get<std::string>().empty())
            stop(fmt::format("{} is {}, but has to be text", path(where, key), shown(value)));
        return value.get<std::string>();
    }

    int whole(const Json& object, const std::string& where, const char* key) const {
        const Json& value = at(object, where, key);
        if (!value.is_number_integer() || value < 1 || value > 1'000'000)
            stop(fmt::format("{} is {}, but has to be a whole number from 1 to 1000000", path(where, key),
                             shown(value)));
        return value.get<int>();
    }

    BenchResult row(const Json& json, const std::string& where) const {
        if (!json.is_object()) stop(fmt::format("{} is {}, but has to be an object", where, shown(json)));
        BenchResult out{.name = word(json, where, "name"),
                        .dtype = word(json, where, "dtype"),
                        .shape = shape(json, where),
                        .ms = 0,
                        .skipped = {}};
        if (!dtype_from_name(out.dtype))
            stop(fmt::format("{}.dtype is {}, which is no number format", where, io::quoted(out.dtype)));
        if (expected_ == BenchSource::Flashstep) check_kernel(out, where);
        if (json.contains("skipped") == json.contains("ms"))
            stop(fmt::format("{} has {} of ms and skipped, but has to have one", where,
                             json.contains("ms") ? "both" : "none"));
        if (json.contains("skipped")) {
            out.skipped = word(json, where, "skipped");
            return out;
        }
        const Json& ms = json["ms"];
        out.ms = ms.is_number() ? ms.get<double>() : 0;
        if (!std::isfinite(out.ms) || out.ms <= 0 || !std::isfinite(out.tflops()))
            stop(fmt::format("{}.ms is {}, but has to be a time above 0", where, shown(ms)));
        return out;
    }

    gpu::BenchShape shape(const Json& json, const std::string& where) const {
        gpu::BenchShape out;
        const std::string pass = word(json, where, "pass");
        if (pass != "forward" && pass != "backward")
            stop(fmt::format("{}.pass is {}, but has to be forward or backward", where, io::quoted(pass)));
        out.pass = pass == "forward" ? gpu::Pass::Forward : gpu::Pass::Backward;
        const Json& causal = at(json, where, "causal");
        if (!causal.is_boolean())
            stop(fmt::format("{}.causal is {}, but has to be true or false", where, shown(causal)));
        out.causal = causal.get<bool>();
        out.d = whole(json, where, "d"), out.n = whole(json, where, "n");
        out.batch = whole(json, where, "batch"), out.heads = whole(json, where, "heads");
        const std::vector<gpu::BenchShape> schedule = gpu::bench_schedule();
        if (std::ranges::find(schedule, out) == schedule.end())
            stop(fmt::format("{} has the shape d={} N={} batch={} heads={}, which is not of the schedule", where, out.d,
                             out.n, out.batch, out.heads),
                 "`flashstep bench --schedule --json` prints it");
        return out;
    }

    void check_kernel(const BenchResult& result, const std::string& where) const {
        const gpu::KernelInfo* kernel = gpu::find_kernel(result.name);
        if (!kernel)
            stop(fmt::format("{}.name is {}, which is no kernel", where, io::quoted(result.name)),
                 "`flashstep list` prints them");
        if (gpu::pass_of(*kernel) != result.shape.pass)
            stop(fmt::format("{}: {} does not do the {} pass", where, result.name, gpu::name(result.shape.pass)));
        if (std::ranges::none_of(kernel->dtypes, [&](DType dtype) { return name(dtype) == result.dtype; }))
            stop(fmt::format("{}: {} does not take {}", where, result.name, result.dtype));
    }

    const std::string& file_;
    BenchSource expected_;
};

}  // namespace

BenchResults parse_bench_results(std::string_view text, const std::string& file, BenchSource expected) {
    return ResultsReader(file, expected).read(text);
}

void check_comparable(const BenchResults& ours, const BenchResults& peers) {
    const auto same = [](const char* what, const std::string& a, const std::string& b) {
        if (a != b)
            throw Error(
                fmt::format("the {} differ: {} for the results, {} for the peers", what, io::quoted(a), io::quoted(b)),
                "measure both on one machine on one day (gpu/check.sh does)");
    };
    same("devices", ours.device, peers.device);
    same("targets", ours.target, peers.target);
    same("drivers", ours.driver, peers.driver);
    same("dates", ours.date, peers.date);
}

}  // namespace flashstep::cli
