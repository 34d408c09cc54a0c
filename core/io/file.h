// Files from outside: read whole, bounded, and quoted in one line when something is wrong with them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flashstep::io {

// Most elements that a matrix file may hold: 512 MiB as doubles.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 26;
// Most bytes of a file that is read: kMaxElements numbers of 16 characters each.
constexpr std::int64_t kMaxFileBytes = kMaxElements * 16;

// The bytes of a file. Throws Error: missing, a folder, a pipe or a device, not readable, larger than kMaxFileBytes.
std::string read_file(const std::string& path);

// Replaces the file at once: after an error the old one is still there. Pipes and devices are written to. Throws Error
// naming the file and the system's reason.
void write_file(const std::string& path, std::string_view bytes);

// Text from outside as it may stand in a message: in quotes, at most `most` bytes, control characters as '?'.
std::string quoted(std::string_view text, std::size_t most = 40);

}  // namespace flashstep::io
