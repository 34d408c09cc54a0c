// The table of times on a GPU: values, ratios, which N, what is refused, and that a page keeps all its other bytes. The
// times are made up, and say so: their device is "SAMPLE, not a device".
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/error.h"
#include "core/io/json.h"
#include "tests/program.h"
#include "cli/bench_table.h"

using namespace flashstep;
using namespace flashstep::cli;
using namespace flashstep::testing;
using io::Json;

namespace {

namespace fs = std::filesystem;

const std::string kSamples = FLASHSTEP_SOURCE_DIR "/tests/samples/";
const std::string kOurs = kSamples + "device_bench_sample.json", kPeers = kSamples + "device_bench_peers_sample.json";

std::string sample_table() {
    return bench_table(parse_bench_results(text_of(kOurs), "ours", BenchSource::Flashstep), nullptr);
}

// One result of a rung.
Json result(const std::string& name, const std::string& pass, int d, bool causal, int n, double ms) {
    return {{"name", name}, {"dtype", "fp16"},    {"pass", pass},      {"d", d},   {"causal", causal},
            {"n", n},       {"batch", 16384 / n}, {"heads", 2048 / d}, {"ms", ms}, {"repetitions", 30}};
}

Json file_of(const std::string& source, const std::vector<Json>& results) {
    return {{"format", "flashstep device bench"},
            {"version", 1},
            {"source", source},
            {"device", "SAMPLE, not a device"},
            {"target", "sm_90"},
            {"driver", "13.0"},
            {"date", "2001-01-01"},
            {"results", results}};
}

BenchResults read(const Json& json, BenchSource source = BenchSource::Flashstep) {
    return parse_bench_results(io::json_text(json), "x.json", source);
}

std::string error_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) { return error.what(); }
    return "no error";
}

std::string line_with(const std::string& text, const std::string& part) {
    const std::size_t at = text.find(part);
    if (at == std::string::npos) return "no line with " + part;
    const std::size_t from = text.rfind('\n', at) + 1;
    return text.substr(from, text.find('\n', at) - from);
}

const Json kGood = result("fa2_forward_4_swizzle", "forward", 64, false, 512, 1.0);

}  // namespace

TEST_CASE("the sample's table is the one that was read by eye") {
    const auto output = run_program({"bench-table", kOurs, "--peers", kPeers});
    CHECK(output.status == 0);
    CHECK(output.err.empty());
    CHECK(output.out == text_of(kSamples + "device_bench_sample.md"));
}

TEST_CASE("TFLOP/s are the papers' FLOPs over the time, and the ratio is to the fastest peer of the same shape") {
    // 4 x 8192^2 x 64 x 32 heads x 2 = 1.0995e12 FLOPs; the fast peer is torch cudnn at 4096, torch flash at 8192.
    const Json rung = file_of("flashstep", {result("fa2_forward_3_mma", "forward", 64, false, 8192, 10.0),
                                            result("fa2_forward_3_mma", "forward", 64, true, 8192, 10.0),
                                            result("fa2_backward_3_mma", "backward", 128, false, 8192, 10.0)});
    const Json peers = file_of("torch 2.0", {result("torch flash", "forward", 64, false, 8192, 5.0),
                                             result("torch cudnn", "forward", 64, false, 8192, 8.0),
                                             result("torch cudnn", "forward", 64, true, 8192, 2.5),
                                             result("torch flash", "backward", 128, false, 8192, 20.0)});
    const BenchResults peer_results = read(peers, BenchSource::Peers);
    const std::string table = bench_table(read(rung), &peer_results);
    CHECK(line_with(table, "| `fa2_forward_3_mma`") ==
          "| `fa2_forward_3_mma` | fp16 | 8,192 | 110 (0.50) | 55.0 (0.25) | – | – |");
    CHECK(line_with(table, "| `fa2_backward_3_mma`") ==
          "| `fa2_backward_3_mma` | fp16 | 8,192 | – | – | 275 (2.00) | – |");
    CHECK(line_with(table, "| torch flash") == "| torch flash | fp16 | 8,192 | 220 (1.00) | – | – | – |");
    const std::string alone = bench_table(read(rung), nullptr);
    CHECK(line_with(alone, "| `fa2_forward_3_mma`") == "| `fa2_forward_3_mma` | fp16 | 8,192 | 110 | 55.0 | – | – |");
    CHECK(alone.find("No peer was measured") != std::string::npos);
    CHECK(alone.find("(\\*)") == std::string::npos);
}

TEST_CASE("a rung stands at the largest N that it and every peer ran") {
    const auto both = [](int rung_to, int peer_to, bool peer_refuses_causal) {
        std::vector<Json> ours, theirs;
        for (const bool causal : {false, true})
            for (int n = 512; n <= 16384; n *= 2) {
                if (n <= rung_to) ours.push_back(result("fa2_forward_3_mma", "forward", 64, causal, n, 1.0));
                if (n <= peer_to && !(causal && peer_refuses_causal))
                    theirs.push_back(result("torch flash", "forward", 64, causal, n, 1.0));
            }
        const BenchResults peers = read(file_of("torch 2.0", theirs), BenchSource::Peers);
        const std::string row =
            line_with(bench_table(read(file_of("flashstep", ours)), &peers), "| `fa2_forward_3_mma`");
        return row.substr(0, row.find(" | ", row.find("fp16") + 7));
    };
    CHECK(both(16384, 16384, false) == "| `fa2_forward_3_mma` | fp16 | 16,384");
    CHECK(both(16384, 4096, false) == "| `fa2_forward_3_mma` | fp16 | 4,096");
    CHECK(both(1024, 4096, false) == "| `fa2_forward_3_mma` | fp16 | 1,024");
    CHECK(both(16384, 8192, true) ==
          "| `fa2_forward_3_mma` | fp16 | 8,192");  // a shape that it never ran holds no one up
}

TEST_CASE("rungs stand in the ladder's order whatever the file's, and another format than the peers' is marked") {
    const std::string table = text_of(kSamples + "device_bench_sample.md");
    const std::size_t naive = table.find("| `standard_1_naive`"), tile = table.find("| `fa2_forward_1_tile`"),
                      swizzle = table.find("| `fa2_forward_4_swizzle`"), peer = table.find("| torch flash");
    CHECK((naive < tile && tile < swizzle && swizzle < peer && peer != std::string::npos));
    CHECK(line_with(table, "| `fa2_forward_1_tile`").find("fp32 (\\*)") != std::string::npos);
    CHECK(line_with(table, "| `fa2_forward_4_swizzle`").find("(\\*)") == std::string::npos);
}

TEST_CASE("what a file says cannot break out of the table, its cells or its markers") {
    Json skipped = result("fa2_forward_3_mma", "forward", 64, true, 512, 1);
    skipped.erase("ms");
    skipped["skipped"] = "a | b\n" + std::string(kTableEnd) + " `c` **d** \x01";
    Json json = file_of("flashstep", {kGood, skipped});
    json["device"] = "x | y\n# <b>";
    const std::string table = bench_table(read(json), nullptr);
    CHECK(table.find(kTableEnd) == std::string::npos);
    CHECK(table.find("x \\| y # &lt;b&gt;") != std::string::npos);
    CHECK(table.find("a \\| b &lt;!-- device bench: end --&gt; \\`c\\` \\*\\*d\\*\\*") != std::string::npos);
    const std::string page = fmt::format("{}{}", kTableBegin, kTableEnd);
    CHECK_NOTHROW(with_table(with_table(page, table, "x"), table, "x"));
}

TEST_CASE("a file of times that is wrong is refused with what and where") {
    const auto changed = [](const std::function<void(Json&)>& change) {
        Json json = file_of("flashstep", {kGood, result("fa2_forward_4_swizzle", "forward", 64, false, 1024, 1.0)});
        change(json);
        return io::json_text(json);
    };
    const auto row = [&](const char* key, const Json& value) {
        return changed([&](Json& j) { j["results"][1][key] = value; });
    };
    std::string nan = changed([](Json&) {});
    nan.replace(nan.find("1.0"), 3, "NaN");
    std::string large = changed([](Json&) {});
    large.replace(large.find("1.0"), 3, "1e999");
    const std::pair<std::string, std::string> rows[] = {
        {"", "not JSON at byte 1"},
        {nan, "not JSON at byte"},
        {large, "a number in it is out of range"},
        {"[1]", "not a file of times on a device"},
        {changed([](Json& j) { j["format"] = "flashstep device bench schedule"; }), "not a file of times"},
        {changed([](Json& j) { j["version"] = 2; }), "version '2', but this program reads version 1"},
        {changed([](Json& j) { j.erase("version"); }), "version missing"},
        {changed([](Json& j) { j["source"] = "torch 2.0"; }), "its source is 'torch 2.0', but has to be flashstep"},
        {changed([](Json& j) { j.erase("driver"); }), "driver is missing"},
        {changed([](Json& j) { j["device"] = ""; }), "device is '\"\"', but has to be text"},
        {changed([](Json& j) { j["results"] = 1; }), "results has to be a list"},
        {changed([](Json& j) { j["results"] = Json::array(); }), "nothing in it was timed"},
        {changed([](Json& j) { j["results"][1] = 1; }), "results[1] is '1', but has to be an object"},
        {changed([](Json& j) { j["results"][1]["n"] = 512, j["results"][1]["batch"] = 32; }),
         "results[1] is there twice: 'fa2_forward_4_swizzle' fp16 forward d=64 N=512"},
        {row("ms", 0), "results[1].ms is '0', but has to be a time above 0"},
        {row("ms", -1.5), "results[1].ms is '-1.5'"},
        {row("ms", "nan"), "results[1].ms is '\"nan\"'"},
        {row("ms", nullptr), "results[1].ms is 'null'"},
        {row("ms", 1e-320), "results[1].ms is"},
        {row("skipped", "why"), "results[1] has both of ms and skipped"},
        {changed([](Json& j) { j["results"][1].erase("ms"); }), "results[1] has none of ms and skipped"},
        {row("name", "fa2_forward_9_magic"), "results[1].name is 'fa2_forward_9_magic', which is no kernel"},
        {row("name", "softmax_1_naive"), "softmax_1_naive does not do the forward pass"},
        {row("pass", "backward"), "fa2_forward_4_swizzle does not do the backward pass"},
        {row("pass", "sideways"), "results[1].pass is 'sideways'"},
        {row("dtype", "fp32"), "fa2_forward_4_swizzle does not take fp32"},
        {row("dtype", "fp8"), "results[1].dtype is 'fp8', which is no number format"},
        {row("causal", 1), "results[1].causal is '1'"},
        {row("d", 96), "results[1] has the shape d=96 N=1024 batch=16 heads=32, which is not of the schedule"},
        {row("batch", 1), "which is not of the schedule"},
        {row("n", 1024.5), "results[1].n is '1024.5', but has to be a whole number"},
        {row("heads", true), "results[1].heads is 'true'"},
        {row("n", 18446744073709551615ULL), "results[1].n is '18446744073709551615'"},
    };
    for (const auto& [text, message] : rows) {
        const std::string json = text, expected = message;
        const std::string said = error_of([&] { parse_bench_results(json, "x.json", BenchSource::Flashstep); });
        CAPTURE(said);
        CAPTURE(expected);
        CHECK(said.starts_with("'x.json': "));
        CHECK(said.find(expected) != std::string::npos);
    }
    CHECK(error_of([] { read(file_of("flashstep", {kGood}), BenchSource::Peers); }).find("peers are others") !=
          std::string::npos);
}

TEST_CASE("a file whose values stand in each other deeper than 64 levels is refused, wherever they are") {
    const auto nested = [](const char* key, int levels) {
        const std::string value = std::string(static_cast<std::size_t>(levels), '[') + "\"\\\"]\\\\\"" +
                                  std::string(static_cast<std::size_t>(levels), ']');
        Json json = file_of("flashstep", {kGood});
        json[key] = "HERE";
        std::string text = io::json_text(json);
        return text.replace(text.find("\"HERE\""), 6, value);
    };
    const TemporaryFolder folder;
    const std::string path = folder.file("deep.json");
    for (const char* key : {"source", "version", "ignored", "device"})
        for (const int levels : {64, 50'000, 200'000}) {
            write_text(path, nested(key, levels));
            const auto output = run_program({"bench-table", path});
            CAPTURE(key);
            CAPTURE(levels);
            CHECK(output.status == 2);
            CHECK(output.err.find("deep.json': lists and objects within each other deeper than 64 levels") !=
                  std::string::npos);
        }
    write_text(path, nested("ignored", 63));  // 64 with the object around them
    CHECK(run_program({"bench-table", path}).status == 0);
    Json brackets = file_of("flashstep", {kGood});
    brackets["device"] = std::string(100, '[') + "\"\\";  // within a text they are none
    CHECK_NOTHROW(read(brackets));
}

TEST_CASE("text that is cut is cut between characters") {
    for (std::size_t before = 296; before <= 301; ++before) {
        Json json = file_of("flashstep", {kGood});
        json["device"] = std::string(before, 'x') + "\u00b2\U0001d56b\u2013 end";
        const std::string table = bench_table(read(json), nullptr);
        CAPTURE(before);
        CHECK_NOTHROW(Json(table).dump());  // throws at what is not UTF-8
        CHECK(table.find(std::string(std::min<std::size_t>(before, 300), 'x') + (before <= 298 ? "\u00b2" : "")) !=
              std::string::npos);
    }
}

TEST_CASE("--into does not write a page that is not writable") {
    const TemporaryFolder folder;
    const std::string path = folder.file("page.md"), page = fmt::format("{}{}\n", kTableBegin, kTableEnd);
    write_text(path, page);
    write_text(folder.file("ours.json"), text_of(kOurs));
    fs::permissions(path, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
    fs::permissions(folder.path(), fs::perms::all);
    const auto output = run_as_nobody(folder, folder.path(), {"bench-table", folder.file("ours.json"), "--into", path});
    CAPTURE(output.err);
    CHECK(output.status == 2);
    CHECK(output.err.find("cannot write '" + path + "': Permission denied\n") != std::string::npos);
    CHECK(text_of(path) == page);
}

TEST_CASE("what --into says of its page holds no control character") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a\x1b[31m\a.md");
    write_text(path, fmt::format("{}{}\n", kTableBegin, kTableEnd));
    const auto output = run_program({"bench-table", kOurs, "--into", path});
    CHECK(output.status == 0);
    CHECK(output.err.find("a?[31m?.md': the table is in it\n") != std::string::npos);
    CHECK(output.err.find('\x1b') == std::string::npos);
}

TEST_CASE("times of another device, target, driver or day are not put beside each other") {
    const BenchResults ours = read(file_of("flashstep", {kGood}));
    CHECK_NOTHROW(check_comparable(ours, read(file_of("torch 2", {kGood}), BenchSource::Peers)));
    for (const char* key : {"device", "target", "driver", "date"}) {
        Json other = file_of("torch 2", {kGood});
        other[key] = "another";
        const std::string said = error_of([&] { check_comparable(ours, read(other, BenchSource::Peers)); });
        CHECK(said.find(fmt::format("the {}s differ", key)) != std::string::npos);
        CHECK(said.find("'another' for the peers") != std::string::npos);
    }
}

TEST_CASE("a page keeps every byte outside of the markers, in both kinds of lines, and a second time changes nothing") {
    const std::string table = sample_table();
    const std::string before = "# Title\r\n\xff\xfe \t\n", after = "\nlast line without an end";
    const std::string begin(kTableBegin), end(kTableEnd);
    for (const std::string& between : {std::string(), std::string("\n"), std::string("\n\nold | table\n\n")}) {
        const std::string page = before + begin + between + end + after;
        const std::string fresh = with_table(page, table, "x");
        CHECK(fresh == before + begin + "\n\n" + table + end + after);
        CHECK(with_table(fresh, table, "x") == fresh);
    }
    const std::string windows = with_table(before + begin + "\r\n" + end + after, table, "x");
    CHECK(windows.find(begin + "\r\n\r\n**SAMPLE, not a device**") != std::string::npos);
    CHECK(std::count(windows.begin(), windows.end(), '\n') - std::count(windows.begin(), windows.end(), '\r') == 2);
    CHECK(with_table(windows, table, "x") == windows);
}

TEST_CASE("a page without one pair of markers is refused and not touched") {
    const std::string begin(kTableBegin), end(kTableEnd);
    const TemporaryFolder folder;
    const std::string path = folder.file("page.md");
    const std::pair<std::string, std::string> rows[] = {
        {"", "no <!-- device bench: begin --> in it"},
        {"x " + begin, "no <!-- device bench: end --> in it"},
        {"x " + end, "no <!-- device bench: begin --> in it"},
        {end + begin, "<!-- device bench: end --> before <!-- device bench: begin -->"},
        {begin + end + begin + end, "<!-- device bench: begin --> twice"},
        {begin + begin + end, "<!-- device bench: begin --> twice"},
        {begin + end + end, "<!-- device bench: end --> twice"},
    };
    for (const auto& [page, message] : rows) {
        write_text(path, page);
        const auto output = run_program({"bench-table", kOurs, "--into", path});
        const std::string expected = message;
        CAPTURE(output.err);
        CHECK(output.status == 2);
        CHECK(output.out.empty());
        CHECK(std::count(output.err.begin(), output.err.end(), '\n') == 1);
        CHECK_MESSAGE(output.err.find(expected) != std::string::npos, expected);
        CHECK(text_of(path) == page);
    }
}

TEST_CASE("--into replaces the table at once and keeps the page's mode; after an error the page is as it was") {
    const TemporaryFolder folder;
    const std::string path = folder.file("page.md");
    const std::string page = fmt::format("before\n{}\n\nold\n{}\nafter\n", kTableBegin, kTableEnd);
    write_text(path, page);
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
    const auto mode = fs::status(path).permissions();

    write_text(folder.file("other.json"), [] {
        Json other = file_of("torch 2", {kGood});
        other["date"] = "2001-01-02";
        return io::json_text(other);
    }());
    const std::vector<std::vector<std::string>> wrong = {
        {"bench-table", kOurs, "--peers", folder.file("other.json"), "--into", path},
        {"bench-table", kOurs, "--peers", kOurs, "--into", path},
        {"bench-table", kPeers, "--into", path},
        {"bench-table", folder.file("none.json"), "--into", path},
        {"bench-table", "--into", path},
    };
    for (const auto& words : wrong) {
        const auto output = run_program(words);
        CAPTURE(output.err);
        CHECK(output.status == 2);
        CHECK(std::count(output.err.begin(), output.err.end(), '\n') == 1);
        CHECK(text_of(path) == page);
    }

    const auto output = run_program({"bench-table", kOurs, "--peers", kPeers, "--into", path});
    CHECK(output.status == 0);
    CHECK(output.out.empty());
    CHECK(text_of(path) == fmt::format("before\n{}\n\n{}{}\nafter\n", kTableBegin,
                                       text_of(kSamples + "device_bench_sample.md"), kTableEnd));
    CHECK(fs::status(path).permissions() == mode);
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);  // no half-written file
    const auto written = fs::last_write_time(path);
    const auto again = run_program({"bench-table", kOurs, "--peers", kPeers, "--into", path});
    CHECK(again.err.find("nothing changed") != std::string::npos);
    CHECK(fs::last_write_time(path) == written);
}

TEST_CASE("the README has one pair of markers, and no table of a sample between them") {
    const std::string page = text_of(FLASHSTEP_SOURCE_DIR "/README.md");
    CHECK_NOTHROW(with_table(page, sample_table(), "README.md"));
    CHECK(page.find("SAMPLE") == std::string::npos);
}
