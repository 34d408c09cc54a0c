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

Run run_of(const Preset& preset, std::string_view fault = {}) {
    Run run = make_run(recipe_of(preset, {.fault = fault}));
    run.kernel_run->where = Where::LiveCuda;
    run.kernel_run->device = "SAMPLE, not a Device (1)";
    run.kernel_run->hbm.clear(), run.kernel_run->counters.clear();  // a device counts neither
    return run;
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
        const Run run = run_of(*preset);
        const fs::path path = write_recording(folder.path.string(), *preset, run, "2026-01-31");
        CHECK(path == folder.path / "sample-not-a-device-1" / recording_name(id, preset->kernel));
        const KernelRun back = io::read_kernel_run(path.string());
        CHECK(back.where == Where::Recorded);
        CHECK(back.device == "SAMPLE, not a Device (1)");
        CHECK(back.date == "2026-01-31");
        CHECK(back.kernel == preset->kernel);
        CHECK(back.captured == run.kernel_run->captured);
        CHECK(compare(run.trace, back, {}).verdict == Verdict::Equal);
        CHECK(fs::file_size(path) < 1024 * 1024);  // small enough for the repository
    }
}

TEST_CASE("A run that is no device's, or differs from its mirror, is not recorded") {
    const Folder folder;
    const Preset& preset = *find_preset("n4d3");
    Run host = run_of(preset);
    host.kernel_run->where = Where::Host;
    CHECK_THROWS_WITH_AS(write_recording(folder.path.string(), preset, host, "2026-01-31"),
                         "n4d3: only a run on a GPU can be recorded", Error);
    const Run wrong = run_of(preset, "no-rescale");
    REQUIRE(wrong.comparison->verdict == Verdict::Different);
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
