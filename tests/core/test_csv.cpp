// The .csv reader: separators, comments, inf and nan; errors name line and column.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "core/error.h"
#include "core/io/csv.h"
#include "core/io/json.h"

using namespace flashstep;
using namespace flashstep::io;

namespace {

std::string error_of(const std::string& text) {
    try {
        parse_csv(text, "x.csv");
    } catch (const Error& error) { return error.what(); }
    return "no error";
}

}  // namespace

TEST_CASE("commas, semicolons and white space separate the same numbers") {
    Matrix expected(2, 3);
    expected << 1, -2.5, 3000, 0.25, 5, 6;
    for (const char* text : {"1,-2.5,3e3\n.25,5,6\n", "1;-2.5;3e3\r\n.25;5;6", "  1 -2.5\t3e3 \n\n.25  5 6\n",
                             "# head\n1, -2.5, +3e3 # tail\r.25 ,5 , 6",
                             "\xef\xbb\xbf"
                             "1,-2.5,3e3\n0.25,5.0,6."})
        CHECK(parse_csv(text, "x") == expected);
}

TEST_CASE("inf and nan are data in any case") {
    const Matrix values = parse_csv("inf -inf +INF nan NaN Infinity", "x");
    REQUIRE(values.cols() == 6);
    CHECK((values(0, 0) == kInf && values(0, 1) == -kInf && values(0, 2) == kInf && values(0, 5) == kInf));
    CHECK((std::isnan(values(0, 3)) && std::isnan(values(0, 4))));
}

TEST_CASE("numbers at the edge of a double are read") {
    const Matrix values = parse_csv("1e-400 -4.9e-324 1.7976931348623157e308 0.1", "x");
    CHECK((values(0, 0) == 0 && values(0, 1) == -4.9e-324 && values(0, 2) == 1.7976931348623157e308 &&
           values(0, 3) == 0.1));
}

TEST_CASE("a malformed file gives one line with the line and the column") {
    struct Row {
        const char *text, *message;
    };
    const Row rows[] = {
        {"", "x.csv: no numbers in it"},
        {"\n # only words\n", "x.csv: no numbers in it"},
        {"1,2\n3,x4", "x.csv: line 2, column 2: 'x4' is not a number"},
        {"q0,q1\n1,2", "x.csv: line 1, column 1: 'q0' is not a number"},
        {"1,2\n\n3,4,5", "x.csv: line 3, column 3: the row has 3 numbers, the first row has 2"},
        {"1,2,3\n3", "x.csv: line 2, column 2: the row has 1 numbers, the first row has 3"},
        {"1,,3", "x.csv: line 1, column 2: an empty cell"},
        {"1,2,", "x.csv: line 1, column 3: an empty cell"},
        {",1", "x.csv: line 1, column 1: an empty cell"},
        {"1,5;2,5", "x.csv: line 1, column 1: commas and semicolons in one file"},
        {"1,2\n1;2", "x.csv: line 2, column 1: commas and semicolons in one file"},
        {"1,2 3", "x.csv: line 1, column 2: '2 3' is not a number"},
        {"1e999", "x.csv: line 1, column 1: '1e999' is too large for a double"},
        {"1.2.3", "x.csv: line 1, column 1: '1.2.3' is not a number"},
        {"0x10", "x.csv: line 1, column 1: '0x10' is not a number"},
        {"+-1", "x.csv: line 1, column 1: '+-1' is not a number"},
        {"--", "x.csv: line 1, column 1: '--' is not a number"},
        {"1,\x01x\x02", "x.csv: line 1, column 2: '?x?' is not a number"},
        {"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
         "x.csv: line 1, column 1: 'abcdefghijklmnopqrstuvwxyzabcdefghijklmn...' is not a number"},
    };
    for (const Row& row : rows) CHECK(error_of(row.text) == row.message);
    CHECK(error_of(std::string("1,\0", 3)) == "x.csv: line 1, column 2: '?' is not a number");
}

TEST_CASE("mutated text is read or refused, never more") {
    std::mt19937 random(5);
    const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
    int read = 0, refused = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text = "1.5,-2,3e-2\n# c\n4,inf,nan\n7,8,9\n";
        for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
            switch (below(4)) {
                case 0:
                    text[below(text.size())] = static_cast<char>(random());
                    break;
                case 1:
                    text.erase(below(text.size()), 1 + below(3));
                    break;
                case 2:
                    text.insert(below(text.size()), 1 + below(3), "0123456789,;.e+-#\n\r \tinfa"[below(25)]);
                    break;
                default:
                    text.resize(below(text.size()) + 1);
                    break;
            }
            if (text.empty()) text = "1";
        }
        try {
            const Matrix values = parse_csv(text, "x");
            CHECK(values.size() <= static_cast<Eigen::Index>(text.size()));
            ++read;
        } catch (const Error& error) {
            CHECK(std::string(error.what()).find('\n') == std::string::npos);
            ++refused;
        }
    }
    CHECK(read > 100);
    CHECK(refused > 100);
}

TEST_CASE("JSON holds inf, -inf and nan as strings and survives bytes that are not UTF-8") {
    Matrix values(1, 4);
    values << 0.1, kInf, -kInf, std::nan("");
    CHECK(json_text(json_matrix(values), -1) == "[[0.1,\"inf\",\"-inf\",\"nan\"]]");
    CHECK(Json::parse(json_text(Json("\xff\xfe"), -1)).is_string());
    Json ordered;
    ordered["z"] = 1;
    ordered["a"] = 2;
    CHECK(json_text(ordered, -1) == "{\"z\":1,\"a\":2}");
}
