// Reading what NVIDIA's profiler counted: both forms of its CSV, units, absent metrics, damaged files, the command. The
// files are made up; nothing here was profiled.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>

#include "core/error.h"
#include "core/io/json.h"
#include "gpu/ncu.h"
#include "tests/program.h"

using namespace flashstep;
using namespace flashstep::gpu;
using flashstep::testing::run_program;
using flashstep::testing::TemporaryFolder;
using flashstep::testing::text_of;
using flashstep::testing::write_text;

namespace {

const std::string kSamples = FLASHSTEP_SOURCE_DIR "/tests/samples/";
const std::string kHead = "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";

std::optional<double> value(const NcuLaunch& launch, std::string_view key) {
    const auto quantities = ncu_quantities();
    const auto found = std::ranges::find(quantities, key, &NcuQuantity::key);
    REQUIRE(found != quantities.end());
    return launch.values.at(static_cast<std::size_t>(found - quantities.begin()));
}

std::string error_of(const std::string& text) {
    try {
        parse_ncu_csv(text, "x.csv");
    } catch (const Error& error) { return error.what(); }
    return "no error";
}

// The long form with one metric of one launch.
std::optional<double> one(const std::string& metric, const std::string& unit, const std::string& text,
                          std::string_view key) {
    const auto launches =
        parse_ncu_csv(kHead + "\"0\",\"k\",\"" + metric + "\",\"" + unit + "\",\"" + text + "\"\n", "x");
    REQUIRE(launches.size() == 1);
    return value(launches[0], key);
}

}  // namespace

TEST_CASE("the raw page gives one launch a row, sectors as 32 bytes, requested, L2 and DRAM bytes apart") {
    const auto launches = parse_ncu_csv(text_of(kSamples + "ncu_raw_sample.csv"), "sample");
    REQUIRE(launches.size() == 2);
    CHECK(launches[0].id == "3");
    CHECK(launches[0].kernel == "void fa2_forward_3_mma<__half, 64, NoProbe>(AttentionShape, int)");
    CHECK(launches[1].kernel == "void fa2_forward_4_swizzle<__half, 64, \"probe\">(AttentionShape, int)");
    CHECK(value(launches[0], "requested_bytes") == 32e6);
    CHECK(value(launches[0], "l2_bytes") == 40e6);
    CHECK(value(launches[0], "dram_bytes") == 4e6);  // read and write
    CHECK(value(launches[0], "shared_wavefronts") == 8e6);
    CHECK(value(launches[1], "shared_wavefronts") == 1e6);
    CHECK(value(launches[0], "shared_wavefronts_ideal") == 1e6);
    CHECK(value(launches[0], "tensor_instructions") == 5e5);
    CHECK(value(launches[0], "cp_async_instructions") == 0.0);
    CHECK(value(launches[0], "ldmatrix_instructions") == 2e5);
}

TEST_CASE("the form with a row for each metric gives the same numbers, whatever units ncu chose") {
    const auto raw = parse_ncu_csv(text_of(kSamples + "ncu_raw_sample.csv"), "raw");
    const auto lines = parse_ncu_csv(text_of(kSamples + "ncu_long_sample.csv"), "long");
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].kernel == raw[0].kernel);
    for (std::size_t k = 0; k < ncu_quantities().size(); ++k) {
        const std::string key(ncu_quantities()[k].key);
        CAPTURE(key);
        if (key == "ldmatrix_instructions")
            CHECK_FALSE(lines[0].values[k]);  // the file does not have it
        else
            CHECK(lines[0].values[k] == raw[0].values[k]);
    }
}

TEST_CASE("units and separators are undone") {
    CHECK(one("lts__t_bytes.sum", "byte", "1,234,567", "l2_bytes") == 1234567.0);
    CHECK(one("lts__t_bytes.sum", "byte", "12", "l2_bytes") == 12.0);
    CHECK(one("lts__t_bytes.sum", "Kbyte", "1.5", "l2_bytes") == 1500.0);
    CHECK(one("lts__t_bytes.sum", "Mbytes", "1.5", "l2_bytes") == 1.5e6);
    CHECK(one("lts__t_bytes.sum", "Gbyte", "2", "l2_bytes") == 2e9);
    CHECK(one("lts__t_bytes.sum", "Tbyte", "2.5e+00", "l2_bytes") == 2.5e12);
    CHECK(one("lts__t_sectors.sum", "Ksector", "1,000.5", "l2_bytes") == 32.0 * 1000.5e3);  // the other way
    CHECK(one("smsp__inst_executed_op_ldsm.sum", "Minst", "3", "ldmatrix_instructions") == 3e6);
    CHECK(one("smsp__inst_executed_op_ldsm.sum", "", "3", "ldmatrix_instructions") == 3.0);
    CHECK(one("dram__bytes_read.sum", "byte", "5", "dram_bytes") == std::nullopt);  // without what was written
    const std::string later = "0,k,dram__bytes_op_read.sum,Kbyte,2\n0,k,dram__bytes_op_write.sum,byte,5\n";
    CHECK(value(parse_ncu_csv(kHead + later, "x").at(0), "dram_bytes") == 2005.0);
    for (const char* absent : {"", "n/a", "(!) n/a", "nan"})
        CHECK(one("lts__t_bytes.sum", "byte", absent, "l2_bytes") == std::nullopt);
}

TEST_CASE("launches are told apart by their number, and rows that name no launch or no metric are passed over") {
    const auto launches = parse_ncu_csv("what the program prints, \"quoted\n" + kHead +
                                            "0,k,lts__t_bytes.sum,byte,1\n"
                                            "==PROF== between\n\n"
                                            "1,k,lts__t_bytes.sum,byte,2\r\n"
                                            "1,k,,,\n"
                                            "1,k,gpu__time_duration.sum,furlong,\"x\"\n"
                                            "0,k,lts__t_bytes.sum,byte,1\n"
                                            "\"\",\"\",lts__t_bytes.sum,byte,7\n"
                                            "2,other,gpu__time_duration.sum,ns,3",
                                        "x");
    REQUIRE(launches.size() == 3);
    CHECK(value(launches[0], "l2_bytes") == 1.0);
    CHECK(value(launches[1], "l2_bytes") == 2.0);
    CHECK(value(launches[2], "l2_bytes") == std::nullopt);
    CHECK(parse_ncu_csv("\"Kernel Name\",\"lts__t_bytes.sum\"\n\"\",\"Kbyte\"\nk,2\nk,3\n", "x").size() == 2);
    // Two processes number their launches alike.
    CHECK(parse_ncu_csv("ID,Process ID,Kernel Name,lts__t_bytes.sum\n,,,byte\n0,1,k,2\n0,2,k,3\n", "x").size() == 2);
}

TEST_CASE("200,000 launches of the form with a row for each metric take about a second") {
    constexpr int kLaunches = 200'000;
    std::string text = kHead;
    for (const char* metric : {"lts__t_bytes.sum", "smsp__inst_executed_op_ldsm.sum"})  // each launch comes back late
        for (int k = 0; k < kLaunches; ++k) text += fmt::format("{},k,{},,{}\n", k, metric, k);
    const auto start = std::chrono::steady_clock::now();
    const auto launches = parse_ncu_csv(text, "x");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    REQUIRE(launches.size() == kLaunches);
    CHECK(value(launches.back(), "l2_bytes") == kLaunches - 1.0);
    CHECK(value(launches.back(), "ldmatrix_instructions") == kLaunches - 1.0);
    CHECK(took.count() < 20);  // a search through all launches takes minutes
}

TEST_CASE("a malformed file gives one line with its line number and what to do") {
    struct Row {
        std::string text, message;
    };
    const std::string raw = "\"Kernel Name\",\"lts__t_bytes.sum\"\n";
    const Row rows[] = {
        {"", "'x.csv': no header of ncu's CSV (a line with \"Kernel Name\")"},
        {"==PROF== a\n==ERROR== ERR_NVGPUCTRPERM - no permission\n",
         "'x.csv': no header of ncu's CSV (a line with \"Kernel Name\"); its line 2 says '==ERROR== ERR_NVGPUCTRPERM - "
         "no "
         "permission'"},
        {"Kernel Name is what it prints\n", "'x.csv': no header of ncu's CSV (a line with \"Kernel Name\")"},
        {kHead, "'x.csv': no launch below the header"},
        {raw + "\"\",\"byte\"\n", "'x.csv': no launch below the header"},
        {"\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n",
         "'x.csv': line 1: a \"Metric Name\" column without \"Metric Unit\""},
        {raw + "\"\",\"byte\"\nk,1,2\n", "'x.csv': line 3: 3 fields, the header has 2"},
        {raw + "\"\",\"byte\"\n\"k,1\n", "'x.csv': line 3: a quote that is not closed"},
        {raw + "\"\",\"%\"\nk,1\n", "'x.csv': line 2: lts__t_bytes.sum has the unit '%', but counts bytes"},
        {raw + "\"\",\"mbyte\"\nk,1\n", "'x.csv': line 2: lts__t_bytes.sum has the unit 'mbyte', but counts bytes"},
        {raw + "\"\",\"sector\"\nk,1\n", "'x.csv': line 2: lts__t_bytes.sum has the unit 'sector', but counts bytes"},
        {raw + "\"\",\"byte\"\nk,-1\n", "'x.csv': line 3: lts__t_bytes.sum is '-1', not a count"},
        {raw + "\"\",\"byte\"\nk,inf\n", "'x.csv': line 3: lts__t_bytes.sum is 'inf', not a count"},
        {raw + "\"\",\"byte\"\nk,\"9,00\"\n", "'x.csv': line 3: lts__t_bytes.sum is '9,00', not a count"},
        {raw + "\"\",\"byte\"\nk,\"1,2345\"\n", "'x.csv': line 3: lts__t_bytes.sum is '1,2345', not a count"},
        {raw + "\"\",\"byte\"\nk,\"1234,567\"\n", "'x.csv': line 3: lts__t_bytes.sum is '1234,567', not a count"},
        {raw + "\"\",\"byte\"\nk,\"1,234,\"\n", "'x.csv': line 3: lts__t_bytes.sum is '1,234,', not a count"},
        {raw + "\"\",\"byte\"\nk,1.234.567\n", "'x.csv': line 3: lts__t_bytes.sum is '1.234.567', not a count"},
        {raw + "\"\",\"byte\"\nk,12 (1; 2)\n", "'x.csv': line 3: lts__t_bytes.sum is '12 (1; 2)', not a count"},
        {"\"Kernel Name\",\"lts__t_bytes.sum\",\"lts__t_bytes.sum\"\n",
         "'x.csv': line 1: two columns lts__t_bytes.sum"},
        {kHead + "0,k,lts__t_sectors.sum,sector,1e308\n",
         "'x.csv': line 2: lts__t_sectors.sum is '1e308', more than a counter of 64 bits holds"},
        {kHead + "0,k,dram__bytes_read.sum,Tbyte,1e300\n",
         "'x.csv': line 2: dram__bytes_read.sum is '1e300' times 1e+12, more than a counter of 64 bits holds"},
        {raw + "\"\",\"byte\"\nk,18446744073709551616\n",
         "'x.csv': line 3: lts__t_bytes.sum is '18446744073709551616', more than a counter of 64 bits holds"},
        {"ID,ID,Kernel Name,lts__t_bytes.sum\n", "'x.csv': line 1: two columns ID"},
        {"above\nID,Kernel Name,Kernel Name\n", "'x.csv': line 2: two columns Kernel Name"},
        {"Kernel Name,Metric Name,Metric Name,Metric Unit,Metric Value\n", "'x.csv': line 1: two columns Metric Name"},
        {"ID,Kernel Name,lts__t_bytes.sum\n,,byte\n0,k,1\n1,k,1\n0,j,1\n",
         "'x.csv': line 5: launch '0' is also in line 3"},
        {kHead + "0,k,lts__t_bytes.sum,byte,1\n0,k,lts__t_bytes.sum,byte,2\n",
         "'x.csv': line 3: lts__t_bytes.sum of launch '0' is '2', but stood above with another value"},
    };
    for (const Row& row : rows) CHECK(error_of(row.text) == row.message);
}

TEST_CASE("mutated files are read or refused, never more") {
    std::mt19937 random(7);
    const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
    int read = 0, refused = 0;
    for (const char* sample : {"ncu_raw_sample.csv", "ncu_long_sample.csv"}) {
        const std::string whole = text_of(kSamples + sample);
        for (int round = 0; round < 4000; ++round) {
            std::string text = whole;
            for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
                const std::size_t at = below(text.size());
                if (below(3) == 0)
                    text[at] = static_cast<char>(random());
                else if (below(2) == 0)
                    text.erase(at, 1 + below(9));
                else
                    text.insert(at, 1 + below(3), "0123456789,\".eKM-\n\r="[below(19)]);
            }
            try {
                for (const NcuLaunch& launch : parse_ncu_csv(text, "x"))
                    CHECK(launch.values.size() == ncu_quantities().size());
                ++read;
            } catch (const Error& error) {
                CHECK(std::string(error.what()).find('\n') == std::string::npos);
                ++refused;
            }
        }
    }
    CHECK(read > 100);
    CHECK(refused > 100);
}

TEST_CASE("no metric is asked for twice, every quantity has a key and a way of its own") {
    const std::string list = ncu_metric_list();
    std::vector<std::string> names(1);
    for (const char c : list)
        if (c == ',')
            names.emplace_back();
        else
            names.back() += c;
    for (const std::string& name : names) {
        CAPTURE(name);
        CHECK(std::ranges::count(names, name) == 1);
        CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == std::string::npos);
        CHECK(name.find("__") + name.find("memory_") != 2 * std::string::npos);
    }
    for (const NcuQuantity& quantity : ncu_quantities()) {
        CHECK(std::ranges::count(ncu_quantities(), quantity.key, &NcuQuantity::key) == 1);
        CHECK_FALSE(quantity.ways.empty());
    }
}

TEST_CASE("the instructions take the list of metrics from the program and do not repeat it") {
    const std::string page = text_of(FLASHSTEP_SOURCE_DIR "/gpu/PROFILING.md");
    CHECK(page.find("--metrics \"$($flashstep ncu --metrics)\"") != std::string::npos);
    for (const NcuQuantity& quantity : ncu_quantities())
        for (const auto& way : quantity.ways)
            for (const std::string_view metric : way) {
                CAPTURE(metric);
                CHECK(page.find(metric) == std::string::npos);
            }
}

TEST_CASE("flashstep ncu prints the three kinds of bytes, the conflict factor, and what a file lacks") {
    const auto output = run_program({"ncu", kSamples + "ncu_raw_sample.csv"});
    CHECK(output.status == 0);
    CHECK(output.err.empty());
    CHECK(output.out.find("three different numbers") != std::string::npos);
    CHECK(output.out.find("32000000") != std::string::npos);
    CHECK(output.out.find("40000000") != std::string::npos);
    CHECK(output.out.find(" 4000000") != std::string::npos);
    CHECK(output.out.find(" 8.00  void fa2_forward_3_mma<__half, 64, NoProbe>") != std::string::npos);
    CHECK(output.out.find(" 1.00  void fa2_forward_4_swizzle<") != std::string::npos);
    CHECK(output.out.find("n/a") == std::string::npos);
    const auto lacking = run_program({"ncu", kSamples + "ncu_long_sample.csv"});
    CHECK(lacking.status == 0);
    CHECK(lacking.out.find("ldmatrix needs smsp__inst_executed_op_ldsm.sum") != std::string::npos);
    CHECK(lacking.out.find("tensor needs") == std::string::npos);
}

TEST_CASE("flashstep ncu --json holds null for what is not in the file") {
    const auto output = run_program({"ncu", kSamples + "ncu_long_sample.csv", "--json"});
    REQUIRE(output.status == 0);
    const io::Json json = io::Json::parse(output.out);
    CHECK(json["format"] == "flashstep ncu");
    REQUIRE(json["launches"].size() == 1);
    const io::Json& launch = json["launches"][0];
    CHECK(launch["id"] == "3");
    CHECK(launch["requested_bytes"] == 32e6);
    CHECK(launch["dram_bytes"] == 4e6);
    CHECK(launch["ldmatrix_instructions"].is_null());
}

TEST_CASE("flashstep ncu --metrics prints the list alone, and wrong use is refused in one line") {
    const auto list = run_program({"ncu", "--metrics"});
    CHECK(list.status == 0);
    CHECK(list.out == ncu_metric_list() + "\n");
    const TemporaryFolder folder;
    write_text(folder.file("a.csv"), "==ERROR== ERR_NVGPUCTRPERM\n");
    const std::vector<std::pair<std::vector<std::string>, std::string>> rows = {
        {{"ncu"}, "a FILE is needed"},
        {{"ncu", "--metrics", "x.csv"}, "reads no file"},
        {{"ncu", folder.file("none.csv")}, "cannot read"},
        {{"ncu", folder.file("a.csv")}, "line 1 says '==ERROR== ERR_NVGPUCTRPERM'; gpu/PROFILING.md"},
    };
    for (const auto& row : rows) {
        const auto output = run_program(row.first);
        CAPTURE(output.err);
        CHECK(output.status == 2);
        CHECK(output.out.empty());
        CHECK(std::count(output.err.begin(), output.err.end(), '\n') == 1);
        CHECK(output.err.find(row.second) != std::string::npos);
    }
}

TEST_CASE("flashstep ncu --json=FILE refuses the file that it reads, by any path or link, and leaves it as it was") {
    const TemporaryFolder folder;
    const std::string file = folder.file("a.csv"), before = text_of(kSamples + "ncu_raw_sample.csv");
    write_text(file, before);
    std::filesystem::create_symlink(file, folder.file("link"));
    std::filesystem::create_hard_link(file, folder.file("hard"));
    std::filesystem::create_directory(folder.file("sub"));
    for (const char* target : {"a.csv", "sub/../a.csv", "link", "hard"}) {
        const auto output = run_program({"ncu", file, "--json=" + folder.file(target)});
        CAPTURE(output.err);
        CHECK(output.status == 2);
        CHECK(output.err.find(std::string(target) + "' is the input; name another file\n") != std::string::npos);
        CHECK(text_of(file) == before);
    }
    CHECK(run_program({"ncu", folder.file("link"), "--json=" + file}).status == 2);
    CHECK(text_of(file) == before);
    CHECK(run_program({"ncu", file, "--json=" + folder.file("b.json")}).status == 0);
    CHECK(io::Json::parse(text_of(folder.file("b.json")))["launches"].size() == 2);
    CHECK(text_of(file) == before);
}

TEST_CASE("flashstep ncu prints no control character, whatever the file and its name hold") {
    const TemporaryFolder folder;
    const std::string escape = "\x1b[31m\a", file = folder.file("a" + escape + ".csv");
    const std::string head = "ID,Kernel Name,lts__t_bytes.sum\n,,byte\n", id = "0" + escape;
    const auto clean = [](const std::string& text) {
        return std::ranges::all_of(
            text, [](char c) { return c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f); });
    };
    write_text(file, head + id + ",k" + escape + ",1\n");
    auto output = run_program({"ncu", file});
    CHECK(output.status == 0);
    CHECK(output.out.find("0?[31m?") != std::string::npos);
    CHECK(clean(output.out));
    for (const std::string& rows :
         {id + ",k,1\n" + id + ",k,2\n", id + ",k,x" + escape + "\n", id + "\n", std::string()}) {
        write_text(file, head + rows);
        output = run_program({"ncu", file});
        CAPTURE(output.err);
        CHECK(output.status == 2);
        CHECK(output.err.find("a?[31m?.csv'") != std::string::npos);
        CHECK(clean(output.err));
    }
    write_text(file, kHead + id + ",k,lts__t_bytes.sum,byte,1\n" + id + ",k,lts__t_bytes.sum,byte,2\n");
    output = run_program({"ncu", file});
    CHECK(output.err.find("launch '0?[31m?'") != std::string::npos);
    CHECK(clean(output.err));
}
