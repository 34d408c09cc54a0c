// The binary container of trace files.
#include "core/io/sections.h"

#include <fmt/format.h>

#include <bit>
#include <boost/crc.hpp>

#include "core/error.h"
#include "core/io/file.h"

namespace flashstep::io {
namespace {

// As PNG's: shows what takes the file for text, converts its line ends or strips its eighth bit.
constexpr std::string_view kMagic =
    "\x89"
    "FST\r\n\x1a\n";
constexpr std::string_view kEnd = "END ";
constexpr const char* kDamaged = "the file is damaged or was cut off: copy it again, or save the trace again";

// Over tag, length and payload.
std::uint32_t checksum(std::string_view tag, std::string_view payload) {
    ByteWriter head;
    head.raw(tag);
    head.u64(payload.size());
    const std::string bytes = head.take();
    boost::crc_32_type crc;
    crc.process_bytes(bytes.data(), bytes.size());
    crc.process_bytes(payload.data(), payload.size());
    return crc.checksum();
}

}  // namespace

void ByteWriter::put(std::uint64_t value, int bytes) {
    for (int shift = 0; shift < 8 * bytes; shift += 8) bytes_ += static_cast<char>(value >> shift & 0xff);
}

void ByteWriter::f64(double value) { u64(std::bit_cast<std::uint64_t>(value)); }

void ByteWriter::text(std::string_view text) {
    u32(static_cast<std::uint32_t>(text.size()));
    raw(text);
}

void ByteReader::refuse(std::size_t offset, const std::string& what) const {
    throw Error(fmt::format("{}: byte {}: {}", quoted(name_, 200), offset, what), kDamaged);
}

std::string_view ByteReader::raw(std::size_t count) {
    if (count > left()) refuse(offset(), fmt::format("expected {} more bytes, found {}", count, left()));
    const std::string_view bytes = bytes_.substr(at_, count);
    at_ += count;
    return bytes;
}

std::uint64_t ByteReader::take(std::size_t count) {
    const std::string_view bytes = raw(count);
    std::uint64_t value = 0;
    for (std::size_t k = 0; k < count; ++k) value |= std::uint64_t{static_cast<unsigned char>(bytes[k])} << 8 * k;
    return value;
}

double ByteReader::f64() { return std::bit_cast<double>(u64()); }

std::string ByteReader::text(std::size_t most) {
    const std::size_t start = offset();
    const std::uint32_t length = u32();
    if (length > most) refuse(start, fmt::format("expected a text of at most {} bytes, found {}", most, length));
    const std::string_view text = raw(length);
    for (std::size_t k = 0; k < text.size(); ++k)
        if (text[k] < 0x20 || text[k] > 0x7e)
            refuse(start + 4 + k, fmt::format("expected printable ASCII, found byte {:#04x}",
                                              static_cast<unsigned>(static_cast<unsigned char>(text[k]))));
    return std::string(text);
}

std::size_t ByteReader::count(std::size_t item_bytes, std::string_view what) {
    const std::size_t start = offset();
    const std::uint64_t items = u64();
    if (items > left() / item_bytes)
        refuse(start, fmt::format("expected at most {} {}, as {} bytes follow; found {}", left() / item_bytes, what,
                                  left(), items));
    return static_cast<std::size_t>(items);
}

void ByteReader::expect_end(std::string_view what) const {
    if (left() > 0) refuse(offset(), fmt::format("expected the end of {}, found {} more bytes", what, left()));
}

SectionWriter::SectionWriter(std::string_view content) {
    file_.raw(kMagic);
    file_.u32(kSectionsVersion);
    file_.raw(content);
}

void SectionWriter::section(std::string_view tag, ByteWriter&& payload) {
    const std::string bytes = payload.take();
    file_.raw(tag);
    file_.u32(checksum(tag, bytes));
    file_.u64(bytes.size());
    file_.raw(bytes);
}

std::string SectionWriter::finish() {
    section(kEnd, {});
    if (static_cast<std::int64_t>(file_.size()) > kMaxFileBytes)
        throw Error(fmt::format("the file would take {} bytes, the limit is {}", file_.size(), kMaxFileBytes),
                    "save a smaller problem");
    return file_.take();
}

SectionReader::SectionReader(std::string_view bytes, const std::string& name, std::string_view content)
    : file_(bytes, 0, name), name_(name) {
    if (!bytes.starts_with(kMagic.substr(0, 4)))
        throw Error(fmt::format("{}: byte 0: expected a flashstep file, which starts with \\x89FST, found {}",
                                quoted(name, 200), bytes.empty() ? "nothing" : quoted(bytes.substr(0, 4))),
                    "`flashstep trace ALGORITHM --save FILE` writes one");
    if (!bytes.starts_with(kMagic)) {
        std::size_t k = 4;
        while (k < bytes.size() && bytes[k] == kMagic[k]) ++k;
        file_.refuse(k, k == bytes.size() ? "expected more bytes, found the end of the file"
                                          : "line ends were converted: this is no text file");
    }
    file_.raw(kMagic.size());
    if (const std::uint32_t version = file_.u32(); version != kSectionsVersion)
        throw Error(fmt::format("{}: byte {}: expected format version {}, found {}", quoted(name, 200), kMagic.size(),
                                kSectionsVersion, version),
                    version > kSectionsVersion ? "it was written by a newer flashstep: update yours"
                    : version > 0              ? "it was written by an older flashstep: save it again"
                                               : kDamaged);
    const std::size_t start = file_.offset();
    if (const std::string_view found = file_.raw(content.size()); found != content)
        file_.refuse(start, fmt::format("expected content {}, found {}", quoted(content), quoted(found)));
}

ByteReader SectionReader::section(std::string_view tag) {
    const std::size_t start = file_.offset();
    if (const std::string_view found = file_.raw(tag.size()); found != tag)
        file_.refuse(start, fmt::format("expected section {}, found {}", quoted(tag), quoted(found)));
    const std::size_t sum_at = file_.offset();
    const std::uint32_t sum = file_.u32();
    const std::size_t length_at = file_.offset();
    const std::uint64_t length = file_.u64();
    if (length > file_.left())
        file_.refuse(length_at,
                     fmt::format("expected {} bytes of section {}, found {}", length, quoted(tag), file_.left()));
    const std::size_t offset = file_.offset();
    const std::string_view payload = file_.raw(static_cast<std::size_t>(length));
    if (const std::uint32_t found = checksum(tag, payload); found != sum)
        file_.refuse(sum_at,
                     fmt::format("expected checksum {:08x} of section {}, found {:08x}", sum, quoted(tag), found));
    return {payload, offset, name_};
}

void SectionReader::finish() {
    section(kEnd).expect_end("the last section");
    file_.expect_end("the file");
}

}  // namespace flashstep::io
