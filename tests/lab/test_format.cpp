// Numbers as cells and panels write them.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "lab/format.h"

using namespace flashstep;

namespace {
std::string cell(double v) { return short_number(v).text; }
constexpr double kInfinite = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("a cell shows three significant digits, fewer where the number is exactly that") {
    CHECK(cell(0) == "0");
    CHECK(cell(-0.0) == "0");
    CHECK(cell(2) == "2");
    CHECK(cell(0.5) == "0.5");
    CHECK(cell(0.1) == "0.1");
    CHECK(cell(0.50001) == "0.500");
    CHECK(cell(1.0 / 3) == "0.333");
    CHECK(cell(-12.345) == "−12.3");
    CHECK(cell(-0.0133) == "−0.0133");
    CHECK(cell(100) == "100");
    CHECK(cell(120.4) == "120");
    CHECK(cell(999.7) == "1e3");
    CHECK(cell(0.9996) == "1.00");
    CHECK(cell(73728) == "7.4e4");
    CHECK(cell(-0.00123) == "−1.2e−3");
    CHECK(cell(1e-300) == "1e−300");
    CHECK(cell(-1.7976931348623157e308) == "−1.8e308");
    CHECK(cell(5e-324) == "4.9e−324");
}

TEST_CASE("infinity is a sign; NaN and plus infinity alarm, minus infinity is what a mask writes") {
    CHECK(cell(-kInfinite) == "−∞");
    CHECK(cell(kInfinite) == "∞");
    CHECK_FALSE(short_number(-kInfinite).alarm);
    CHECK(short_number(kInfinite).alarm);
    CHECK(short_number(std::nan("")).alarm);
    CHECK(cell(std::nan("")) == "NaN");
}

TEST_CASE("width counts characters, and the whole part ends at the decimal point") {
    const NumberText n = short_number(-0.333);
    CHECK(n.width == 6);
    CHECK(n.whole == 2);
    CHECK(n.bytes == 8);
    CHECK(short_number(12.5).whole == 2);
    CHECK(short_number(-kInfinite).width == 2);
    CHECK(short_number_width(-0.123) == 6);
}

TEST_CASE("an exact number reads back as the same double") {
    for (const double v : {0.1, -1.0 / 3, 6.02214076e23, 1e-7, 123456789.0}) {
        const std::string shown = exact_number(v), minus = "−";
        std::string text;
        for (std::size_t at = 0; at < shown.size();) {
            const bool sign = shown.compare(at, minus.size(), minus) == 0;
            text += sign ? '-' : shown[at];
            at += sign ? minus.size() : 1;
        }
        CHECK(std::strtod(text.c_str(), nullptr) == v);
    }
    CHECK(exact_number(-kInfinite) == "−∞");
}

TEST_CASE("bytes, counts, factors and errors") {
    CHECK(bytes_text(0) == "0 B");
    CHECK(bytes_text(512) == "512 B");
    CHECK(bytes_text(1536) == "1.5 KiB");
    CHECK(bytes_text(49152) == "48 KiB");
    CHECK(bytes_text(1023 * 1024) == "1023 KiB");
    CHECK(bytes_text(4379000000) == "4.08 GiB");
    CHECK(count_text(0) == "0");
    CHECK(count_text(999) == "999");
    CHECK(count_text(4456448) == "4,456,448");
    CHECK(count_text(-123456) == "−123,456");
    CHECK(factor_text(0.46) == "0.46×");
    CHECK(error_text(2.1e-7) == "2e−7");
    CHECK(error_text(0) == "0");
    CHECK(error_text(1.5) == "2e0");
}
