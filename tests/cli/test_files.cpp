// Matrices in and out of the program, the order of --preset and other options, and warnings about odd values.
#include <doctest/doctest.h>

#include <filesystem>

#include "core/algorithms.h"
#include "core/faults.h"
#include "core/io/json.h"
#include "core/io/npy.h"
#include "core/io/tensor_file.h"
#include "core/reference.h"
#include "lab/presets.h"
#include "tests/program.h"

using namespace flashstep;
using flashstep::io::Json;
using flashstep::testing::run_program;
using flashstep::testing::TemporaryFolder;
using flashstep::testing::write_text;

namespace {

using Words = std::vector<std::string>;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Json problem_of(Words options) {
    options.insert(options.begin(), {"trace", "fa2_forward", "--json"});
    const auto output = run_program(options);
    CAPTURE(output.err);
    REQUIRE(output.status == 0);
    return Json::parse(output.out).at("problem");
}

double worst(const Matrix& a, const Matrix& b) {
    REQUIRE((a.rows() == b.rows() && a.cols() == b.cols()));
    double worst = 0;
    for (Eigen::Index e = 0; e < a.size(); ++e)
        if (a.data()[e] != b.data()[e]) worst = std::max(worst, std::abs(a.data()[e] - b.data()[e]));
    return worst;
}

}  // namespace

TEST_CASE("what --out writes is float64 in C order and equals the reference") {
    const TemporaryFolder folder;
    const std::string out = folder.file("a/b");  // created
    const auto output = run_program({"trace", "fa2_forward", "--n", "7", "--nk", "5", "--d", "4", "--dv", "2",
                                     "--causal", "--dtype", "exact", "--out", out});
    REQUIRE(output.status == 0);
    CHECK(contains(output.err, "wrote O, L, l, m, S to"));
    Problem p;
    p.n = 7, p.nk = 5, p.d = 4, p.dv = 2, p.scale = 0.5, p.causal = true, p.dtype = DType::Exact;
    const Reference r = reference(p, make_inputs(p), 0);
    CHECK(io::read_npy(out + "/O.npy").shape == std::vector<std::int64_t>{7, 2});
    CHECK(io::read_npy(out + "/L.npy").shape == std::vector<std::int64_t>{7});
    CHECK(contains(flashstep::testing::text_of(out + "/O.npy"), "'<f8', 'fortran_order': False"));
    CHECK(worst(io::read_tensor(out + "/O.npy").matrices[0], r.O) < 1e-14);
    CHECK(worst(io::read_tensor(out + "/L.npy").matrices[0], r.L) < 1e-14);
    CHECK(worst(io::read_tensor(out + "/m.npy").matrices[0], r.m) < 1e-14);
    CHECK(worst(io::read_tensor(out + "/l.npy").matrices[0], r.l) < 1e-13);
    CHECK(worst(io::read_tensor(out + "/S.npy").matrices[0], r.S) < 1e-14);
    CHECK_FALSE(std::filesystem::exists(out + "/P.npy"));
    CHECK(run_program({"trace", "fa2_forward", "--out", out}).status == 0);  // again, over the old files
}

TEST_CASE("--out writes what each algorithm has, with heads in front where there are several") {
    const TemporaryFolder folder;
    Problem p;
    p.n = 5, p.nk = 4, p.batch = 2, p.heads = 2;
    const Words sizes = {"--n", "5", "--nk", "4", "--batch", "2", "--heads", "2"};
    const std::vector<std::pair<std::string, Words>> expected = {{"safe_softmax", {"P", "l", "m"}},
                                                                 {"online_softmax", {"P", "l", "m"}},
                                                                 {"standard_attention", {"O", "P", "S"}},
                                                                 {"fa2_forward", {"L", "O", "S", "l", "m"}}};
    for (const auto& [algorithm, names] : expected) {
        const std::string out = folder.file(algorithm);
        Words words = {"trace", algorithm, "--out", out};
        words.insert(words.end(), sizes.begin(), sizes.end());
        REQUIRE(run_program(words).status == 0);
        Words found;
        for (const auto& entry : std::filesystem::directory_iterator(out))
            found.push_back(entry.path().stem().string());
        std::sort(found.begin(), found.end());
        CHECK(found == names);
        const Inputs inputs = make_inputs(p);
        for (const std::string& name : names) {
            const io::NpyArray array = io::read_npy(out + "/" + name + ".npy");
            CHECK(std::vector<std::int64_t>(array.shape.begin(), array.shape.begin() + 3) ==
                  std::vector<std::int64_t>{2, 2, 5});
            if (name == "L" || name == "l" || name == "m") CHECK(array.shape.size() == 3);
        }
        const std::string whole = names.front() == "P" ? "P" : "O";
        for (int head = 0; head < 4; ++head) {
            const Reference r = reference(p, inputs, head);
            CHECK(worst(io::read_tensor(out + "/" + whole + ".npy").matrices[static_cast<std::size_t>(head)],
                        whole == "P" ? r.P : r.O) < 1e-6);
        }
    }
}

TEST_CASE("matrices come from files, which fix the sizes") {
    const TemporaryFolder folder;
    // Vector A of the project's test vectors: d = 4, d_v = 2.
    write_text(folder.file("q.csv"), "1,0,2,0\n0,1,1,0\n1,1,0,1\n0,2,1,1\n");
    write_text(folder.file("k.csv"), "2 1 0 0\n0 1 1 0\n1 0 1 1\n0 0 2 1\n");
    io::write_npy(folder.file("v.npy"), std::vector<std::int64_t>{4, 2}, std::vector<double>{1, 0, 0, 1, 1, 1, 2, 1});
    const auto output = run_program({"trace", "fa2_forward", "--q", folder.file("q.csv"), "--k", folder.file("k.csv"),
                                     "--v", folder.file("v.npy"), "--out", folder.file("o")});
    REQUIRE(output.status == 0);
    const Matrix O = io::read_tensor(folder.file("o/O.npy")).matrices[0],
                 L = io::read_tensor(folder.file("o/L.npy")).matrices[0];
    Matrix expected_O(4, 2), expected_L(4, 1);
    expected_O << 1.269873, 0.842940, 1, 0.811230, 1, 0.573067, 1, 0.811230;
    expected_L << 2.851129, 2.167224, 2.351129, 2.667224;
    CHECK(worst(O, expected_O) < 1e-6);
    CHECK(worst(L, expected_L) < 1e-6);
}

TEST_CASE("files with heads fix batch, heads and key/value heads") {
    const TemporaryFolder folder;
    io::write_npy(folder.file("q.npy"), std::vector<std::int64_t>{2, 4, 3, 2}, std::vector<double>(48, 0.25));
    io::write_npy(folder.file("k.npy"), std::vector<std::int64_t>{2, 2, 5, 2}, std::vector<double>(40, 0.5));
    const Json p = problem_of({"--q", folder.file("q.npy"), "--k", folder.file("k.npy")});
    CHECK((p.at("batch") == 2 && p.at("heads") == 4 && p.at("kv_heads") == 2 && p.at("n") == 3 && p.at("nk") == 5 &&
           p.at("d") == 2 && p.at("dv") == 2));
}

TEST_CASE("scores from a file feed the softmax algorithms") {
    const TemporaryFolder folder;
    write_text(folder.file("x.csv"), "1,2,3\n-inf,0,0\n");
    const auto output = run_program(
        {"trace", "online_softmax", "--x", folder.file("x.csv"), "--dtype", "exact", "--out", folder.file("o")});
    REQUIRE(output.status == 0);
    CHECK_FALSE(contains(output.err, "warning"));  // -inf in X is a mask
    Matrix x(2, 3);
    x << 1, 2, 3, -kInf, 0, 0;
    CHECK(worst(io::read_tensor(folder.file("o/P.npy")).matrices[0], softmax_rows(x)) < 1e-15);
}

TEST_CASE("options after --preset override it, options before it are replaced and named") {
    const Json preset = problem_of({"--preset", "n64"});
    CHECK((preset.at("n") == 64 && preset.at("d") == 16 && preset.at("br") == 16));
    const Json after = problem_of({"--preset", "n64", "--br", "8", "--n", "32"});
    CHECK((after.at("br") == 8 && after.at("bc") == 16 && after.at("n") == 32 && after.at("nk") == 32));
    const Json before = problem_of({"--br", "8", "--n", "32", "--preset", "n64"});
    CHECK(before == preset);
    CHECK(contains(run_program({"count", "fa2_forward", "--br", "8", "--preset", "n64"}).err,
                   "--br stands before --preset n64 and is replaced by it"));
    CHECK(problem_of({"--preset", "n64", "--preset", "n4d3"}).at("n") == 4);
    CHECK(problem_of({"--preset", "n64_causal", "--no-causal"}).at("causal") == false);
    CHECK(problem_of({"--preset", "n4d3", "--d", "4"}).at("scale") == 1);  // the preset's own scale stays
    CHECK(problem_of({"--n", "5", "--n", "6"}).at("n") == 6);
}

TEST_CASE("a preset's matrices stay unless sizes or seed say otherwise") {
    const auto first_q = [](Words options) {
        options.insert(options.begin(), {"trace", "fa2_forward", "--json"});
        return Json::parse(run_program(options).out).at("steps").at(0).at("writes").at(0).at("values").at(0);
    };
    const Json round = Json::parse("[1.0,0.0,1.0]");
    CHECK(first_q({"--preset", "n4d3"}) == round);
    CHECK(first_q({"--preset", "n4d3", "--br", "2", "--scale", "0.5"}) == round);
    CHECK(first_q({"--preset", "n4d3", "--seed", "2"}) != round);
    const auto other = run_program({"trace", "fa2_forward", "--preset", "n4d3", "--n", "6"});
    CHECK((other.status == 0 && contains(other.err, "the matrices of --preset n4d3 do not fit these sizes")));
}

TEST_CASE("NaN and infinities in a file are data: a warning, and check says non-finite") {
    const TemporaryFolder folder;
    write_text(folder.file("q.csv"), "1,2,3\n4,nan,6\n7,8,inf\n1,1,1\n");
    const auto traced = run_program({"trace", "fa2_forward", "--q", folder.file("q.csv"), "--json"});
    CHECK(traced.status == 0);
    CHECK(contains(traced.err, "flashstep: warning: --q"));
    CHECK(contains(traced.err, "holds 2 values that are not finite, first nan in row 2, column 2"));
    CHECK(Json::parse(traced.out).at("steps").at(0).at("writes").at(0).at("values").at(1).at(1) == "nan");
    const auto checked = run_program({"check", "fa2_forward_1_tile", "--q", folder.file("q.csv")});
    CHECK(checked.status == 1);
    CHECK(contains(checked.out, "non-finite"));
    CHECK(contains(checked.err, "warning"));
    const auto as_json = run_program({"check", "fa2_forward_1_tile", "--q", folder.file("q.csv"), "--json"});
    CHECK((as_json.status == 1 && Json::parse(as_json.out).at("kernels").at(0).at("verdict") == "non-finite"));

    write_text(folder.file("big.csv"), "70000,1,1\n");
    const auto big = run_program({"count", "fa2_forward", "--q", folder.file("big.csv"), "--dtype", "fp16"});
    CHECK((big.status == 0 && contains(big.err, "infinite in fp16, first 70000 in row 1, column 1")));
}

TEST_CASE("--out of every algorithm holds matrices of the promised shapes, whatever the blocks, masks and faults") {
    for (const Algorithm& algorithm : algorithms())
        for (const Words& shape : {Words{"--n", "5", "--nk", "7", "--br", "3", "--bc", "4"},
                                   {"--n", "17", "--nk", "1", "--br", "8", "--causal"},
                                   {"--n", "4", "--heads", "2", "--kv-heads", "1", "--br", "9", "--bc", "9"}}) {
            const TemporaryFolder folder;
            Words words = {"trace", std::string(algorithm.id), "--out", folder.file("out"),
                           "--json=" + folder.file("t.json")};
            words.insert(words.end(), shape.begin(), shape.end());
            const auto output = run_program(words);
            CAPTURE(algorithm.id);
            CAPTURE(output.err);
            CHECK(output.status == 0);
            const bool heads = shape[2] == "--heads";
            for (const auto& entry : std::filesystem::directory_iterator(folder.file("out"))) {
                const std::string name = entry.path().stem().string();
                const bool vector = name == "L" || name == "l" || name == "m" || name == "D";
                CAPTURE(name);
                CHECK(io::read_npy(entry.path().string()).shape.size() == (heads ? 2u : 0u) + (vector ? 1u : 2u));
            }
        }
    for (const Fault& fault : faults()) {
        const TemporaryFolder folder;
        const auto output = run_program({"trace", std::string(fault.algorithm), "--preset", std::string(fault.preset),
                                         "--fault", std::string(fault.id), "--out", folder.file("out")});
        CAPTURE(fault.id);
        CHECK(output.status == 0);
    }
}
