// For the tests of trace files: example traces, equality in every field, and containers taken apart and put together.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/algorithms.h"
#include "core/error.h"
#include "core/io/trace_file.h"

namespace flashstep::testing {

template <typename Work>
std::string error_of(Work work) {
    try {
        work();
    } catch (const Error& error) { return std::string(error.what()) + "; " + error.hint(); }
    return "no error";
}

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

inline bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Each names all members, so that a new one does not compile until it is compared.
inline bool equal(const Tensor& x, const Tensor& y) {
    const auto& [name, kind, space, role, per, rows, cols, block_rows, block_cols, element_bytes, registers] = x;
    return name == y.name && kind == y.kind && space == y.space && role == y.role && per == y.per && rows == y.rows &&
           cols == y.cols && block_rows == y.block_rows && block_cols == y.block_cols &&
           element_bytes == y.element_bytes && registers == y.registers;
}
inline bool equal(const Step& x, const Step& y) {
    const auto& [line, i, j, w, rows_outer, head, touch_begin, touch_end, version_begin, version_end, sram_bytes,
                 total] = x;
    return line == y.line && i == y.i && j == y.j && w == y.w && rows_outer == y.rows_outer && head == y.head &&
           touch_begin == y.touch_begin && touch_end == y.touch_end && version_begin == y.version_begin &&
           version_end == y.version_end && sram_bytes == y.sram_bytes && total == y.total;
}
inline bool equal(const Touch& x, const Touch& y) {
    const auto& [kind, tensor, block, partner, bytes, version] = x;
    return kind == y.kind && tensor == y.tensor && block == y.block && partner == y.partner && bytes == y.bytes &&
           version == y.version;
}
inline bool equal(const Version& x, const Version& y) {
    const auto& [step, tensor, copy, block, rows, cols, offset, expr] = x;
    return step == y.step && tensor == y.tensor && copy == y.copy && block == y.block && rows == y.rows &&
           cols == y.cols && offset == y.offset && expr == y.expr;
}
inline bool equal(const Expr& x, const Expr& y) {
    const auto& [op, a, b, version, number, rows, cols, row0, col0] = x;
    return op == y.op && a == y.a && b == y.b && version == y.version && same(number, y.number) && rows == y.rows &&
           cols == y.cols && row0 == y.row0 && col0 == y.col0;
}
inline bool equal(const Trace::Lifetime& x, const Trace::Lifetime& y) {
    const auto& [first, last] = x;
    return first == y.first && last == y.last;
}

template <typename T>
bool equal(const std::vector<T>& x, const std::vector<T>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const T& a, const T& b) { return equal(a, b); });
}

inline void check_equal(const Trace& x, const Trace& y) {
    const auto& [algorithm, problem, tensors, steps, touches, versions, exprs, values, memory, sram_peak, sram_modelled,
                 history, lifetimes, byte_history] = x;
    CHECK(algorithm == y.algorithm);
    CHECK(problem == y.problem);
    CHECK(equal(tensors, y.tensors));
    CHECK(equal(steps, y.steps));
    CHECK(equal(touches, y.touches));
    CHECK(equal(versions, y.versions));
    CHECK(equal(exprs, y.exprs));
    CHECK(std::equal(values.begin(), values.end(), y.values.begin(), y.values.end(), same));
    CHECK(memory == y.memory);
    CHECK(sram_peak == y.sram_peak);
    CHECK(sram_modelled == y.sram_modelled);
    CHECK(history == y.history);
    CHECK(equal(lifetimes, y.lifetimes));
    CHECK(byte_history == y.byte_history);
}

// A container as its parts: what stands before the first section, then tags with their payloads.
struct Container {
    std::string front;
    std::vector<std::pair<std::string, std::string>> sections;
};

inline std::uint64_t number_at(const std::string& bytes, std::size_t at, int size) {
    std::uint64_t value = 0;
    for (int k = size - 1; k >= 0; --k)
        value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(k)]);
    return value;
}
inline std::string as_bytes(std::uint64_t value, int size) {
    std::string bytes;
    for (int k = 0; k < size; ++k) bytes += static_cast<char>(value >> 8 * k & 0xff);
    return bytes;
}

// CRC-32 (IEEE 802.3), bit by bit, written for the tests.
inline std::uint32_t crc32(const std::string& bytes) {
    std::uint32_t crc = 0xffffffff;
    for (const char c : bytes) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0U);
    }
    return ~crc;
}

constexpr std::size_t kFront = 16;  // magic, version, content

inline Container take_apart(const std::string& bytes) {
    Container container{bytes.substr(0, kFront), {}};
    for (std::size_t at = kFront; at < bytes.size();) {
        const std::size_t length = number_at(bytes, at + 8, 8);
        container.sections.emplace_back(bytes.substr(at, 4), bytes.substr(at + 16, length));
        at += 16 + length;
    }
    return container;
}
inline std::string put_together(const Container& container) {
    std::string bytes = container.front;
    for (const auto& [tag, payload] : container.sections) {
        const std::string length = as_bytes(payload.size(), 8);
        bytes += tag + as_bytes(crc32(tag + length + payload), 4) + length + payload;
    }
    return bytes;
}

}  // namespace flashstep::testing
