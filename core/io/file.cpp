// Reading and writing whole files, with one-line errors.
#include "core/io/file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "core/error.h"

namespace flashstep::io {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

}  // namespace

std::string read_file(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        throw Error(fmt::format("{} is a folder, not a file", quoted(path, 200)));
    errno = 0;
    const File file(std::fopen(path.c_str(), "rb"));
    if (!file) throw Error(fmt::format("cannot read {}: {}", quoted(path, 200), std::strerror(errno)));
    // In pieces, because a pipe has no size and a file's may change.
    std::string bytes;
    std::array<char, 1 << 16> piece;
    while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), file.get())) {
        bytes.append(piece.data(), got);
        if (static_cast<std::int64_t>(bytes.size()) > kMaxFileBytes)
            throw Error(
                fmt::format("{} is larger than {} bytes, the most that is read", quoted(path, 200), kMaxFileBytes));
    }
    if (std::ferror(file.get()))
        throw Error(fmt::format("cannot read {}: {}", quoted(path, 200), std::strerror(errno)));
    return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
    errno = 0;
    File file(std::fopen(path.c_str(), "wb"));
    bool ok = file && std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
    if (file) ok = std::fclose(file.release()) == 0 && ok;  // a full disk may show only here
    if (!ok) throw Error(fmt::format("cannot write {}: {}", quoted(path, 200), std::strerror(errno)));
}

std::string quoted(std::string_view text, std::size_t most) {
    std::string out = "'";
    for (const char c : text.substr(0, most)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    // Never end within a UTF-8 sequence: drop a cut-off one.
    if (text.size() > most) {
        while (out.size() > 1 && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
        if (out.size() > 1 && (static_cast<unsigned char>(out.back()) & 0xc0) == 0xc0) out.pop_back();
        out += "...";
    }
    return out + "'";
}

}  // namespace flashstep::io
