// Numbers that a person typed.
#pragma once

#include <cstdint>
#include <string>

namespace flashstep::cli {

// A whole number in [least, most]. Throws Error: "--n is 0, but has to be a whole number from 1 to 16777216".
std::int64_t whole_number(const std::string& option, const std::string& text, std::int64_t least, std::int64_t most);

// Any finite number. Throws Error naming the option and the text.
double finite_number(const std::string& option, const std::string& text);

// Any 64-bit seed.
std::uint64_t seed_number(const std::string& option, const std::string& text);

}  // namespace flashstep::cli
