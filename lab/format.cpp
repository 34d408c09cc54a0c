// Number formatting without heap or locale.
#include "lab/format.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace flashstep {
namespace {

constexpr char kMinus[] = "\u2212", kInfinity[] = "\u221E";

// The digits of |v| to three significant places: v ~ digits[0].digits[1]digits[2] x 10^exponent.
struct Digits {
    char digits[3];
    int count;  // without trailing zeros if they are exact
    int exponent;
};

Digits three_digits(double v) {
    char text[16];
    const auto end = std::to_chars(text, text + sizeof text, v, std::chars_format::scientific, 2).ptr;
    Digits d{{text[0], text[2], text[3]}, 3, 0};
    std::from_chars(text + (text[5] == '+' ? 6 : 5), end, d.exponent);
    // "0.5" if the value is exactly that, "0.500" if it was rounded. Doubles close to a short decimal, as 0.1, count as
    // it.
    double read = 0;
    std::from_chars(text, end, read);
    if (std::abs(read - v) <= 1e-14 * v) {
        while (d.count > 1 && d.digits[d.count - 1] == '0') --d.count;
    }
    return d;
}

}  // namespace

NumberText short_number(double value) {
    NumberText n;
    const auto put = [&](char c) {
        n.text[n.bytes++] = c;
        ++n.width;
    };
    const auto put_sign = [&](const char* s) {
        for (; *s; ++s) n.text[n.bytes++] = *s;
        ++n.width;
    };
    if (std::isnan(value)) {
        for (const char c : {'N', 'a', 'N'}) put(c);
        n.whole = n.width;
        n.alarm = true;
        return n;
    }
    if (std::signbit(value) && value != 0) put_sign(kMinus);
    if (std::isinf(value)) {
        put_sign(kInfinity);
        n.whole = n.width;
        n.alarm = value > 0;
        return n;
    }
    if (value == 0) {
        put('0');
        n.whole = 1;
        return n;
    }
    const Digits d = three_digits(std::abs(value));
    if (d.exponent >= 0 && d.exponent <= 2) {
        for (int k = 0; k <= d.exponent; ++k) put(k < d.count ? d.digits[k] : '0');
        n.whole = n.width;
        if (d.count > d.exponent + 1) {
            put('.');
            for (int k = d.exponent + 1; k < d.count; ++k) put(d.digits[k]);
        }
    } else if (d.exponent < 0 && d.exponent >= -2) {
        put('0');
        n.whole = n.width;
        put('.');
        for (int k = -1; k > d.exponent; --k) put('0');
        for (int k = 0; k < d.count; ++k) put(d.digits[k]);
    } else {
        // Two digits of mantissa keep the cell narrow; the whole value is in the tooltip.
        char text[16];
        const auto end = std::to_chars(text, text + sizeof text, std::abs(value), std::chars_format::scientific, 1).ptr;
        put(text[0]);
        n.whole = n.width;
        if (text[2] != '0') {
            put('.');
            put(text[2]);
        }
        put('e');
        int exponent = 0;
        std::from_chars(text + (text[4] == '+' ? 5 : 4), end, exponent);
        if (exponent < 0) put_sign(kMinus);
        char digits[4];
        const auto stop = std::to_chars(digits, digits + sizeof digits, std::abs(exponent)).ptr;
        for (const char* p = digits; p < stop; ++p) put(*p);
    }
    return n;
}

int short_number_width(double value) { return short_number(value).width; }

std::string exact_number(double value) {
    if (std::isnan(value)) return "NaN";
    std::string out = std::signbit(value) && value != 0 ? kMinus : "";
    if (std::isinf(value)) return out + kInfinity;
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, std::abs(value)).ptr;
    for (const char* p = text; p < end; ++p) {
        if (*p == '-')
            out += kMinus;
        else if (*p != '+')
            out += *p;
    }
    return out;
}

std::string bytes_text(std::int64_t bytes) {
    static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = std::abs(static_cast<double>(bytes));
    int unit = 0;
    while (unit < 4 && v >= 1024) {
        v /= 1024;
        ++unit;
    }
    std::string out = bytes < 0 ? kMinus : "";
    if (unit == 0) return out + std::to_string(std::abs(bytes)) + " B";
    if (v >= 999.5) return out + std::to_string(std::llround(v)) + " " + kUnits[unit];
    return out + short_number(v).text + " " + kUnits[unit];
}

std::string count_text(std::int64_t count) {
    const std::string digits = std::to_string(count);
    std::string out;
    for (std::size_t k = 0; k < digits.size(); ++k) {
        const std::size_t left = digits.size() - k;
        if (digits[k] == '-') {
            out += kMinus;
            continue;
        }
        if (left % 3 == 0 && k > 0 && digits[k - 1] != '-') out += ',';
        out += digits[k];
    }
    return out;
}

std::string short_count(std::int64_t count) {
    if (count < 10000) return count_text(count);
    double v = static_cast<double>(count);
    const char* unit = "";
    for (const char* next : {"k", "M", "G", "T", "P"}) {
        if (v < 1000) break;
        v /= 1000, unit = next;
    }
    return short_number(v).text + std::string(unit);
}

std::string factor_text(double factor) { return std::string(short_number(factor).text) + "\u00D7"; }

std::string error_text(double error) {
    if (std::isnan(error) || std::isinf(error) || error == 0) return short_number(error).text;
    char text[16];
    const auto end = std::to_chars(text, text + sizeof text, error, std::chars_format::scientific, 0).ptr;
    std::string out;
    const std::string all(text, end);
    const std::size_t e = all.find('e');
    out = all.substr(0, e) + "e";
    if (all[e + 1] == '-') out += kMinus;
    std::size_t first = e + 2;
    while (first + 1 < all.size() && all[first] == '0') ++first;
    return out + all.substr(first);
}

}  // namespace flashstep
