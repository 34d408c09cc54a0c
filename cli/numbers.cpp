// Numbers that a person typed.
#include "cli/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/io/file.h"

namespace flashstep::cli {
namespace {

// True if the whole text is a number of type T that T holds.
template <typename T>
bool parse(const std::string& text, T& value) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end;
}

[[noreturn]] void refuse(const std::string& option, const std::string& text, const std::string& limit) {
    const bool plain =
        text.find_first_not_of("+-0123456789.eE") == std::string::npos && !text.empty() && text.size() < 40;
    throw Error(fmt::format("{} is {}, but has to be {}", option, plain ? text : io::quoted(text), limit));
}

}  // namespace

std::int64_t whole_number(const std::string& option, const std::string& text, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    if (parse(text, value) && value >= least && value <= most) return value;
    refuse(option, text,
           most == std::numeric_limits<std::int64_t>::max() ? fmt::format("a whole number from {} up", least)
                                                            : fmt::format("a whole number from {} to {}", least, most));
}

double finite_number(const std::string& option, const std::string& text) {
    double value = 0;
    if (parse(text, value) && std::isfinite(value)) return value;
    refuse(option, text, "a finite number");
}

std::uint64_t seed_number(const std::string& option, const std::string& text) {
    std::uint64_t value = 0;
    if (parse(text, value)) return value;
    refuse(option, text, fmt::format("a whole number from 0 to {}", std::numeric_limits<std::uint64_t>::max()));
}

}  // namespace flashstep::cli
