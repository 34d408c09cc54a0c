// Wrong use of the program: one line that names the option, the value and the limit; exit 2; nothing on standard
// output.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/io/npy.h"
#include "tests/program.h"

using namespace flashstep;
using flashstep::testing::run_program;
using flashstep::testing::TemporaryFolder;
using flashstep::testing::write_text;

namespace {

using Words = std::vector<std::string>;

struct Row {
    Words words;
    std::vector<std::string> parts;  // what the message has to contain
};

void check_refused(const Row& row) {
    std::string command = "flashstep";
    for (const std::string& word : row.words) command += " " + word;
    const auto output = run_program(row.words);
    CAPTURE(command);
    CAPTURE(output.err);
    CHECK(output.status == 2);
    CHECK(output.out.empty());
    CHECK(output.err.starts_with("flashstep: "));
    CHECK(std::count(output.err.begin(), output.err.end(), '\n') == 1);
    for (const std::string& part : row.parts) CHECK_MESSAGE(output.err.find(part) != std::string::npos, part);
}

void write_matrix(const std::string& path, const std::vector<std::int64_t>& shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    io::write_npy(path, shape, std::vector<double>(static_cast<std::size_t>(count), 0.5));
}

}  // namespace

TEST_CASE("unknown names are refused with what exists and the nearest name") {
    const Row rows[] = {
        {{"cuont"}, {"unknown command 'cuont'", "did you mean count?", "trace"}},
        {{"frobnicate"},
         {"unknown command 'frobnicate'",
          "list, lesson, trace, count, sweep, model, check, shot, bench, device, record, ncu, bench-table"}},
        {{"--frob"}, {"unknown option '--frob'", "--help"}},
        {{"count", "fa2_foward"},
         {"unknown algorithm 'fa2_foward'", "did you mean fa2_forward?", "standard_attention"}},
        {{"trace", "xyzzy"}, {"unknown algorithm 'xyzzy'", "there are: ", "online_softmax"}},
        {{"trace", ""}, {"an ALGORITHM is needed", "there are: "}},
        {{"count"}, {"ALGORITHM", "fa2_forward"}},
        {{"trace"}, {"ALGORITHM", "fa2_forward"}},
        {{"check"}, {"KERNEL", "fa2_forward_1_tile"}},
        {{"check", "fa2_forward_1"}, {"unknown kernel 'fa2_forward_1'", "did you mean fa2_forward_1_tile?"}},
        {{"check", "fa2_forward_1_tile", "--without", "1"}, {"line 1 of fa2_forward_1_tile.cuh has no barrier"}},
        {{"check", "fa2_forward_1_tile", "--without", "0"}, {"--without", "0"}},
        {{"check", "all", "--without", "60"}, {"--without", "one kernel"}},
        {{"check", "fa2_forward_1_tile", "--without", "60", "--on", "cuda"}, {"--without", "--on host"}},
        {{"check", "all", "--on", "gpu"}, {"unknown --on 'gpu'", "host, ptx, cuda"}},
        {{"trace", "fa2_forward", "--kernel", "nope"}, {"unknown kernel 'nope'", "fa2_forward_1_tile"}},
        {{"trace", "fa2_forward", "--kernel", "standard_1_naive"}, {"--kernel standard_1_naive", "not fa2_forward"}},
        {{"count", "fa2_forward", "--preset", "n4d4"}, {"unknown preset 'n4d4'", "did you mean n4d3?"}},
        {{"count", "fa2_forward", "--dtype", "fp23"},
         {"unknown --dtype 'fp23'", "did you mean fp32?", "exact, fp32, fp16, bf16"}},
        {{"count", "fa2_forward", "--head", "3"}, {"unknown option '--head'", "did you mean --heads?"}},
        {{"count", "fa2_forward", "--nn", "3"}, {"unknown option '--nn'", "--nk"}},
        {{"count", "fa2_forward", "extra"}, {"'extra'"}},
        {{"list", "extra"}, {"'extra'"}},
        {{"list", "--jsno"}, {"unknown option '--jsno'", "did you mean --json?"}},
        {{"trace", "fa2_forward", "a\nb"}, {"a?b"}},
    };
    for (const Row& row : rows) check_refused(row);
}

TEST_CASE("a number out of range is refused with the option, the value and the limit") {
    const auto count = [](const char* option, const char* value) {
        return Words{"count", "fa2_forward", option, value};
    };
    const Row rows[] = {
        {count("--n", "0"), {"--n is 0", "from 1 to 16777216"}},
        {count("--n", "-1"), {"--n is -1", "from 1 to 16777216"}},
        {count("--n", "16777217"), {"--n is 16777217", "from 1 to 16777216"}},
        {count("--n", "99999999999999999999"), {"--n is 99999999999999999999", "from 1 to 16777216"}},
        {count("--n", "2.5"), {"--n is 2.5", "whole number"}},
        {count("--n", "four"), {"--n is 'four'", "whole number"}},
        {count("--n", "4x"), {"--n is '4x'", "whole number"}},
        {count("--n", " 4"), {"--n is ' 4'", "whole number"}},
        {count("--n", ""), {"--n", "whole number"}},
        {count("--nk", "0"), {"--nk is 0", "from 1 to 16777216"}},
        {count("--d", "16385"), {"--d is 16385", "from 1 to 16384"}},
        {count("--d", "0"), {"--d is 0", "from 1 to 16384"}},
        {count("--dv", "-3"), {"--dv is -3", "from 1 to 16384"}},
        {count("--br", "0"), {"--br is 0", "from 1 to 16777216"}},
        {count("--bc", "0"), {"--bc is 0", "from 1 to 16777216"}},
        {count("--batch", "0"), {"--batch is 0", "from 1 to 65536"}},
        {count("--heads", "65537"), {"--heads is 65537", "from 1 to 65536"}},
        {count("--kv-heads", "2"), {"--kv-heads is 2", "a divisor of heads, 1"}},
        {{"count", "fa2_forward", "--heads", "4", "--kv-heads", "3"}, {"--kv-heads is 3", "a divisor of heads, 4"}},
        {count("--scale", "nan"), {"--scale is 'nan'", "finite"}},
        {count("--scale", "inf"), {"--scale is 'inf'", "finite"}},
        {count("--scale", "1/3"), {"--scale is '1/3'", "finite"}},
        {count("--seed", "-1"), {"--seed is -1", "18446744073709551615"}},
        {count("--sram", "-1"), {"--sram is -1", "from 0 up"}},
        {count("--sram", "48K"), {"--sram is '48K'", "whole number"}},
        {count("--sram", "4"), {"SRAM overflow", "of 4 bytes", "not even B_r = B_c = 1 fits"}},
        {{"count", "fa2_forward", "--n"}, {"--n"}},
        {{"count", "fa2_forward", "--causal=maybe"}, {"causal"}},
        {{"count", "fa2_forward", "--n", "16777216", "--br", "1", "--bc", "1"},
         {"n 16777216", "the limit is", "larger blocks"}},
        {{"count", "fa2_forward", "--batch", "65536", "--heads", "65536", "--n", "1"},
         {"batch times heads", "at most 65536"}},
        {{"check", "all", "--batch", "46341", "--heads", "46341", "--n", "1"}, {"batch times heads", "at most 65536"}},
        {{"count", "standard_attention", "--n", "16777216", "--d", "16384", "--batch", "64"}, {"the limit of 2^63"}},
        {{"trace", "fa2_forward", "--n", "16777216", "--d", "16384"}, {"the inputs would hold", "the limit is"}},
        {{"trace", "fa2_forward", "--n", "20000", "--br", "64", "--bc", "64"}, {"would keep", "the limit is"}},
        {{"bench", "--runs", "0"}, {"--runs is 0", "from 1 to 1000"}},
        {{"check", "fa2_forward_1_tile", "--dtype", "fp16"}, {"fp16", "fp32"}},
    };
    for (const Row& row : rows) check_refused(row);
}

TEST_CASE("shot's options are looked at before any display is needed") {
    const TemporaryFolder folder;
    const std::string png = folder.file("x.png");
    const Row rows[] = {
        {{"shot"}, {"--out FILE.png"}},
        {{"shot", "--out", "x.jpg"}, {"--out is 'x.jpg'", ".png"}},
        {{"shot", "--out", "/nonexistent/x.png"}, {"there is no folder '/nonexistent'"}},
        {{"shot", "--out", png, "--size", "1280"}, {"--size is '1280'", "WIDTHxHEIGHT"}},
        {{"shot", "--out", png, "--size", "10x10"}, {"--size: the width is 10", "from 960 to 8192"}},
        {{"shot", "--out", png, "--size", "1280x99999"}, {"--size: the height is 99999", "from 600 to 8192"}},
        {{"shot", "--out", png, "--theme", "drak"}, {"unknown --theme 'drak'", "did you mean dark?"}},
        {{"shot", "--out", png, "--lang", "fr"}, {"unknown --lang 'fr'", "en, zh"}},
        {{"shot", "--out", png, "--step", "-1"}, {"--step is -1", "from 0"}},
        {{"shot", "--out", png, "--lesson", "fa2_foward"},
         {"unknown lesson 'fa2_foward'", "did you mean fa2_forward?"}},
        {{"shot", "--out", png, "--preset", "n9"}, {"unknown preset 'n9'", "n4d3"}},
        {{"shot", "--out", png, "--fault", "no-rescal"}, {"unknown --fault 'no-rescal'", "did you mean no-rescale?"}},
        {{"shot", "--out", png, "--layout", "leson"}, {"unknown layout 'leson'", "did you mean lesson?"}},
        {{"shot", "--out", png, "--source", "cude"}, {"unknown source 'cude'", "did you mean cuda?"}},
        {{"shot", "--out", png, "--on", "gpu"}, {"unknown --on 'gpu'", "host, ptx, cuda"}},
        {{"shot", "--out", png, "--beat", "1"}, {"--beat needs the lesson", "--lesson ID"}},
        {{"shot", "--out", png, "--lesson", "fa2_forward", "--beat", "0"}, {"--beat is 0", "from 1"}},
        {{"shot", "--out", png, "--lesson", "fa2_forward", "--beat", "999"}, {"--beat is 999", "from 1"}},
        {{"shot", "--out", png, "--lesson", "fa2_forward", "--beat", "2", "--step", "3"},
         {"--beat 2 and --step 3 name two places", "leave one"}},
        {{"shot", "--out", png, "--lesson", "fa2_forward", "--beat", "2", "--fault", "no-rescale"},
         {"--beat 2 and --fault no-rescale name two places", "leave one"}},
    };
    for (const Row& row : rows) check_refused(row);
    // Right use on a machine with neither a display nor xvfb-run, or in a build without a window: not available.
    const auto output = run_program({"shot", "--out", png}, {"PATH="});
    CHECK(output.status == 77);
    CHECK((output.err.find("xvfb") != std::string::npos || output.err.find("FLASHSTEP_VIZ") != std::string::npos));
}

TEST_CASE("missing, malformed and contradicting files are refused with their names") {
    const TemporaryFolder folder;
    write_matrix(folder.file("q.npy"), {4, 3});
    write_matrix(folder.file("k.npy"), {6, 4});
    write_matrix(folder.file("v.npy"), {5, 3});
    write_matrix(folder.file("q4.npy"), {2, 4, 4, 3});
    write_matrix(folder.file("k4.npy"), {2, 3, 4, 3});
    write_matrix(folder.file("k1.npy"), {1, 2, 4, 3});
    write_matrix(folder.file("three.npy"), {2, 4, 3});
    write_matrix(folder.file("none.npy"), {0, 3});
    const std::string bytes = flashstep::testing::text_of(folder.file("q.npy"));
    write_text(folder.file("short.npy"), bytes.substr(0, bytes.size() - 8));
    write_text(folder.file("header.npy"), bytes.substr(0, 30));
    std::string object = bytes;
    object.replace(object.find("<f8"), 3, "|O8");
    write_text(folder.file("object.npy"), object);
    std::string huge = bytes;
    huge.replace(huge.find("(4, 3)"), 6, "(9999999999, 99999)");
    write_text(folder.file("huge.npy"), huge);
    write_text(folder.file("ragged.csv"), "1,2,3\n4,5\n");
    write_text(folder.file("words.csv"), "a,b\n");
    write_text(folder.file("empty.csv"), "");
    const auto trace = [&](std::vector<std::pair<std::string, std::string>> files, Words more = {}) {
        Words words = {"trace", "fa2_forward"};
        for (const auto& [option, name] : files) words.insert(words.end(), {option, folder.file(name)});
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    const Row rows[] = {
        {trace({{"--q", "missing.npy"}}), {"--q", "missing.npy", "No such file"}},
        {trace({{"--q", "q.txt"}}), {"--q", "q.txt", "has to end in .npy or .csv"}},
        {{"trace", "fa2_forward", "--q", folder.path()}, {"--q", "has to end in .npy or .csv"}},
        {trace({{"--q", "short.npy"}}), {"--q", "short.npy", "takes 96 bytes, the file holds 88"}},
        {trace({{"--q", "header.npy"}}), {"--q", "header.npy", "truncated .npy header"}},
        {trace({{"--q", "object.npy"}}), {"--q", "object.npy", "dtype '|O8' is not supported"}},
        {trace({{"--q", "huge.npy"}}), {"--q", "more than 67108864 elements"}},
        {trace({{"--q", "ragged.csv"}}), {"--q", "ragged.csv: line 2, column 3", "the row has 2 numbers"}},
        {trace({{"--v", "words.csv"}}), {"--v", "words.csv: line 1, column 1: 'a' is not a number"}},
        {trace({{"--k", "empty.csv"}}), {"--k", "empty.csv: no numbers"}},
        {trace({{"--do", "three.npy"}}), {"--do", "(2, 4, 3) has 3 dimensions"}},
        {trace({{"--x", "none.npy"}}), {"--x", "(0, 3) has no elements"}},
        {trace({{"--q", "q.npy"}}, {"--n", "5"}), {"--n is 5", "--q", "q.npy", "has 4 rows"}},
        {trace({{"--q", "q.npy"}}, {"--d", "4"}), {"--d is 4", "has 3 columns"}},
        {trace({{"--q", "q.npy"}, {"--k", "k.npy"}}), {"--q", "has 3 columns", "--k", "has 4 columns"}},
        {trace({{"--k", "k.npy"}, {"--v", "v.npy"}}), {"--k", "has 6 rows", "--v", "has 5 rows"}},
        {trace({{"--q", "q.npy"}}, {"--heads", "2"}), {"--heads is 2", "has 1 heads"}},
        {trace({{"--q", "q4.npy"}, {"--k", "k4.npy"}}), {"--kv-heads is 3", "a divisor of heads, 4"}},
        {trace({{"--q", "q4.npy"}, {"--k", "k1.npy"}}), {"has 2 batch entries", "has 1 batch entries"}},
        {trace({{"--q", "q4.npy"}}, {"--kv-heads", "3"}), {"--kv-heads is 3", "a divisor of heads, 4"}},
        {{"trace", "fa2_forward", "--out", folder.file("q.npy")}, {"--out", "q.npy", "folder"}},
        {{"trace", "fa2_forward", "--out", "/proc/nonexistent/x"}, {"--out", "cannot be made a folder"}},
    };
    for (const Row& row : rows) check_refused(row);
}
