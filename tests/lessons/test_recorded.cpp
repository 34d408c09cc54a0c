// Recordings: their names, what is embedded, and what a damaged one says. The runs are the executor's; only the format
// is a recording's.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/algorithms.h"
#include "core/compare.h"
#include "core/error.h"
#include "core/io/trace_file.h"
#include "gpu/run.h"
#include "lab/presets.h"
#include "lab/recorded.h"
#include "lessons/lessons.h"
#include "lessons/to_record.h"
#include "tests/program.h"

using namespace flashstep;
using flashstep::testing::text_of;

namespace {

// An executor's run in a recording's format.
std::string executors_bytes(const Preset& preset) {
    KernelRun run =
        gpu::run_kernel(*gpu::find_kernel(preset.kernel), preset.problem, preset.inputs(preset.problem), {});
    run.where = Where::Recorded;
    run.device = "executor in a test";
    run.date = "2000-01-31";
    return io::kernel_run_bytes(run);
}

Recording recording_of(const Preset& preset, std::string_view bytes) {
    return {"executor-in-a-test", preset.id, preset.kernel, bytes};
}

// The bytes of the escapes in C++ text, from the literal that `name` begins with.
std::string literal(const std::string& text, const std::string& name) {
    std::size_t at = text.find(name + "[] = \"");
    if (at == std::string::npos) return "no " + name;
    at = text.find('"', at) + 1;
    std::string bytes;
    for (; text.compare(at, 2, "\\x") == 0; at += 4)
        bytes += static_cast<char>(std::stoi(text.substr(at + 2, 2), nullptr, 16));
    return text[at] == '"' ? bytes : "a literal that does not end";
}

}  // namespace

TEST_CASE("at most eight presets are recorded, each once, each with a kernel that runs it") {
    const auto chosen = presets_to_record();
    CHECK(chosen.size() <= 8);
    CHECK(std::set(chosen.begin(), chosen.end()).size() == chosen.size());
    for (const std::string_view id : chosen) {
        CAPTURE(id);
        const Preset* preset = find_preset(id);
        REQUIRE(preset);
        const gpu::KernelInfo* kernel = gpu::find_kernel(preset->kernel);
        REQUIRE(kernel);
        CHECK_NOTHROW(gpu::check_runnable(*kernel, preset->problem));
    }
}

TEST_CASE("every lesson's preset that has a kernel is recorded") {
    const auto chosen = presets_to_record();
    for (const Lesson& lesson : lessons()) {
        const Preset* preset = lesson.scenes.front().preset;
        if (!preset->kernel.empty()) CHECK_MESSAGE(std::ranges::find(chosen, preset->id) != chosen.end(), lesson.id);
    }
}

TEST_CASE("a recording is named by its preset and its kernel") {
    CHECK(recording_name("n4d3", "fa2_forward_1_tile") == "n4d3.fa2_forward_1_tile.fst");
}

TEST_CASE("every embedded recording can be read, is of a preset and a kernel, and agrees with its mirror") {
    for (const Recording& recording : recordings()) {
        CAPTURE(recording.device);
        CAPTURE(recording.preset);
        const Preset* preset = find_preset(recording.preset);
        REQUIRE(preset);
        const gpu::KernelInfo* kernel = gpu::find_kernel(recording.kernel);
        REQUIRE(kernel);
        const KernelRun run = read_recording(recording);
        const Trace trace =
            record(*find_algorithm(kernel->algorithm), preset->problem, preset->inputs(preset->problem));
        const auto expected = kernel->bytes_equal_mirror ? bytes_of(trace) : gpu::own_bytes(*kernel, preset->problem);
        CHECK(compare(trace, run, expected).verdict == Verdict::Equal);
    }
}

TEST_CASE("an executor's run in a recording's format is read back as it was") {
    const Preset& preset = *find_preset("n4d3");
    const std::string bytes = executors_bytes(preset);
    const KernelRun run = read_recording(recording_of(preset, bytes));
    CHECK(run.device == "executor in a test");
    CHECK(run.date == "2000-01-31");
    CHECK(run.captured.size() > 10);
}

TEST_CASE("a recording that is cut or altered anywhere is an error that names its file") {
    const Preset& preset = *find_preset("n4d3");
    const std::string bytes = executors_bytes(preset);
    const auto refused = [&](const std::string& damaged) {
        try {
            read_recording(recording_of(preset, damaged));
            return false;
        } catch (const Error& error) {
            return std::string_view(error.what()).find("executor-in-a-test/n4d3.fa2_forward_1_tile.fst") !=
                   std::string_view::npos;
        }
    };
    for (std::size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 97)
        CHECK(refused(bytes.substr(0, length)));
    for (std::size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 97) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        CAPTURE(at);
        CHECK(refused(damaged));
    }
    CHECK_FALSE(refused(bytes));
}

TEST_CASE("a recording says what it is: another kernel's, not recorded, of no device or day are refused") {
    const Preset& preset = *find_preset("n4d3");
    const KernelRun good = read_recording(recording_of(preset, executors_bytes(preset)));
    const auto message = [&](const KernelRun& run) -> std::string {
        try {
            read_recording(recording_of(preset, io::kernel_run_bytes(run)));
        } catch (const Error& error) { return error.what(); }
        return {};
    };
    CHECK(message(good) == "");
    KernelRun run = good;
    run.kernel = "fa2_forward_2_warps";
    CHECK(message(run).find("says fa2_forward_1_tile, but it holds a run of fa2_forward_2_warps") != std::string::npos);
    run = good, run.where = Where::Host;
    CHECK(message(run).find("not marked as recorded") != std::string::npos);
    run = good, run.device.clear();
    CHECK(message(run).find("on which device and day") != std::string::npos);
    run = good, run.date.clear();
    CHECK(message(run).find("on which device and day") != std::string::npos);
}

TEST_CASE("the embedding holds every byte of its files, in order, and refuses a name that is none") {
    const flashstep::testing::TemporaryFolder folder;
    std::string every;
    for (int k = 0; k < 1024; ++k) every += static_cast<char>(k % 256 ^ k / 256);
    const std::string device = folder.file("some-gpu"), list = folder.file("list.txt"), out = folder.file("out.cpp");
    REQUIRE(std::filesystem::create_directory(device));
    std::ofstream(device + "/n4d3.a_kernel.fst", std::ios::binary) << every;
    std::ofstream(device + "/n64.a_kernel.fst", std::ios::binary);
    std::ofstream(list) << device << "/n4d3.a_kernel.fst\n" << device << "/n64.a_kernel.fst\n";
    const std::string script = FLASHSTEP_SOURCE_DIR "/cmake/embed_recordings.cmake";
    const auto embed = [&] {
        return std::system(("cmake '-DOUTPUT=" + out + "' '-DLIST=" + list + "' -P " + script + " > " +
                            folder.file("log.txt") + " 2>&1")
                               .c_str());
    };
    const auto log = [&] {  // CMake breaks its messages into lines
        std::istringstream text(text_of(folder.file("log.txt")));
        std::string words;
        for (std::string word; text >> word;) words += (words.empty() ? "" : " ") + word;
        return words;
    };
    REQUIRE(embed() == 0);
    const std::string written = text_of(out);
    CHECK(literal(written, "kBytes0") == every);
    CHECK(literal(written, "kBytes1") == "");
    CHECK(written.find("Recording{\"some-gpu\", \"n4d3\", \"a_kernel\", {kBytes0, sizeof(kBytes0) - 1}}") !=
          std::string::npos);
    CHECK(written.find("Recording{\"some-gpu\", \"n64\", \"a_kernel\", {kBytes1, sizeof(kBytes1) - 1}}") !=
          std::string::npos);

    std::ofstream(list) << device << "/no_kernel.fst\n";
    CHECK(embed() != 0);
    CHECK(log().find("<device>/<preset>.<kernel>.fst") != std::string::npos);
    std::ofstream(list) << device << "/large.a_kernel.fst\n";
    std::ofstream(device + "/large.a_kernel.fst", std::ios::binary) << std::string(1048577, 'x');
    CHECK(embed() != 0);
    CHECK(log().find("/large.a_kernel.fst: 1048577 bytes, but the limit is 1048576") != std::string::npos);
    std::filesystem::resize_file(device + "/large.a_kernel.fst", 1048576);
    CHECK(embed() == 0);
    std::ofstream(list) << device << "/folder.a_kernel.fst\n";
    REQUIRE(std::filesystem::create_directory(device + "/folder.a_kernel.fst"));
    CHECK(embed() != 0);
    CHECK(log().find("/folder.a_kernel.fst: a folder, but a recording is a file") != std::string::npos);
    std::ofstream(list) << "\n";  // none at all
    CHECK(embed() == 0);
    CHECK(text_of(out).find("std::array<Recording, 0>") != std::string::npos);
}
