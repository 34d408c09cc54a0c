// A binary container: magic, version, content, then sections of tag, checksum, length and bytes. All little-endian,
// every value put and taken one by one. What is wrong in a file is named by its byte offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace flashstep::io {

// The version that is written, and the newest that is read.
constexpr std::uint32_t kSectionsVersion = 2;

// Puts values at the end of some bytes.
class ByteWriter {
  public:
    void u8(std::uint8_t value) { bytes_ += static_cast<char>(value); }
    void u32(std::uint32_t value) { put(value, 4); }
    void u64(std::uint64_t value) { put(value, 8); }
    void i32(std::int32_t value) { u32(static_cast<std::uint32_t>(value)); }
    void i64(std::int64_t value) { u64(static_cast<std::uint64_t>(value)); }
    void f64(double value);
    void text(std::string_view text);  // length (u32), bytes
    void raw(std::string_view bytes) { bytes_ += bytes; }
    std::string take() { return std::move(bytes_); }
    std::size_t size() const { return bytes_.size(); }

  private:
    void put(std::uint64_t value, int bytes);
    std::string bytes_;
};

// Takes values from the bytes of a file. Never reads beyond them.
class ByteReader {
  public:
    // `bytes` begin at `offset` of the file `name`, which stands in messages; both have to outlive the reader.
    ByteReader(std::string_view bytes, std::size_t offset, const std::string& name)
        : bytes_(bytes), offset_(offset), name_(name) {}

    std::uint8_t u8() { return static_cast<std::uint8_t>(take(1)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(take(4)); }
    std::uint64_t u64() { return take(8); }
    std::int32_t i32() { return static_cast<std::int32_t>(u32()); }
    std::int64_t i64() { return static_cast<std::int64_t>(u64()); }
    double f64();
    std::string text(std::size_t most);  // at most that many bytes, printable ASCII
    std::string_view raw(std::size_t count);
    // How many items of at least `item_bytes` bytes each follow (u64): never more than the bytes that are left hold.
    std::size_t count(std::size_t item_bytes, std::string_view what);

    std::size_t offset() const { return offset_ + at_; }  // in the file
    std::size_t left() const { return bytes_.size() - at_; }
    // Throws Error: "FILE: byte OFFSET: WHAT".
    [[noreturn]] void refuse(std::size_t offset, const std::string& what) const;
    void expect_end(std::string_view what) const;

  private:
    std::uint64_t take(std::size_t bytes);
    std::string_view bytes_;
    std::size_t offset_, at_ = 0;
    const std::string& name_;
};

// Writes a container. `content` and tags are 4 characters.
class SectionWriter {
  public:
    explicit SectionWriter(std::string_view content);
    void section(std::string_view tag, ByteWriter&& payload);
    std::string finish();  // the file's bytes; Throws Error if they are more than is ever read

  private:
    ByteWriter file_;
};

// Reads one: sections come in the order in which they were written. Throws Error naming the offset: no such container,
// a newer version, another content, another section than asked for, a wrong checksum, bytes missing or left over.
class SectionReader {
  public:
    SectionReader(std::string_view bytes, const std::string& name, std::string_view content);
    ByteReader section(std::string_view tag);
    void finish();

  private:
    ByteReader file_;
    const std::string& name_;
};

}  // namespace flashstep::io
