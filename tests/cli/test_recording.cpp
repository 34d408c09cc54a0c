// What `flashstep record` keeps, and what it refuses. The runs are the executor's, marked as a made-up device's: there
// may be no GPU where the tests run.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "core/io/file.h"
#include "core/io/trace_file.h"
#include "lab/recorded.h"
#include "lessons/to_record.h"
#include "tests/program.h"
#include "cli/recording.h"

namespace flashstep::cli {

namespace {

namespace fs = std::filesystem;

struct Folder {
    Folder() : path(fs::temp_directory_path() / ("flashstep_recording_" + std::to_string(getpid()))) {}
    ~Folder() { fs::remove_all(path); }
    const fs::path path;
};

CheckedRun run_of(const Preset& preset, const Fault* fault = nullptr) {
    const Request request{preset.problem, preset_inputs(preset, preset.problem), {}};
    CheckedRun checked = run_checked(kernel_named(std::string(preset.kernel)), request, {}, fault);
    checked.run.where = Where::LiveCuda;
    checked.run.device = "SAMPLE, not a Device (1)";
    checked.run.hbm.clear(), checked.run.counters.clear();  // a device counts neither
    return checked;
}

}  // namespace

TEST_CASE("A device's name becomes a folder's name") {
    CHECK(device_folder("NVIDIA H200") == "nvidia-h200");
    CHECK(device_folder("NVIDIA A100-SXM4-80GB") == "nvidia-a100-sxm4-80gb");
    CHECK(device_folder("  ../RTX 4090 (Ti)/ ") == "rtx-4090-ti");
    CHECK_THROWS_AS(device_folder("../.."), Error);
    CHECK_THROWS_AS(device_folder(""), Error);
}

TEST_CASE("Every preset that is recorded is written, and read back with device and date") {
    const Folder folder;
    REQUIRE(!presets_to_record().empty());
    CHECK(presets_to_record().size() <= 8);
    for (const std::string_view id : presets_to_record()) {
        CAPTURE(id);
        const Preset* preset = find_preset(id);
        REQUIRE(preset);
        const CheckedRun checked = run_of(*preset);
        const fs::path path = write_recording(folder.path.string(), *preset, checked, "2026-01-31");
        CHECK(path == folder.path / "sample-not-a-device-1" / recording_name(id, preset->kernel));
        const KernelRun back = io::read_kernel_run(path.string());
        CHECK(back.where == Where::Recorded);
        CHECK(back.device == "SAMPLE, not a Device (1)");
        CHECK(back.date == "2026-01-31");
        CHECK(back.kernel == preset->kernel);
        CHECK(back.captured == checked.run.captured);
        CHECK(compare(checked.mirror, back, {}).verdict == Verdict::Equal);
        CHECK(fs::file_size(path) < 1024 * 1024);  // small enough for the repository
    }
}

TEST_CASE("A run that is no device's, or differs from its mirror, is not recorded") {
    const Folder folder;
    const Preset& preset = *find_preset("n4d3");
    CheckedRun host = run_of(preset);
    host.run.where = Where::Host;
    CHECK_THROWS_WITH_AS(write_recording(folder.path.string(), preset, host, "2026-01-31"),
                         "n4d3: only a run on a GPU can be recorded", Error);
    const CheckedRun wrong = run_of(preset, find_fault("no-rescale"));
    REQUIRE(wrong.comparison.verdict == Verdict::Different);
    CHECK_THROWS_AS(write_recording(folder.path.string(), preset, wrong, "2026-01-31"), Error);
    CHECK_FALSE(fs::exists(folder.path));
}

TEST_CASE("A recording that cannot be written is an error that names the place") {
    const Folder folder;
    io::write_file(folder.path.string(), "a file where a folder is needed");
    const Preset& preset = *find_preset("n4d3");
    CHECK_THROWS_AS(write_recording(folder.path.string(), preset, run_of(preset), "2026-01-31"), Error);
}

}  // namespace flashstep::cli
