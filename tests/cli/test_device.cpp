// The commands that want a GPU, on machines with and without: wrong use is found on both, and nothing is measured on
// the latter. And the architecture that the executor stands for.
#include <doctest/doctest.h>

#include "core/io/json.h"
#include "gpu/run.h"
#include "tests/program.h"

namespace flashstep::testing {

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void refused(const std::vector<std::string>& arguments, std::string_view why) {
    const Output output = run_program(arguments);
    CAPTURE(output.err);
    CHECK(output.status == 2);
    CHECK(contains(output.err, why));
    CHECK(output.out.empty());
}

}  // namespace

TEST_CASE("Wrong use of the device bench is refused whether there is a device or not") {
    refused({"bench", "--device", "--kernel", "nosuch"}, "unknown kernel 'nosuch'");
    refused({"bench", "--device", "--kernel", "softmax_1_naive"}, "softmax_1_naive is no attention kernel");
    refused({"bench", "--device", "--shape", "48"}, "--shape is 48, but has to be a whole number from 0 to 47");
    refused({"bench", "--device", "--shape", "0", "--kernel", "fa2_backward_3_mma"}, "shape 0 is a forward pass");
    refused({"bench", "--kernel", "fa2_forward_1_tile"}, "--kernel and --shape go with --device");
    refused({"bench", "--device", "--schedule"}, "exclude each other");
    refused({"bench", "--schedule"}, "add --json");
    refused({"bench", "--device", "--json=/no/such/folder/x.json"}, "/no/such/folder/x.json");
}

TEST_CASE("Where no file can be written JSON still goes to standard output and to a device, and a file is refused") {
    const TemporaryFolder folder;
    const auto in_root_folder = [&](const std::string& option) {
        return run_as_nobody(folder, "/", {"bench", "--schedule", option});
    };
    const Output page = in_root_folder("--json");
    CAPTURE(page.err);
    CHECK(page.status == 0);
    CHECK(contains(page.out, "flashstep device bench schedule"));
    CHECK(in_root_folder("--json=/dev/null").status == 0);
    const Output refused_there = in_root_folder("--json=x.json");
    CHECK(refused_there.status == 2);
    CHECK(contains(refused_there.err, "cannot write 'x.json'"));
}

TEST_CASE("The schedule is JSON with the 48 shapes of the bench") {
    const Output output = run_program({"bench", "--schedule", "--json"});
    CHECK(output.status == 0);
    const auto json = io::Json::parse(output.out);
    CHECK(json["format"] == "flashstep device bench schedule");
    CHECK(json["shapes"].size() == 48);
    CHECK(json["shapes"][5]["n"] == 16384);
    CHECK(json["shapes"][47]["pass"] == "backward");
}

TEST_CASE("Without a device bench, record and check --on cuda exit with 77 and say why") {
    if (gpu::device_status().available) return;
    const TemporaryFolder folder;
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"bench", "--device", "--json=" + folder.file("x.json")},
                                               {"record", "--out", folder.file("recorded")},
                                               {"check", "all", "--dtype", "bf16", "--on", "cuda"}}) {
        const Output output = run_program(words);
        CAPTURE(words.front());
        CHECK(output.status == 77);
        CHECK(contains(output.err, gpu::device_status().message.en.substr(0, 20)));
    }
    CHECK_FALSE(std::filesystem::exists(folder.file("x.json")));
    CHECK_FALSE(std::filesystem::exists(folder.file("recorded")));
}

TEST_CASE("check --target: the executor stands for an older architecture, with its kernels and its shared memory") {
    refused({"check", "fa2_forward_5_cp_async", "--target", "75"},
            "fa2_forward_5_cp_async runs on sm_80, sm_86, sm_89, sm_90, sm_100, sm_120 with fp16, not on sm_75");
    refused({"check", "fa2_forward_4_swizzle", "--target", "75", "--dtype", "bf16"}, "with bf16, not on sm_75");
    refused({"check", "all", "--target", "12"}, "unknown target sm_12");
    refused({"check", "all", "--target", "75a"}, "unknown target sm_75a");
    refused({"check", "all", "--target", "90b"}, "unknown target sm_90b");
    refused({"check", "all", "--target", "a"}, "--target");
    refused({"check", "fa2_forward_4_swizzle", "--target", "90aa"}, "--target");
    const Output variant = run_program({"check", "fa2_forward_1_tile", "--target", "90a"});  // does what sm_90 does
    CHECK(variant.status == 0);
    CHECK(contains(variant.out, "fa2_forward_1_tile: equal"));
    refused({"check", "all", "--target", "75", "--on", "cuda"}, "a GPU has its own");
    const Output runs =
        run_program({"check", "fa2_forward_4_swizzle", "--target", "75", "--n", "65", "--d", "40", "--causal"});
    CHECK(runs.status == 0);
    CHECK(contains(runs.out, "fa2_forward_4_swizzle: equal"));
    // 4 x 128 x 128 floats and more: within sm_90's shared memory, over sm_75's.
    const std::vector<std::string> large{"check", "fa2_forward_1_tile", "--n", "64", "--d", "128", "--br", "64", "--bc",
                                         "64"};
    std::vector<std::string> on_75 = large;
    on_75.insert(on_75.end(), {"--target", "75"});
    CHECK(run_program(large).status == 0);
    const Output refused_there = run_program(on_75);
    CHECK(refused_there.status == 1);
    CHECK(contains(refused_there.out + refused_there.err, "65536"));
}

}  // namespace flashstep::testing
