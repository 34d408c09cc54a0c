// What hands fields to a ByteWriter or takes them from a ByteReader: numbers by their width, enums by their code.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/io/file.h"
#include "core/io/sections.h"
#include "core/io/trace_fields.h"

namespace flashstep::io {

constexpr std::size_t kMaxText = 200;  // bytes of a name

class Writer {
  public:
    template <typename... Fields>
    void operator()(const Fields&... each) {
        (put(each), ...);
    }
    ByteWriter out;

  private:
    void put(bool value) { out.u8(value ? 1 : 0); }
    void put(std::int32_t value) { out.i32(value); }
    void put(std::int64_t value) { out.i64(value); }
    void put(std::uint64_t value) { out.u64(value); }
    void put(double value) { out.f64(value); }
    void put(const std::string& value) {
        const auto odd = std::find_if(value.begin(), value.end(), [](char c) { return c < 0x20 || c > 0x7e; });
        if (value.size() > kMaxText || odd != value.end())
            throw Error(fmt::format("{} cannot be saved: names are at most {} bytes of printable ASCII", quoted(value),
                                    kMaxText));
        out.text(value);
    }
    template <typename T>
    void put(const T& value) {
        if constexpr (std::is_enum_v<T>) {
            const auto found = std::find(kCodes<T>.begin(), kCodes<T>.end(), value);
            if (found == kCodes<T>.end())
                throw Error(fmt::format("value {} of an enum has no code in a file", static_cast<int>(value)),
                            "add it to kCodes in core/io/trace_fields.h");
            out.u8(static_cast<std::uint8_t>(found - kCodes<T>.begin()));
        } else {
            fields(*this, value);
        }
    }
};

class Reader {
  public:
    explicit Reader(const ByteReader& bytes) : in(bytes) {}
    template <typename... Fields>
    void operator()(Fields&... each) {
        (take(each), ...);
    }
    ByteReader in;

  private:
    void take(bool& value) { value = code(2, "0 or 1") != 0; }
    void take(std::int32_t& value) { value = in.i32(); }
    void take(std::int64_t& value) { value = in.i64(); }
    void take(std::uint64_t& value) { value = in.u64(); }
    void take(double& value) { value = in.f64(); }
    void take(std::string& value) { value = in.text(kMaxText); }
    template <typename T>
    void take(T& value) {
        if constexpr (std::is_enum_v<T>)
            value = kCodes<T>[code(kCodes<T>.size(), "the code of a kind")];
        else
            fields(*this, value);
    }
    std::size_t code(std::size_t count, const char* what) {
        const std::size_t at = in.offset(), found = in.u8();
        if (found >= count) in.refuse(at, fmt::format("expected {} (less than {}), found {}", what, count, found));
        return found;
    }
};

// Items with their number before them.
template <typename T>
void write_items(Writer& writer, const std::vector<T>& items) {
    writer.out.u64(items.size());
    for (const T& item : items) writer(item);
}

// `starts` gets the byte offset of each. Indices are ints, and so is their number.
template <typename T>
void read_items(Reader& reader, std::vector<T>& items, std::vector<std::size_t>* starts, std::string_view what) {
    Writer smallest;
    smallest(T{});
    const std::size_t at = reader.in.offset(), count = reader.in.count(smallest.out.size(), what);
    if (count > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        reader.in.refuse(at, fmt::format("expected less than 2^31 {}, found {}", what, count));
    items.resize(count);
    for (T& item : items) {
        if (starts) starts->push_back(reader.in.offset());
        reader(item);
    }
}

}  // namespace flashstep::io
