// flashstep model and flashstep sweep: the documented keys and columns, the library's numbers, and wrong use.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/gpu_model.h"
#include "core/io/trace_json.h"
#include "tests/program.h"

using namespace flashstep;
using flashstep::io::Json;
using flashstep::testing::run_program;
using flashstep::testing::TemporaryFolder;
using flashstep::testing::text_of;

namespace {

using Words = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Standard output of a command that has to end well.
std::string text_from(const Words& words) {
    const auto output = run_program(words);
    CAPTURE(output.err);
    CHECK(output.status == 0);
    return output.out;
}

void check_refused(const Words& words, const Words& parts) {
    const auto output = run_program(words);
    CAPTURE(fmt::format("{}", fmt::join(words, " ")));
    CAPTURE(output.err);
    CHECK(output.status == 2);
    CHECK(output.out.empty());
    CHECK(output.err.starts_with("flashstep: "));
    CHECK(std::count(output.err.begin(), output.err.end(), '\n') == 1);
    for (const std::string& part : parts) CHECK_MESSAGE(contains(output.err, part), part);
}

// A CSV text's rows of fields; quotes as RFC 4180 has them.
std::vector<Words> csv_rows(const std::string& text) {
    std::vector<Words> rows(1, Words(1));
    bool quoted = false;
    for (const char c : text) {
        if (c == '"')
            quoted = !quoted;  // "" inside quotes is none of ours
        else if (c == ',' && !quoted)
            rows.back().emplace_back();
        else if (c == '\n' && !quoted)
            rows.emplace_back(1);
        else
            rows.back().back() += c;
    }
    CHECK(rows.back() == Words(1));  // the text ends with a line break
    rows.pop_back();
    return rows;
}

const Words kProblem = {"--d", "64", "--br", "64", "--bc", "32", "--dtype", "fp16", "--causal"};

Problem problem(int n) {
    Problem p;
    p.n = p.nk = n, p.d = p.dv = 64, p.br = 64, p.bc = 32, p.dtype = DType::Fp16, p.causal = true, p.scale = 0.125;
    return p;
}

Words with_problem(Words words) {
    words.insert(words.end(), kProblem.begin(), kProblem.end());
    return words;
}

}  // namespace

TEST_CASE("model prints the library's numbers as JSON for every algorithm and GPU") {
    for (const Algorithm& algorithm : algorithms())
        for (const Gpu& gpu : gpus()) {
            const Problem p = problem(1000);
            const Json json = Json::parse(text_from(with_problem(
                {"model", std::string(algorithm.id), "--gpu", std::string(gpu.id), "--n", "1000", "--json"})));
            CAPTURE(algorithm.id);
            CAPTURE(gpu.id);
            const Counts counts = count(algorithm, p);
            const Roofline e = roofline(gpu, counts, p.dtype);
            const Json& estimate = json.at("estimate");
            CHECK(estimate.at("hbm_bytes") == counts.traffic.hbm_read + counts.traffic.hbm_write);
            CHECK(estimate.at("seconds") == e.seconds());
            CHECK(estimate.at("memory_bound") == e.memory_bound());
            CHECK(json.at("gpu").at("sms") == gpu.sms);
            const BlockRule rule = block_rule(limits(gpu).shared_bytes_of_block, p.dtype, p.d, p.dv);
            CHECK(json.at("block_rule").at("needed") == rule.needed);
            CHECK(json.at("block_rule").at("fits") == rule.fits());
            const std::vector<Grid> expected = grids(algorithm, p);
            REQUIRE(json.at("grids").size() == expected.size());
            CHECK(json.at("occupancy").is_null() == expected.empty());
            if (expected.empty()) continue;
            const Occupancy o = occupancy(limits(gpu), {.shared_bytes = counts.sram_peak});
            CHECK(json.at("block").at("shared_bytes") == counts.sram_peak);
            CHECK(json.at("occupancy").at("blocks_per_sm") == o.blocks);
            CHECK(json.at("occupancy").at("launches") == o.refusal.empty());
            for (std::size_t k = 0; k < expected.size(); ++k) {
                CHECK(json.at("grids")[k].at("blocks") == expected[k].blocks);
                CHECK(json.at("grids")[k].at("waves").is_null() == (o.blocks == 0));
                if (o.blocks > 0)
                    CHECK(json.at("grids")[k].at("waves").at("waves") ==
                          waves(expected[k].blocks, o.blocks, gpu.sms).waves);
            }
            const int largest = json.at("own_tiles").at("largest_square");
            CHECK(tile_bytes(algorithm, p, {largest, largest}) <= limits(gpu).shared_bytes_of_block);
            CHECK(tile_bytes(algorithm, p, {largest + 1, largest + 1}) > limits(gpu).shared_bytes_of_block);
        }
}

TEST_CASE("model's page: 2 x 8 heads leave 92 of 108 SMs idle, and the time is called an estimate") {
    const std::string page =
        text_from({"model", "fa1_forward", "--gpu",   "a 100", "--n",     "2048", "--d",     "64", "--br",       "64",
                   "--bc",  "64",          "--dtype", "fp16",  "--batch", "2",    "--heads", "8",  "--kv-heads", "8"});
    for (const char* part :
         {"A100 80 GB SXM", "16 SMs busy, 92 idle", "(batch, head) = 16 thread blocks",
          "an estimate, not a measurement", "B_c = ceil(M / 4d) = 326", "threads and registers are assumed"})
        CHECK_MESSAGE(contains(page, part), part);
    const std::string standard = text_from({"model", "standard_attention", "--gpu", "t4", "--dtype", "bf16"});
    for (const char* part : {"Kernels    not modelled", "no tensor cores for bf16", "bf16 none"})
        CHECK_MESSAGE(contains(standard, part), part);
}

TEST_CASE("model says why a thread block cannot be launched, with both numbers and what fits") {
    const Words large = {"model", "fa2_forward", "--gpu", "RTX 4090", "--n",  "512",
                         "--d",   "128",         "--br",  "128",      "--bc", "128"};
    const std::string page = text_from(large);
    CHECK(contains(page, "launch   impossible: a thread block needs "));
    CHECK(contains(page, "the limit is 101376"));
    const std::size_t at = page.find("at most --br ");
    REQUIRE(at != std::string::npos);
    const std::string fits = page.substr(at + 13, page.find(' ', at + 13) - at - 13);
    Words smaller = large;
    smaller[8] = "--br", smaller[9] = fits, smaller[11] = fits;
    CHECK_FALSE(contains(text_from(smaller), "impossible"));
    smaller[9] = smaller[11] = std::to_string(std::stoi(fits) + 1);
    CHECK(contains(text_from(smaller), "impossible"));
    CHECK(contains(text_from({"model", "fa2_forward", "--gpu", "H100", "--threads", "1024", "--registers", "65"}),
                   "needs 73728 registers"));
}

TEST_CASE("wrong use of model is one line with what there is") {
    check_refused({"model"}, {"ALGORITHM", "fa2_forward"});
    check_refused({"model", "fa2_forward"}, {"--gpu NAME is needed", "RTX 3090"});
    check_refused({"model", "fa2_forward", "--gpu", "h10"}, {"unknown --gpu 'H10'", "did you mean H100?", "B200"});
    check_refused({"model", "fa2_forwad", "--gpu", "h100"}, {"did you mean fa2_forward?"});
    check_refused({"model", "fa2_forward", "--gpu", "h100", "--threads", "0"}, {"--threads is 0", "1 to 1024"});
    check_refused({"model", "fa2_forward", "--gpu", "h100", "--registers", "256"}, {"--registers is 256", "1 to 255"});
    check_refused({"model", "warps_split_q", "--gpu", "h100", "--threads", "64"}, {"--threads is 64", "4 warps"});
    check_refused({"model", "fa2_forward", "--gpu", "h100", "--n", "0"}, {"--n is 0"});
}

TEST_CASE("sweep writes one row per value and algorithm with the numbers of count, as CSV and as JSON") {
    const Words chosen = {"fa1_forward", "standard_attention", "fa2_forward"};
    Words words = with_problem({"sweep", chosen[0], chosen[1], chosen[2], "--vary", "n=50:400:x2"});
    const std::vector<Words> rows = csv_rows(text_from(words));
    words.insert(words.end(), {"--format", "json"});
    const Json json = Json::parse(text_from(words));
    CHECK(json.at("vary") == "n");
    REQUIRE(rows.size() == 1 + 4 * 3);
    REQUIRE(json.at("rows").size() == 4 * 3);
    const Words columns = {
        "value",          "algorithm",    "br",        "bc",           "hbm_read",    "hbm_write", "hbm_init",
        "sram_read",      "sram_write",   "sram_peak", "flops_matmul", "flops_other", "flops_exp", "memory_inputs",
        "memory_outputs", "memory_extra", "steps",     "error"};
    CHECK(rows[0] == columns);
    std::size_t k = 0;
    for (const int n : {50, 100, 200, 400})
        for (const std::string& id : chosen) {
            CAPTURE(n);
            CAPTURE(id);
            const Counts c = count(*find_algorithm(id), problem(n));
            const Traffic& t = c.traffic;
            const auto sram = [&](std::int64_t bytes) { return c.sram_modelled ? std::to_string(bytes) : ""; };
            Words expected = {std::to_string(n), id, "64", "32"};
            for (const std::int64_t number : {t.hbm_read, t.hbm_write, t.hbm_init})
                expected.push_back(std::to_string(number));
            for (const std::int64_t number : {t.sram_read, t.sram_write, c.sram_peak}) expected.push_back(sram(number));
            for (const std::int64_t number : {t.flops_matmul, t.flops_other, t.flops_exp, c.memory.inputs,
                                              c.memory.outputs, c.memory.extra, c.steps})
                expected.push_back(std::to_string(number));
            expected.emplace_back();
            CHECK(rows[k + 1] == expected);
            const Json& row = json.at("rows")[k];
            CHECK((row.at("value") == n && row.at("algorithm") == id && row.at("error").is_null()));
            CHECK(row.at("counts") == Json(io::count_json(c)));
            ++k;
        }
}

TEST_CASE("sweep steps by adding and by lists, varies every parameter, and takes all algorithms once each") {
    const auto values = [](const Words& words) {
        Words found;
        const std::vector<Words> rows = csv_rows(text_from(words));
        for (std::size_t k = 1; k < rows.size(); ++k) found.push_back(rows[k][0]);
        return found;
    };
    CHECK(values({"sweep", "fa2_forward", "--vary", "n=3:10:+3"}) == Words{"3", "6", "9"});
    CHECK(values({"sweep", "fa2_forward", "--vary", "n=3:9:+3"}) == Words{"3", "6", "9"});
    CHECK(values({"sweep", "fa2_forward", "--vary", "br=3,2,7"}) == Words{"3", "2", "7"});
    CHECK(values({"sweep", "fa2_forward", "--vary", "bc=5:5:x2"}) == Words{"5"});
    CHECK(values({"sweep", "fa2_forward", "fa2_forward", "--vary", "batch=1,2"}).size() == 2);
    CHECK(values({"sweep", "all", "fa2_forward", "--vary", "heads=1,2"}).size() == 2 * algorithms().size());
    // d takes d_v along, n takes N_k, unless they are given.
    const auto hbm = [](const Words& words) { return csv_rows(text_from(words)).at(1).at(4); };
    const auto expected = [](int nk, int d, int dv) {
        Problem p;
        p.n = 8, p.nk = nk, p.d = d, p.dv = dv;
        return std::to_string(count(*find_algorithm("fa2_forward"), p).traffic.hbm_read);
    };
    CHECK(hbm({"sweep", "fa2_forward", "--vary", "d=16", "--n", "8"}) == expected(8, 16, 16));
    CHECK(hbm({"sweep", "fa2_forward", "--vary", "d=16", "--n", "8", "--dv", "5"}) == expected(8, 16, 5));
    CHECK(hbm({"sweep", "fa2_forward", "--vary", "n=8"}) == expected(8, 3, 3));
    CHECK(hbm({"sweep", "fa2_forward", "--vary", "n=8", "--nk", "20"}) == expected(20, 3, 3));
    CHECK(values({"sweep", "fa2_forward", "--vary", "batch=1:10000:+1"}).size() == 10000);
}

TEST_CASE(
    "sweep over SRAM picks blocks by the papers' rule; where they do not fit the row says so, and the others stay") {
    const Words words = {"sweep", "fa2_forward", "standard_attention", "--vary", "sram=64,65536", "--n", "64",
                         "--d",   "64"};
    const std::vector<Words> rows = csv_rows(text_from(words));
    REQUIRE(rows.size() == 5);
    for (const Words& row : rows) CHECK(row.size() == rows[0].size());
    CHECK((rows[1][2] == "1" && rows[1][3] == "1"));
    CHECK((rows[3][2] == "64" && rows[3][3] == "64"));  // M = 16,384 elements, d = 64
    CHECK(contains(rows[1].back(), "SRAM overflow, 256 of 64 bytes"));
    CHECK(contains(rows[3].back(), "SRAM overflow"));
    CHECK(std::all_of(rows[1].begin() + 4, rows[1].end() - 1, [](const std::string& cell) { return cell.empty(); }));
    CHECK((rows[2].back().empty() && !rows[2][4].empty()));  // library calls have no capacity
    Words json_words = words;
    json_words.insert(json_words.end(), {"--format", "json"});
    const Json json = Json::parse(text_from(json_words));
    CHECK(json.at("rows")[0].at("counts").is_null());
    CHECK(json.at("rows")[0].at("error") == rows[1].back());
    // With blocks of one's own, a capacity only limits.
    const std::vector<Words> own = csv_rows(text_from(
        {"sweep", "fa2_forward", "--vary", "sram=64,65536", "--n", "64", "--d", "64", "--br", "16", "--bc", "16"}));
    CHECK((!own[1].back().empty() && own[2].back().empty() && own[2][2] == "16"));
}

TEST_CASE("sweep --out writes the file that it would print, and a folder is refused") {
    const TemporaryFolder folder;
    const Words words = {"sweep", "fa2_forward", "--vary", "n=4,8"};
    Words to_file = words;
    to_file.insert(to_file.end(), {"--out", folder.file("sweep.csv")});
    CHECK(text_from(to_file).empty());
    CHECK(text_of(folder.file("sweep.csv")) == text_from(words));
    to_file.back() = folder.path();
    check_refused(to_file, {"flashstep_"});
}

TEST_CASE("wrong use of sweep is one line, before anything is counted") {
    const auto refused = [](const std::string& range, const Words& parts, Words more = {}) {
        Words words = {"sweep", "fa2_forward", "--vary", range};
        words.insert(words.end(), more.begin(), more.end());
        check_refused(words, parts);
    };
    check_refused({"sweep"}, {"ALGORITHM"});
    check_refused({"sweep", "fa2_forward"}, {"--vary is needed", "n=1024:65536:x2"});
    check_refused({"sweep", "fa2_foward", "--vary", "n=1,2"}, {"did you mean fa2_forward?"});
    refused("dv=1,2", {"unknown --vary parameter 'dv'", "n, d, br, bc, sram, batch, heads"});
    refused("n", {"--vary n has no values"});
    refused("n=", {"--vary n has no values"});
    refused("n=4:8", {"2 parts", "n=64:512:+64"});
    refused("n=4:8:2", {"the step '2'", "+ and a number"});
    refused("n=4:8:x1", {"is 1", "from 2 up"});
    refused("n=4:8:+0", {"is 0", "from 1 up"});
    refused("n=8:4:x2", {"runs from 8 to 4"});
    refused("n=4,,8", {"--vary n is ''"});
    refused("n=4,x", {"--vary n is 'x'"});
    refused("n=1:10001:+1", {"takes 10001 values, the limit is 10000"});
    refused("n=16777216,16777217", {"--n is 16777217", "16777216"});
    refused("n=9223372036854775807:9223372036854775807:x9", {"--n is 9223372036854775807"});
    refused("heads=2:4:+1", {"--kv-heads is 2", "a divisor of heads, 3"}, {"--kv-heads", "2"});
    refused("n=1:10000:+1", {"tiles in all, the limit is 500000000", "--br, --bc"});
    refused("n=1,2", {"--n is given, and varied"}, {"--n", "3"});
    refused("n=1,2", {"unknown --format 'cvs'", "did you mean csv?"}, {"--format", "cvs"});
}
