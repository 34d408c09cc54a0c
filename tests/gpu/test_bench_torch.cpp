// The script that times PyTorch: its shapes and FLOPs are the bench's, its method is the bench's, and what it writes is
// read. PyTorch itself is a stand-in with a made-up clock (tests/samples/fake_torch); nothing is measured here.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "core/io/json.h"
#include "gpu/device_bench.h"
#include "tests/program.h"

using namespace flashstep;
using namespace flashstep::gpu;
using namespace flashstep::testing;
using io::Json;

namespace {

const std::string kSource = FLASHSTEP_SOURCE_DIR;

Json shape_json(const BenchShape& s) {
    return {{"pass", std::string(name(s.pass))},
            {"d", s.d},
            {"causal", s.causal},
            {"n", s.n},
            {"batch", s.batch},
            {"heads", s.heads}};
}

Json schedule_of(const std::vector<BenchShape>& shapes) {
    Json json = {
        {"format", "flashstep device bench schedule"}, {"version", 1}, {"dtype", "fp16"}, {"shapes", Json::array()}};
    for (const BenchShape& shape : shapes) json["shapes"].push_back(shape_json(shape));
    return json;
}

struct Script {
    TemporaryFolder folder;

    Output run(const Json& schedule, const std::vector<std::string>& options,
               const std::vector<std::string>& environment = {}) const {
        return run_text(io::json_text(schedule), options, environment);
    }
    Output run_text(const std::string& schedule, const std::vector<std::string>& options,
                    const std::vector<std::string>& environment = {}) const {
        write_text(folder.file("schedule.json"), schedule);
        std::vector<std::string> words = {"python3", kSource + "/gpu/bench_torch.py", "--schedule",
                                          folder.file("schedule.json")};
        words.insert(words.end(), options.begin(), options.end());
        std::vector<std::string> all = {"PYTHONDONTWRITEBYTECODE=1"};
        all.insert(all.end(), environment.begin(), environment.end());
        return run_words(words, all);
    }
    // With the stand-in for PyTorch.
    Output run_fake(const Json& schedule, const std::vector<std::string>& options = {},
                    std::vector<std::string> environment = {}) const {
        environment.push_back("PYTHONPATH=" + kSource + "/tests/samples/fake_torch");
        environment.push_back("FAKE_TORCH_LOG=" + folder.file("log"));
        return run(schedule, options, environment);
    }
    std::vector<std::string> log() const {
        std::vector<std::string> lines;
        std::istringstream text(text_of(folder.file("log")));
        for (std::string line; std::getline(text, line);) lines.push_back(line);
        return lines;
    }
};

const BenchShape kForward{Pass::Forward, 64, false, 512, 32, 32};
const BenchShape kBackward{Pass::Backward, 128, true, 1024, 16, 16};
constexpr int kWarmUps = 3, kRuns = 30;  // BenchPolicy's

}  // namespace

TEST_CASE("the dry run names every shape of the bench's schedule for both back ends, with the same FLOPs") {
    const Output output = Script().run(schedule_of(bench_schedule()), {"--dry-run"});
    CHECK(output.status == 0);
    CHECK(output.err.empty());
    std::string expected;
    for (const BenchShape& s : bench_schedule())
        for (const char* back_end : {"torch flash", "torch cudnn"})
            expected += fmt::format("{}: {} fp16 d={} causal={} n={} batch={} heads={} flops={:.0f}\n", back_end,
                                    name(s.pass), s.d, s.causal, s.n, s.batch, s.heads, attention_flops(s));
    CHECK(std::count(expected.begin(), expected.end(), '\n') == 96);
    CHECK(output.out == expected);
}

TEST_CASE("a schedule that is wrong is refused in one line that says where") {
    const Script script;
    const auto changed = [](const auto& change) {
        Json json = schedule_of({kForward, kBackward});
        change(json);
        return io::json_text(json);
    };
    const std::pair<std::string, std::string> rows[] = {
        {"", "not JSON"},
        {"{", "not JSON"},
        {std::string(200000, '['), "not JSON"},
        {"[]", "not a schedule; `flashstep bench --schedule"},
        {changed([](Json& j) { j["format"] = "flashstep device bench"; }), "not a schedule"},
        {changed([](Json& j) { j["version"] = 2; }), "version 2, but this script reads version 1"},
        {changed([](Json& j) { j["version"] = true; }), "version true"},
        {changed([](Json& j) { j["dtype"] = "fp32"; }), "dtype is \"fp32\", but has to be one of fp16, bf16"},
        {changed([](Json& j) { j["dtype"] = Json::array({"fp16"}); }), "dtype is [\"fp16\"], but has to be one of"},
        {changed([](Json& j) { j["dtype"] = Json::object(); }), "dtype is {}, but has to be one of"},
        {changed([](Json& j) { j.erase("shapes"); }), "shapes has to be a list"},
        {changed([](Json& j) { j["shapes"] = Json::array(); }), "shapes has to be a list with a shape in it"},
        {changed([](Json& j) { j["shapes"][1] = 3; }), "shapes[1] is 3, but has to be an object"},
        {changed([](Json& j) { j["shapes"][1].erase("heads"); }), "shapes[1] has no 'heads'"},
        {changed([](Json& j) { j["shapes"][0]["pass"] = "sideways"; }), "shapes[0].pass is \"sideways\""},
        {changed([](Json& j) { j["shapes"][0]["causal"] = 1; }), "shapes[0].causal is 1"},
        {changed([](Json& j) { j["shapes"][1]["n"] = 0; }), "shapes[1].n is 0, but has to be a whole number from 1"},
        {changed([](Json& j) { j["shapes"][1]["d"] = true; }), "shapes[1].d is true"},
        {changed([](Json& j) { j["shapes"][1]["d"] = 64.5; }), "shapes[1].d is 64.5"},
        {changed([](Json& j) { j["shapes"][1]["batch"] = 1 << 21; }), "shapes[1].batch is 2097152"},
        {changed([](Json& j) { j["shapes"][1] = j["shapes"][0]; }), "shapes[1] is shapes[0] again"},
    };
    for (const auto& row : rows) {
        const Output output = script.run_text(row.first, {"--dry-run"});
        CAPTURE(output.err);
        CAPTURE(row.second);
        CHECK(output.status == 2);
        CHECK(output.out.empty());
        CHECK(std::count(output.err.begin(), output.err.end(), '\n') == 1);
        CHECK(output.err.find(row.second) != std::string::npos);
    }
    const Output missing = run_words({"python3", kSource + "/gpu/bench_torch.py", "--schedule", "/nowhere/x.json"});
    CHECK(missing.status == 2);
    CHECK(missing.err.find("cannot read /nowhere/x.json") != std::string::npos);
}

TEST_CASE("without PyTorch, or without a device, it exits 77 with one line") {
    const Script script;
    // A folder on the path whose torch cannot be imported: as if there were none.
    write_text(script.folder.file("torch.py"), "raise ImportError('no such module')\n");
    const std::vector<std::string> path = {"PYTHONPATH=" + script.folder.path()};
    const Output none = script.run(schedule_of({kForward}), {}, path);
    CHECK(none.status == 77);
    CHECK(none.out.empty());
    CHECK(none.err == "bench_torch.py: nothing is measured: PyTorch is not there (no such module)\n");
    CHECK(script.run(schedule_of({kForward}), {"--dry-run"}, path).status == 0);
    const Output no_device = script.run_fake(schedule_of({kForward}), {}, {"FAKE_TORCH_DEVICE=no"});
    CHECK(no_device.status == 77);
    CHECK(no_device.err.find("finds no CUDA device") != std::string::npos);
}

TEST_CASE("a run is timed alone: cache flushed, event, run, event; warm-ups do not count; the median does") {
    const Script script;
    const Output output = script.run_fake(schedule_of({kForward, kBackward}));
    REQUIRE(output.status == 0);
    const Json json = Json::parse(output.out);
    REQUIRE(json["results"].size() == 4);
    CHECK(json["results"][0]["name"] == "torch flash");
    CHECK(json["results"][1]["name"] == "torch cudnn");
    // The stand-in's runs take 10 ms (backward 20), every fifth one and the warm-ups more, the forward before a
    // backward pass and the flushes much more.
    CHECK(json["results"][0]["ms"] == 10.0);
    CHECK(json["results"][0]["repetitions"] == kRuns);
    CHECK(json["results"][2]["ms"] == 20.0);
    CHECK(json["results"][2]["repetitions"] == 15);  // as many as fit into 300 ms
    CHECK(json["results"][3]["skipped"] == "SAMPLE reason; No available kernel. Aborting execution.");

    const std::vector<std::string> log = script.log();
    const std::string run = "forward FLASH_ATTENTION float16 batch=32 heads=32 n=512 d=64 causal=False";
    REQUIRE(log.size() > 1);
    CHECK(log[0] == "seed 1");
    std::size_t at = 1;
    for (int k = 0; k < kWarmUps + kRuns; ++k) {
        int flushes = 0;
        for (; log.at(at).starts_with("flush "); ++at, ++flushes)
            CHECK(std::stoll(log[at].substr(6)) >= 2 * (1LL << 28));  // the stand-in's L2 has 2^28 bytes
        CHECK(flushes > 0);
        CHECK(log.at(at++) == "record");
        CHECK(log.at(at++) == run);
        CHECK(log.at(at++) == "record");
        CHECK(log.at(at++) == "wait");
    }
    // Backward: one forward, outside of every pair of events, then the same order around each backward.
    const auto forward =
        std::ranges::find(log, "forward FLASH_ATTENTION float16 batch=16 heads=16 n=1024 d=128 causal=True");
    REQUIRE(forward != log.end());
    CHECK((forward + 1)->starts_with("flush "));
    int backwards = 0;
    for (auto line = forward; line != log.end(); ++line)
        if (*line == "backward") {
            CHECK(*(line - 1) == "record");
            CHECK(*(line + 1) == "record");
            CHECK((line - 2)->starts_with("flush "));
            ++backwards;
        }
    CHECK(backwards == kWarmUps + 15);
}

TEST_CASE("a warm-up longer than the budget is the only one, and the fewest runs are timed") {
    const Script script;
    const Output output = script.run_fake(schedule_of({kForward}), {}, {"FAKE_TORCH_WARM_UP=long"});
    REQUIRE(output.status == 0);
    const Json json = Json::parse(output.out);
    CHECK(json["results"][0]["repetitions"] == 3);
    CHECK(std::ranges::count_if(script.log(),
                                [](const std::string& line) { return line.starts_with("forward FLASH"); }) == 1 + 3);
}

TEST_CASE("the file says what ran where, and a back end that refuses a shape is skipped with its reason") {
    const Script script;
    BenchShape large{Pass::Forward, 64, false, 16384, 1, 32};
    const std::string path = script.folder.file("peers.json");
    const Output output = script.run_fake(schedule_of({large, kForward}), {"--json", path});
    REQUIRE(output.status == 0);
    CHECK(output.out.empty());
    const Json json = Json::parse(text_of(path));
    CHECK(json["format"] == "flashstep device bench");
    CHECK(json["version"] == 1);
    CHECK(json["source"] == "torch 2.0+sample");
    CHECK(json["device"] == "SAMPLE, not a device");
    CHECK(json["target"] == "sm_90");
    CHECK(json["driver"] == "13.0");
    CHECK(json["date"].get<std::string>().size() == 10);
    CHECK(json["results"][0]["skipped"] == "not enough memory on the device");
    CHECK_FALSE(json["results"][0].contains("ms"));
    Json shape = json["results"][2];
    CHECK(shape["dtype"] == "fp16");
    for (const char* key : {"name", "dtype", "ms", "repetitions"}) shape.erase(key);
    CHECK(shape == shape_json(kForward));
    CHECK(std::ranges::distance(std::filesystem::directory_iterator(script.folder.path())) == 3);  // nothing half-done
}

TEST_CASE("a device that has failed for good ends the run, and nothing is written") {
    const Script script;
    const std::string path = script.folder.file("peers.json");
    const Output output =
        script.run_fake(schedule_of({kForward, kBackward}), {"--json", path}, {"FAKE_TORCH_BREAKS_AT=512"});
    CHECK(output.status == 1);
    CHECK(output.err.find("an illegal memory access was encountered") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a schedule of 20,000 shapes takes no more than seconds, and one that is there twice is found") {
    std::vector<BenchShape> shapes;
    for (int n = 1; n <= 20'000; ++n) shapes.push_back({Pass::Forward, 64, false, n, 1, 1});
    const Script script;
    const auto start = std::chrono::steady_clock::now();
    CHECK(script.run(schedule_of(shapes), {"--dry-run"}).status == 0);
    shapes.push_back(shapes[7]);
    const Output twice = script.run(schedule_of(shapes), {"--dry-run"});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    CHECK(twice.status == 2);
    CHECK(twice.err.find("shapes[20000] is shapes[7] again\n") != std::string::npos);
    CHECK(took.count() < 15);  // comparing each with each takes minutes
}

TEST_CASE("a schedule that is a pipe, a device or a folder is refused and not waited for") {
    const Script script;
    const std::string pipe = script.folder.file("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    for (const std::string& path : {pipe, std::string("/dev/zero"), script.folder.path()}) {
        const Output output =
            run_words({"timeout", "20", "python3", kSource + "/gpu/bench_torch.py", "--dry-run", "--schedule", path});
        CHECK(output.status == 2);
        CHECK(output.err == fmt::format("bench_torch.py: {} is not a regular file; save the schedule to one\n", path));
    }
}

TEST_CASE("a file that cannot be written is one line, before anything is measured") {
    const Script script;
    const std::string folder = script.folder.file("locked");
    REQUIRE(std::filesystem::create_directory(folder));
    const std::pair<std::string, std::string> rows[] = {
        {"/nowhere/peers.json", "cannot write /nowhere/peers.json: there is no folder /nowhere\n"},
        {script.folder.file("schedule.json/x"), "there is no folder"},
        {script.folder.path(), "a folder, not a file\n"},
        {"", "cannot write '': a folder, not a file\n"},
        {folder + "/x.json", "the folder " + folder + " is not writable\n"},
    };
    std::filesystem::permissions(folder, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    for (const auto& row : rows) {
        if (row.first.starts_with(folder) && ::access(folder.c_str(), W_OK) == 0) continue;  // root may write anywhere
        const Output output = script.run_fake(schedule_of({kForward}), {"--json", row.first});
        CAPTURE(output.err);
        CAPTURE(row.second);
        CHECK(output.status == 2);
        CHECK(std::count(output.err.begin(), output.err.end(), '\n') == 1);
        CHECK(output.err.find(row.second) != std::string::npos);
        CHECK(text_of(script.folder.file("log")).empty());  // nothing ran
    }
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
}

TEST_CASE("a full standard output is one line, of the dry run and of the times") {
    const Script script;
    write_text(script.folder.file("schedule.json"), io::json_text(schedule_of({kForward})));
    for (const std::string& options : {std::string("--dry-run"), std::string()}) {
        const Output output =
            run_words({"sh", "-c", "python3 \"$0\" --schedule \"$1\" " + options + " > /dev/full",
                       kSource + "/gpu/bench_torch.py", script.folder.file("schedule.json")},
                      {"PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=" + kSource + "/tests/samples/fake_torch",
                       "FAKE_TORCH_LOG=" + script.folder.file("log")});
        CHECK(output.status == 2);
        CHECK(output.err.ends_with("bench_torch.py: cannot write to standard output: No space left on device\n"));
        CHECK(output.err.find("Traceback") == std::string::npos);
    }
}
