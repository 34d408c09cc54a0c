// Base-2 exponentials, warps, barriers and the first value that is not finite, as the command line shows them.
#include <doctest/doctest.h>

#include "core/io/json.h"
#include "tests/program.h"

using flashstep::io::Json;
using flashstep::testing::run_program;
using flashstep::testing::TemporaryFolder;
using flashstep::testing::write_text;

namespace {

Json json_of(std::vector<std::string> words) {
    words.push_back("--json");
    const auto output = run_program(words);
    CAPTURE(output.err);
    REQUIRE(output.status == 0);
    return Json::parse(output.out);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE(
    "--base2 reaches FlashAttention-2, costs one operation per row more, and leaves other algorithms as they are") {
    CHECK(json_of({"trace", "fa2_forward", "--base2"}).at("problem").at("base2") == true);
    CHECK(json_of({"trace", "fa1_forward", "--base2"}).at("problem").at("base2") == false);
    CHECK(json_of({"trace", "fa2_forward", "--base2", "--no-base2"}).at("problem").at("base2") == false);
    const Json natural = json_of({"count", "fa2_forward", "--n", "100"}),
               base2 = json_of({"count", "fa2_forward", "--n", "100", "--base2"});
    CHECK(base2.at("flops").at("other").get<int>() == natural.at("flops").at("other").get<int>() + 100);
    CHECK(base2.at("hbm") == natural.at("hbm"));
    CHECK(contains(run_program({"trace", "fa2_forward", "--base2"}).out, "base-2 exponentials"));
}

TEST_CASE("a kernel with natural exponentials refuses a problem with base-2 ones") {
    const auto output = run_program({"check", "fa2_forward_1_tile", "--base2"});
    CHECK(output.status == 2);
    CHECK(contains(output.err, "fa2_forward_1_tile takes natural exponentials"));
    CHECK(run_program({"check", "standard_1_naive", "--base2"}).status == 0);  // its mirror has no use for it
}

TEST_CASE("warps and barriers: steps name the warp, totals count the barriers") {
    const Json trace = json_of({"trace", "warps_split_q", "--n", "4"});
    int warps = 0;
    for (const Json& step : trace.at("steps"))
        if (!step.at("warp0").is_null()) warps = std::max(warps, step.at("warp0").get<int>() + 1);
    CHECK(warps == 2);  // blocks of two rows: two of the four warps have one
    CHECK(trace.at("steps").back().at("total").at("barriers") == 2 * (1 + 2 * 2));
    CHECK(json_of({"count", "warps_split_k", "--n", "4"}).at("barriers") == 2 * 2 * 3);
    CHECK(json_of({"count", "fa2_forward", "--n", "4"}).at("barriers") == 0);
    const auto page = run_program({"trace", "warps_split_k", "--n", "4"});
    CHECK(contains(page.out, "i=1 j=1 warp 2"));
    CHECK(contains(page.out, "Barriers: 12."));
}

TEST_CASE("the first value that is not finite is named by step, line and element") {
    const TemporaryFolder folder;
    const std::string x = folder.file("x.csv");
    write_text(x, "1,800,2\n");
    const Json trace = json_of({"trace", "naive_softmax", "--x", x});
    const Json& found = trace.at("first_non_finite");
    CHECK(found.at("tensor") == "l");
    CHECK(found.at("value") == "inf");
    CHECK(contains(found.at("text").get<std::string>(), "an exponential overflows fp32"));
    CHECK(contains(run_program({"trace", "naive_softmax", "--x", x}).out, "First not finite: step "));
    CHECK(json_of({"trace", "safe_softmax", "--x", x}).at("first_non_finite").is_null());
}
