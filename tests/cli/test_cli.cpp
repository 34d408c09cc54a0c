// The program's commands: what they print, their JSON, their exit status.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "core/algorithms.h"
#include "core/faults.h"
#include "core/io/json.h"
#include "gpu/check_table.h"
#include "gpu/run.h"
#include "lab/presets.h"
#include "lessons/lessons.h"
#include "tests/program.h"

using namespace flashstep;
using flashstep::io::Json;
using flashstep::testing::run_program;

namespace {

using Words = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Runs a command that has to end well, with nothing but JSON on standard output.
Json json_of(const Words& words) {
    const auto output = run_program(words);
    CAPTURE(output.err);
    CHECK(output.status == 0);
    return Json::parse(output.out);
}

std::vector<std::string> ids_of(const Json& rows) {
    std::vector<std::string> ids;
    for (const Json& row : rows) ids.push_back(row.at("id"));
    return ids;
}

template <typename Rows>
std::vector<std::string> ids_in(const Rows& rows) {
    std::vector<std::string> ids;
    for (const auto& row : rows) ids.emplace_back(row.id);
    return ids;
}

}  // namespace

TEST_CASE("list names every row of every registry") {
    const Json list = json_of({"list", "--json"});
    CHECK(ids_of(list.at("algorithms")) == ids_in(algorithms()));
    CHECK(ids_of(list.at("kernels")) == ids_in(gpu::kernels()));
    CHECK(ids_of(list.at("presets")) == ids_in(presets()));
    CHECK(ids_of(list.at("lessons")) == ids_in(lessons()));
    CHECK(ids_of(list.at("faults")) == ids_in(faults()));
    for (const Json& kernel : list.at("kernels")) {
        CHECK(find_algorithm(kernel.at("algorithm").get<std::string>()) != nullptr);
        CHECK(!kernel.at("dtypes").empty());
        CHECK((kernel.at("d") == "any" || kernel.at("d").is_array()));
        const gpu::KernelInfo& info = *gpu::find_kernel(kernel.at("id").get<std::string>());
        CHECK(kernel.at("targets").size() == info.dtypes.size());
        for (DType dtype : info.dtypes)
            for (std::size_t k = 0; k < gpu::targets_of(info, dtype).size(); ++k) {
                const Json& said = kernel.at("targets").at(std::string(name(dtype))).at(k);
                CHECK((said.is_string() ? said.get<std::string>() : said.dump()) ==
                      gpu::text(gpu::targets_of(info, dtype)[k]));
            }
    }
    const auto page = run_program({"list"});
    CHECK(page.status == 0);
    for (const auto& algorithm : algorithms()) CHECK(contains(page.out, std::string(algorithm.id)));
    CHECK(contains(page.out, "fp16 on sm_75, sm_80"));
    CHECK(contains(page.out, "bf16 on sm_80"));
}

TEST_CASE("count prints the documented keys and the numbers of the library") {
    for (const Algorithm& algorithm : algorithms()) {
        Problem p;
        p.n = 100, p.nk = 70, p.d = 16, p.dv = 8, p.br = 32, p.bc = 16, p.causal = true;
        p.batch = 2, p.heads = 4, p.kv_heads = 2, p.dtype = DType::Fp16, p.scale = 0.25;
        const Counts expected = count(algorithm, p);
        const Json json = json_of({"count",      std::string(algorithm.id),
                                   "--json",     "--n",
                                   "100",        "--nk",
                                   "70",         "--d",
                                   "16",         "--dv",
                                   "8",          "--br",
                                   "32",         "--bc",
                                   "16",         "--causal",
                                   "--batch",    "2",
                                   "--heads",    "4",
                                   "--kv-heads", "2",
                                   "--dtype",    "fp16"});
        CHECK(json.at("hbm").at("read") == expected.traffic.hbm_read);
        CHECK(json.at("hbm").at("write") == expected.traffic.hbm_write);
        CHECK(json.at("hbm").at("init") == expected.traffic.hbm_init);
        CHECK(json.at("hbm").at("by_tensor").size() == expected.hbm.size());
        for (const auto& [tensor, bytes] : expected.hbm) {
            const Json& own = json.at("hbm").at("by_tensor").at(tensor);
            CHECK((own.at("read") == bytes.read && own.at("write") == bytes.write && own.at("init") == bytes.init));
        }
        CHECK(json.at("flops").at("matmul") == expected.traffic.flops_matmul);
        CHECK(json.at("flops").at("other") == expected.traffic.flops_other);
        CHECK(json.at("flops").at("exp") == expected.traffic.flops_exp);
        CHECK(json.at("memory").at("inputs") == expected.memory.inputs);
        CHECK(json.at("memory").at("outputs") == expected.memory.outputs);
        CHECK(json.at("memory").at("extra") == expected.memory.extra);
        CHECK(json.at("steps") == expected.steps);
        CHECK(json.at("sram").at("peak").is_null() == !expected.sram_modelled);
        if (expected.sram_modelled) CHECK(json.at("sram").at("peak") == expected.sram_peak);
        const auto page = run_program({"count", std::string(algorithm.id)});
        CHECK((page.status == 0 && contains(page.out, "HBM bytes") && contains(page.out, "FLOPs")));
    }
}

TEST_CASE("count's defaults are those of the documentation") {
    const Words spelled = {"count",   "fa2_forward", "--json", "--n",     "4",      "--nk",       "4",
                           "--d",     "3",           "--dv",   "3",       "--br",   "2",          "--bc",
                           "2",       "--batch",     "1",      "--heads", "1",      "--kv-heads", "1",
                           "--dtype", "fp32",        "--seed", "1",       "--sram", "0",          "--no-causal"};
    CHECK(json_of({"count", "fa2_forward", "--json"}) == json_of(spelled));
    CHECK(json_of({"count", "fa2_forward", "--json", "--n", "7", "--d", "5"}) ==
          json_of({"count", "fa2_forward", "--json", "--n", "7", "--nk", "7", "--d", "5", "--dv", "5"}));
    const Json problem = json_of({"trace", "fa2_forward", "--json", "--d", "16"}).at("problem");
    CHECK((problem.at("scale") == 0.25 && problem.at("dv") == 16 && problem.at("kv_heads") == 1));
}

TEST_CASE("a capacity picks the blocks by the papers' rule, and an overflow names the line and what fits") {
    const Json json = json_of({"trace", "fa2_forward", "--json", "--n", "8", "--d", "4", "--sram", "1024"});
    CHECK((json.at("problem").at("bc") == 16 && json.at("problem").at("br") == 4));  // M = 256 elements
    const auto over = run_program({"count", "fa2_forward", "--n", "256", "--d", "64", "--sram", "49152"});
    CHECK(over.status == 2);
    CHECK(contains(over.err, "SRAM overflow"));
    CHECK(contains(over.err, "of 49152 bytes"));
    CHECK(contains(over.err, "the largest square block that fits"));
}

TEST_CASE("trace prints every step with line, loops, values and bytes so far") {
    const auto page = run_program({"trace", "fa2_forward", "--preset", "n4d3"});
    CHECK((page.status == 0 && page.err.empty()));
    for (const char* part : {"step 1  line 3  i=1  |", "step 12  line 9  i=1 j=2  |", "S_ij (2 x 2)",
                             "HBM so far: 120 bytes read, 0 written", "load   Q block 1 -> Q_i, 24 bytes",
                             "store  O_i -> O block 2, 24 bytes"})
        CHECK_MESSAGE(contains(page.out, part), part);
    const Json json = json_of({"trace", "fa2_forward", "--preset", "n4d3", "--json"});
    const std::size_t last = json.at("steps").size() - 1;
    CHECK(contains(page.out, "step " + std::to_string(last) + "  line 15  i=2"));
    CHECK_FALSE(contains(page.out, "step " + std::to_string(last + 1) + " "));
}

TEST_CASE("trace JSON holds every step, counts from 0, and goes to a file when asked") {
    const Json json = json_of({"trace", "fa2_forward", "--preset", "n4d3", "--json"});
    CHECK(json.at("algorithm") == "fa2_forward");
    const Json& steps = json.at("steps");
    CHECK(steps.at(0).at("line") == 0);
    CHECK(steps.at(0).at("writes").size() == 6);  // two blocks each of Q, K, V
    CHECK(steps.at(1).at("i0") == 0);
    CHECK(steps.at(1).at("j0").is_null());
    for (std::size_t k = 0; k < steps.size(); ++k) CHECK(steps.at(k).at("step") == k);
    const Json fill = steps.at(3);  // m_i starts at -inf
    CHECK(fill.at("line") == 5);
    CHECK(fill.at("writes").at(2).at("values") == Json::parse(R"([["-inf"],["-inf"]])"));
    const Json totals = steps.back().at("total");
    const Json counted = json_of({"count", "fa2_forward", "--preset", "n4d3", "--json"});
    CHECK(totals.at("hbm").at("read") == counted.at("hbm").at("read"));
    CHECK(totals.at("flops") == counted.at("flops"));

    const flashstep::testing::TemporaryFolder folder;
    const auto output = run_program({"trace", "fa2_forward", "--preset", "n4d3", "--json=" + folder.file("t.json")});
    CHECK((output.status == 0 && output.out.empty()));
    CHECK(Json::parse(flashstep::testing::text_of(folder.file("t.json"))) == json);
}

TEST_CASE("a softmax walk-through shows one row") {
    for (const char* id : {"safe_softmax", "online_softmax"}) {
        const auto page = run_program({"trace", id});
        CHECK(page.status == 0);
        CHECK(contains(page.out, "  i=1"));
        CHECK_FALSE(contains(page.out, "  i=2"));
        CHECK(contains(page.out, "That was row 1 of 4"));
    }
}

TEST_CASE("without a display the program prints the first walk-through beside the kernel's values") {
    const auto page = run_program({});
    CHECK(page.status == 0);
    for (const char* part : {"FlashAttention-2 forward", "N=4 Nk=4 d=3", "fa2_forward_1_tile on this CPU", "kernel",
                             "difference", "step 12  line 9  i=1 j=2", "HBM so far", "Kernel: equal"})
        CHECK_MESSAGE(contains(page.out, part), part);
    CHECK(contains(page.err, "window"));
}

// The whole table takes a sanitizer's build ten minutes; there the tests of the kernels run what is in it.
#ifndef __SANITIZE_ADDRESS__

TEST_CASE("check all runs every kernel on every shape of the table") {
    const Json json = json_of({"check", "all", "--json"});
    CHECK(json.at("equal") == true);
    CHECK(json.at("kernels").size() + json.at("left_out").size() == gpu::kernels().size() * gpu::check_table().size());
    for (const Json& kernel : json.at("kernels")) {
        CAPTURE(kernel.at("kernel").get<std::string>());
        CHECK(kernel.at("verdict") == "equal");
        CHECK(kernel.at("on") == "host");
        CHECK(kernel.at("first").is_null());
        CHECK(kernel.at("bytes_equal") == true);
        CHECK(!kernel.at("tensors").empty());
    }
}

TEST_CASE("bench ends well") {
    const Json bench = json_of({"bench", "--runs", "1", "--json"});
    CHECK(bench.at("measures").size() >= 7 + algorithms().size());
    for (const Json& measure : bench.at("measures")) CHECK(measure.at("value").get<double>() > 0);
    CHECK(bench.at("count_growth").size() == 7);
    for (const Json& row : bench.at("count_growth")) {
        const auto blocks = row.at("n").get<std::int64_t>() / 128;
        CHECK(row.at("tile_steps").get<std::int64_t>() == blocks * blocks);
        CHECK(row.at("ns_per_tile_step").get<double>() > 0);
    }
}

#endif

TEST_CASE("check runs every kernel equal to its mirror on the host") {
    for (const gpu::KernelInfo& kernel : gpu::kernels()) {
        const auto page = run_program({"check", std::string(kernel.id)});
        CHECK(page.status == 0);
        CHECK(contains(page.out, std::string(kernel.id) + ": equal"));
        CHECK(contains(page.out, "on this CPU"));
    }
    const auto ragged = run_program({"check", "fa2_forward_1_tile", "--n", "7", "--nk", "5", "--d", "4", "--dv", "2",
                                     "--br", "3", "--bc", "4", "--causal"});
    CHECK(ragged.status == 0);
}

TEST_CASE("check leaves out of all what a kernel cannot run, and refuses it by name") {
    const auto all = run_program({"check", "all", "--n", "300", "--br", "300", "--bc", "300", "--d", "64", "--json"});
    CHECK(all.status == 0);
    const Json json = Json::parse(all.out);
    for (const Json& row : json.at("left_out"))
        CHECK(contains(all.err, row.at("kernel").get<std::string>() + " is left out"));
    CHECK(json.at("kernels").size() + json.at("left_out").size() == gpu::kernels().size());
    CHECK(!json.at("left_out").empty());
    CHECK(!json.at("kernels").empty());
    const auto none = run_program({"check", "all", "--dtype", "bf16", "--d", "200"});
    CHECK((none.status == 2 && contains(none.err, "no kernel can run this problem") && none.out.empty()));
    const auto one = run_program({"check", "fa2_forward_1_tile", "--dtype", "bf16"});
    CHECK((one.status == 2 && contains(one.err, "fp32") && one.out.empty()));
}

TEST_CASE("check on a GPU exits 77 where there is none") {
    if (gpu::device_status().available) return;
    const auto output = run_program({"check", "all", "--on", "cuda", "--json"});
    CHECK(output.status == 77);
    CHECK(output.out.empty());
    CHECK(contains(output.err, "--on cuda"));
    const auto one = run_program({"check", "fa2_forward_1_tile", "--on", "cuda"});
    CHECK((one.status == 77 && one.out.empty() && contains(one.err, gpu::device_status().message.en)));
    const auto device = run_program({"device"});
    CHECK((device.status == 77 && contains(device.out, gpu::device_status().message.en)));
    const auto keys = run_program({"device", "--json"});
    CHECK((keys.status == 77 && Json::parse(keys.out).at("available") == false));
    for (const char* key : {"name", "target", "driver", "runtime", "memory_bytes", "message"})
        CHECK(Json::parse(keys.out).contains(key));
    // Wrong use is wrong use on every machine.
    CHECK(run_program({"check", "all", "--on", "cuda", "--n", "0"}).status == 2);
}

TEST_CASE("help ends well") {
    for (const Words& words : {Words{"--help"}, {"trace", "--help"}, {"check", "-h"}}) {
        const auto help = run_program(words);
        CHECK((help.status == 0 && contains(help.out, "Usage") && help.err.empty()));
    }
}

TEST_CASE("output that cannot be written is an error, not silence") {
    const auto output = run_program({"count", "fa2_forward", "--json=/nonexistent/x.json"});
    CHECK((output.status == 2 && contains(output.err, "cannot write '/nonexistent/x.json'")));
}

TEST_CASE("check --fault exits 1 at the fault's known first step, for every fault of a kernel's mirror") {
    int checked = 0;
    for (const Fault& fault : faults())
        for (const gpu::KernelInfo& kernel : gpu::kernels()) {
            const auto& formats = kernel.dtypes;
            const DType format = find_preset(fault.preset)->problem.dtype;
            if (kernel.algorithm != fault.algorithm || std::ranges::find(formats, format) == formats.end()) continue;
            const auto output = run_program({"check", std::string(kernel.id), "--fault", std::string(fault.id),
                                             "--preset", std::string(fault.preset), "--json"});
            CAPTURE(fault.id);
            CHECK(output.status == 1);
            const Json first = Json::parse(output.out).at("kernels").at(0).at("first");
            CHECK(first.at("line") == (fault.word == Word::Load ? 8 : fault.line));
            CHECK(first.at("tensor") == fault.tensor);
            CHECK(first.at("i0") == fault.i);
            CHECK(first.at("j0") == fault.j);
            ++checked;
        }
    CHECK(checked > 5);
    const auto elsewhere = run_program({"check", "standard_1_naive", "--fault", "no-rescale"});
    CHECK(elsewhere.status == 2);
    CHECK(contains(elsewhere.err, "no-rescale is one of fa2_forward"));
}

TEST_CASE("a kernel without one of its waits is stopped, and check says by whom and where") {
    // The lines of the wait for a tile and of the barrier behind it, as the source has them now.
    const std::string source = flashstep::testing::text_of(FLASHSTEP_SOURCE_DIR "/gpu/kernels/fa2_forward_5_cp_async.cuh");
    const auto line_of = [&](const std::string& code) {
        const std::size_t at = source.find(code);
        REQUIRE(at != std::string::npos);
        return std::to_string(1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    };
    for (const char* code : {"cp_async_wait<1>()", "sync_block()"}) {
        const auto output = run_program({"check", "fa2_forward_5_cp_async", "--without", line_of(code)});
        CAPTURE(output.out);
        CHECK(output.status == 1);
        CHECK(output.out.find("race on shared Q_i") != std::string::npos);
    }
}

TEST_CASE("--mask adds a file to the scores: key padding of nk numbers or a matrix of n x nk, counted tile by tile") {
    const testing::TemporaryFolder folder;
    const std::string keys = folder.file("keys.csv"), scores = folder.file("scores.csv");
    std::ofstream(keys) << "-inf,0,0,-inf\n";
    std::ofstream(scores) << "0,0,0,0\n0,-inf,0,0\n1,0,0,0\n-inf,-inf,-inf,-inf\n";
    CHECK(json_of({"count", "fa2_forward", "--mask", keys, "--json"}).at("hbm").at("by_tensor").at("M").at("read") ==
          32);
    CHECK(json_of({"count", "fa2_forward", "--mask", scores, "--json"}).at("hbm").at("by_tensor").at("M").at("read") ==
          64);
    const auto wrong = run_program({"trace", "fa2_forward", "--nk", "5", "--mask", keys});
    CHECK(wrong.status == 2);
    CHECK(contains(wrong.err, "has 4 columns"));
    for (const std::string& mask : {keys, scores}) {
        const Json check = json_of({"check", "fa2_forward_1_tile", "--mask", mask, "--json"});
        CHECK(check.at("equal") == true);
        CHECK(check.at("kernels").at(0).at("bytes").at("M").at("kernel").at("read") == (mask == keys ? 32 : 64));
    }
}
