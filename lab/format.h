// Numbers as the app writes them: three significant digits in cells, bytes with units, exact values in full.
#pragma once

#include <cstdint>
#include <string>

namespace flashstep {

// A number of a cell. UTF-8 with U+2212 for minus and U+221E for infinity; no heap.
struct NumberText {
    char text[20] = {};
    int bytes = 0;       // length of `text`
    int width = 0;       // characters
    int whole = 0;       // characters up to the decimal point (or the end): the part right of which columns align
    bool alarm = false;  // NaN or +inf; -inf is what a mask writes
};

// Three significant digits: "0.123", "−12.3", "1.2e5"; trailing zeros go if the number is exactly that ("2", "0.5").
NumberText short_number(double value);
int short_number_width(double value);  // characters, without writing them

std::string exact_number(double value);       // as many digits as bring back the same double
std::string bytes_text(std::int64_t bytes);   // "512 B", "1.5 KiB", "4.38 GiB"
std::string count_text(std::int64_t count);   // with separators: "4,456,448"
std::string short_count(std::int64_t count);  // "4,456" as it is, above ten thousand "44.6k"
std::string factor_text(double factor);       // "0.46×"
std::string error_text(double error);         // "2e−7"; "0" for 0

}  // namespace flashstep
