// Reading and writing whole files, with one-line errors.
#include "core/io/file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "core/error.h"
#include "core/say.h"

namespace flashstep::io {
namespace {

namespace fs = std::filesystem;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Sentence kind_of(const fs::file_status& status) {
    switch (status.type()) {
        case fs::file_type::fifo:
            return {"pipe", "管道"};
        case fs::file_type::socket:
            return {"socket", "套接字"};
        case fs::file_type::block:
        case fs::file_type::character:
            return {"device", "设备"};
        default:
            return {"special file", "特殊文件"};
    }
}

// What a file that a person names can meet; the rest as the system says it.
Sentence system_error(int number) {
    const char* text = std::strerror(number);
    if (number == ENOENT) return {text, "没有这个文件或文件夹"};
    if (number == EACCES) return {text, "没有访问权限"};
    return text;
}

// Writes a file from its beginning; 0 or the system's error number.
int put(const std::string& path, const char* mode, std::string_view bytes) {
    errno = 0;
    File file(std::fopen(path.c_str(), mode));
    if (!file) return errno;
    bool ok = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
    const int error = errno;
    ok = std::fclose(file.release()) == 0 && ok;  // a full disk may show only here
    return ok ? 0 : error ? error : errno ? errno : EIO;
}

}  // namespace

std::string read_file(const std::string& path) {
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    if (fs::is_directory(status))
        throw Error(say("{} is a folder, not a file", "{} 是文件夹，不是文件", quoted(path, 200)));
    if (fs::exists(status) && !fs::is_regular_file(status))  // opening a pipe may wait for ever, a device has no end
        throw Error(say("{} is a {}, not a regular file", "{} 不是普通文件（{}）", quoted(path, 200), kind_of(status)),
                    {"save its content to a file first", "请先把内容存成文件"});
    const auto too_large = [&] {
        return Error(say("{} is larger than {} bytes, the most that is read", "{} 超过 {} 字节，这是可读取的上限",
                         quoted(path, 200), kMaxFileBytes));
    };
    if (const std::uintmax_t size = fs::file_size(path, failed); !failed && size > kMaxFileBytes) throw too_large();
    errno = 0;
    const File file(std::fopen(path.c_str(), "rb"));
    if (!file) throw Error(say("cannot read {}: {}", "无法读取 {}：{}", quoted(path, 200), system_error(errno)));
    // In pieces, because the size may change, and some files under /proc say that it is 0.
    std::string bytes;
    std::array<char, 1 << 16> piece;
    while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), file.get())) {
        bytes.append(piece.data(), got);
        if (static_cast<std::int64_t>(bytes.size()) > kMaxFileBytes) throw too_large();
    }
    if (std::ferror(file.get()))
        throw Error(say("cannot read {}: {}", "无法读取 {}：{}", quoted(path, 200), system_error(errno)));
    return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
    const auto refuse = [&](const std::string& reason) {
        throw Error(fmt::format("cannot write {}: {}", quoted(path, 200), reason));
    };
    std::error_code failed;
    const fs::file_status old = fs::status(path, failed), link = fs::symlink_status(path, failed);
    if (fs::is_directory(old)) refuse(std::strerror(EISDIR));
    const bool to_device = fs::exists(old) && !fs::is_regular_file(old),
               dangling = fs::is_symlink(link) && !fs::exists(old);
    if (to_device || dangling) {  // nothing there that could be lost
        if (const int error = put(path, "wb", bytes)) refuse(std::strerror(error));
        return;
    }
    // What a link points to is replaced, not the link. The new file is in the same folder, so that it can be renamed.
    const fs::path target = fs::exists(old) ? fs::canonical(path) : fs::path(path);
    const fs::path fresh = target.parent_path() / fmt::format(".flashstep-{}.part", ::getpid());
    if (const int error = put(fresh.string(), "wbx", bytes)) {
        if (error != EEXIST) fs::remove(fresh, failed);
        refuse(std::strerror(error));
    }
    if (fs::exists(old)) fs::permissions(fresh, old.permissions(), failed);
    fs::rename(fresh, target, failed);
    if (!failed) return;
    const std::string reason = failed.message();
    fs::remove(fresh, failed);
    refuse(reason);
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
