// gpu/check.sh and the program it carries to machines with a GPU: what the script does in which order, on a stand-in
// for flashstep; and that flashstep_prebuilt needs nothing but libc.
#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>

#include "gpu/run.h"
#include "tests/program.h"

namespace flashstep::testing {

namespace {

namespace fs = std::filesystem;

constexpr const char* kScript = FLASHSTEP_SOURCE_DIR "/gpu/check.sh";
constexpr const char* kFake = FLASHSTEP_SOURCE_DIR "/tests/samples/fake_flashstep.sh";
const fs::path kPrebuilt = fs::path(FLASHSTEP_BINARY).parent_path() / "flashstep_prebuilt";

void write_script(const std::string& path, const std::string& body) {
    write_text(path, "#!/bin/sh\n" + body);
    fs::permissions(path, fs::perms::owner_all);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

// A run of the script with the stand-in, a compute-sanitizer that runs what it is given, and a python3 without torch.
struct Stage {
    explicit Stage(std::vector<std::string> more = {}, std::vector<std::string> environment = {}) {
        fs::create_directory(folder.file("bin"));
        write_script(folder.file("bin/compute-sanitizer"),
                     "echo \"compute-sanitizer $2\" >>\"$FAKE_LOG\"\nshift 4\nexec \"$@\"\n");
        write_script(folder.file("bin/python3"), "exit 1\n");
        std::vector<std::string> words{kScript, "--prebuilt", kFake, "--out", folder.file("out")};
        words.insert(words.end(), more.begin(), more.end());
        environment.push_back("FAKE_LOG=" + folder.file("log"));
        environment.push_back("PATH=" + folder.file("bin") + ":" + std::getenv("PATH"));
        output = run_words(words, environment);
        calls = lines_of(text_of(folder.file("log")));
    }
    std::string out(const std::string& name) const { return folder.file("out/" + name); }
    bool called(const std::string& start) const {
        for (const std::string& call : calls)
            if (call.starts_with(start)) return true;
        return false;
    }
    TemporaryFolder folder;
    Output output;
    std::vector<std::string> calls;
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("gpu/check.sh runs table, sanitizers, recordings, bench and table writer, in this order") {
    const Stage stage;
    CAPTURE(stage.output.err);
    CHECK(stage.output.status == 0);
    const std::vector<std::string> expected{
        "device --json",
        "check all --on cuda",
        "check all --dtype bf16 --on cuda",
        "compute-sanitizer memcheck",
        "check all --on cuda",
        "compute-sanitizer racecheck",
        "check all --on cuda",
        "compute-sanitizer synccheck",
        "check all --on cuda",
        "record --out " + stage.out("lessons/recorded"),
        "bench --device --json=" + stage.out("gpu/measured/sample-device.json"),
        "bench-table " + stage.out("gpu/measured/sample-device.json") + " --into " + stage.out("README.md"),
    };
    CHECK(stage.calls == expected);
    CHECK(contains(stage.output.err, "on SAMPLE Device"));
    CHECK(contains(stage.output.err, "left out PyTorch"));
    CHECK_FALSE(contains(stage.output.err, "FAILED"));
    // The table goes into a copy of the README where results go elsewhere.
    CHECK(text_of(stage.out("README.md")) == text_of(FLASHSTEP_SOURCE_DIR "/README.md"));
}

TEST_CASE("Where something fails gpu/check.sh does the rest, says what failed, and exits with 1") {
    const Stage stage({}, {"FAKE_FAILS=check"});
    CAPTURE(stage.output.err);
    CHECK(stage.output.status == 1);
    CHECK(stage.called("record"));
    CHECK(stage.called("bench --device"));
    CHECK(contains(stage.output.err, "FAILED  table of shapes: status 1"));
    CHECK(contains(stage.output.err, "FAILED  sanitizer racecheck: status 1"));
    CHECK(contains(stage.output.err, "done    recordings"));
    CHECK(contains(stage.output.err, "the README stays as it is"));
    for (const std::string& call : stage.calls) CHECK_FALSE(contains(call, "--into"));
}

TEST_CASE("Without times there is no table") {
    const Stage stage({"--parts", "bench"}, {"FAKE_FAILS=bench"});
    CHECK(stage.output.status == 1);
    CHECK_FALSE(stage.called("bench-table"));
    CHECK_FALSE(fs::exists(stage.out("README.md")));
    CHECK_FALSE(stage.called("check"));
    CHECK_FALSE(stage.called("record"));
}

TEST_CASE("gpu/check.sh refuses a program that is no flashstep, and a place that is no folder") {
    const TemporaryFolder folder;
    write_text(folder.file("file"), "text");
    const std::vector<std::vector<std::string>> wrong{{"--prebuilt", "/bin/true"},
                                                      {"--prebuilt", folder.file("file")},
                                                      {"--prebuilt", kFake, "--out", folder.file("file")}};
    for (const std::vector<std::string>& words : wrong) {
        CAPTURE(words.back());
        std::vector<std::string> call{kScript};
        call.insert(call.end(), words.begin(), words.end());
        const Output output = run_words(call, {"FAKE_LOG=" + folder.file("log")});
        CHECK(output.status == 2);
        CHECK(contains(output.err, "gpu/check.sh: "));
    }
}

TEST_CASE("Without a device gpu/check.sh says so, runs nothing and exits with 77") {
    const Stage stage({}, {"FAKE_NO_DEVICE=1"});
    CHECK(stage.output.status == 77);
    CHECK(contains(stage.output.err, "no CUDA device here, nothing was run: no CUDA device: made up"));
    for (const std::string& call : stage.calls) CHECK(call.starts_with("device"));
    CHECK_FALSE(fs::exists(stage.out("gpu")));
}

TEST_CASE("gpu/check.sh refuses what it does not know before it does anything") {
    for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{{"--parts", "check,sing"},
                                                                                       {"--parts", ","},
                                                                                       {"--parts", "check bench"},
                                                                                       {"--parts", "*"},
                                                                                       {"--fast"},
                                                                                       {"--out"},
                                                                                       {"--prebuilt", "/no/such/file"},
                                                                                       {"--build"}}) {
        CAPTURE(wrong.front());
        const Stage stage(wrong);
        CHECK(stage.output.status == 2);
        CHECK(contains(stage.output.err, "gpu/check.sh: "));
        CHECK(stage.calls.empty());
    }
}

#ifndef __SANITIZE_ADDRESS__  // a sanitizer's build makes no such program

TEST_CASE("flashstep_prebuilt needs only libc, takes at most 40 MiB, and runs") {
    REQUIRE(fs::exists(kPrebuilt));
    CHECK(fs::file_size(kPrebuilt) <= 40 * 1024 * 1024);
    const Output elf = run_words({"readelf", "-d", kPrebuilt.string()});
    REQUIRE(elf.status == 0);
    int needed = 0;
    for (const std::string& line : lines_of(elf.out)) {
        if (!contains(line, "(NEEDED)")) continue;
        ++needed;
        CAPTURE(line);
        bool of_libc = false;
        for (const char* library : {"libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux"})
            of_libc = of_libc || contains(line, std::string("[") + library);
        CHECK(of_libc);
    }
    CHECK(needed > 0);
    CHECK(contains(run_words({kPrebuilt.string(), "list"}).out, "fa2_forward_7_registers"));
    const Output check = run_words({kPrebuilt.string(), "check", "fa2_forward_1_tile"});
    CHECK(check.status == 0);
}

TEST_CASE("gpu/check.sh --prebuilt with the real program exits with 77 where there is no device") {
    if (gpu::device_status().available) return;
    const TemporaryFolder folder;
    const Output output = run_words({kScript, "--prebuilt", kPrebuilt.string(), "--out", folder.file("out")});
    CHECK(output.status == 77);
    CHECK(contains(output.err, "no CUDA device here"));
}

#endif

}  // namespace flashstep::testing
