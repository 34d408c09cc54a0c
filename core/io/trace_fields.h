// The fields of everything that a trace file holds, listed once for writing and reading: `fields(archive, object)`
// hands them to the archive in the file's order. Each structured binding names every member, so that a new member does
// not compile until it is listed here. A change of what is listed is a new kSectionsVersion once files are about.
#pragma once

#include <array>
#include <concepts>
#include <type_traits>

#include "core/trace.h"

namespace flashstep::io {

template <typename T, typename Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

// The values of an enum in the order of their codes in a file. Append only: codes are for ever.
template <typename Enum>
constexpr auto kCodes = nullptr;
template <>
inline constexpr std::array kCodes<Space> = {Space::Hbm, Space::Sram};
template <>
inline constexpr std::array kCodes<Role> = {Role::Input, Role::Output, Role::Extra};
template <>
inline constexpr std::array kCodes<TensorKind> = {TensorKind::Operand, TensorKind::Scores,   TensorKind::Weights,
                                                  TensorKind::Maximum, TensorKind::Sum,      TensorKind::LogSum,
                                                  TensorKind::RowDot,  TensorKind::Gradient, TensorKind::Mask};
template <>
inline constexpr std::array kCodes<PerHead> = {PerHead::Query, PerHead::KeyValue, PerHead::Shared};
template <>
inline constexpr std::array kCodes<TouchKind> = {TouchKind::Load, TouchKind::Store, TouchKind::Init, TouchKind::Read,
                                                 TouchKind::Write};
template <>
inline constexpr std::array kCodes<MaskShape> = {MaskShape::None, MaskShape::Keys, MaskShape::Scores};
template <>
inline constexpr std::array kCodes<DType> = {DType::Exact, DType::Fp32, DType::Fp16, DType::Bf16};
template <>
inline constexpr std::array kCodes<Where> = {Where::Host, Where::LiveCuda, Where::Recorded};
template <>
inline constexpr auto kCodes<Op> = [] {
    std::array<Op, kOperations> codes{};
    for (int k = 0; k < kOperations; ++k) codes[static_cast<std::size_t>(k)] = static_cast<Op>(k);
    return codes;
}();

template <typename A, Is<Problem> T>
void fields(A& archive, T& problem) {
    auto& [n, nk, d, dv, br, bc, scale, causal, mask, batch, heads, kv_heads, dtype, base2, seed, sram_bytes] = problem;
    archive(n, nk, d, dv, br, bc, scale, causal, mask, batch, heads, kv_heads, dtype, base2, seed, sram_bytes);
}

template <typename A, Is<Traffic> T>
void fields(A& archive, T& traffic) {
    auto& [hbm_read, hbm_write, hbm_init, sram_read, sram_write, matmul, other, exp, barriers] = traffic;
    archive(hbm_read, hbm_write, hbm_init, sram_read, sram_write, matmul, other, exp, barriers);
}

template <typename A, Is<Memory> T>
void fields(A& archive, T& memory) {
    auto& [inputs, outputs, extra] = memory;
    archive(inputs, outputs, extra);
}

template <typename A, Is<Tensor> T>
void fields(A& archive, T& tensor) {
    auto& [name, kind, space, role, per, rows, cols, block_rows, block_cols, element_bytes, registers] = tensor;
    archive(name, kind, space, role, per, rows, cols, block_rows, block_cols, element_bytes, registers);
}

template <typename A, Is<Touch> T>
void fields(A& archive, T& touch) {
    auto& [kind, tensor, block, partner, bytes, version] = touch;
    archive(kind, tensor, block, partner, bytes, version);
}

// The offset is left out: values stand in the order of the versions.
template <typename A, Is<Version> T>
void fields(A& archive, T& version) {
    auto& [step, tensor, copy, block, rows, cols, offset, expr] = version;
    archive(step, tensor, copy, block, rows, cols, expr);
}

template <typename A, Is<Expr> T>
void fields(A& archive, T& expr) {
    auto& [op, a, b, version, number, rows, cols, row0, col0] = expr;
    archive(op, a, b, version, number, rows, cols, row0, col0);
}

template <typename A, Is<Step> T>
void fields(A& archive, T& step) {
    auto& [line, i, j, w, rows_outer, head, touch_begin, touch_end, version_begin, version_end, sram_bytes, total] =
        step;
    archive(line, i, j, w, rows_outer, head, touch_begin, touch_end, version_begin, version_end, sram_bytes, total);
}

template <typename A, Is<Trace::Lifetime> T>
void fields(A& archive, T& lifetime) {
    auto& [first, last] = lifetime;
    archive(first, last);
}

template <typename A, Is<SlotKey> T>
void fields(A& archive, T& key) {
    auto& [slot, head, i, j] = key;
    archive(slot, head, i, j);
}

template <typename A, Is<TensorBytes> T>
void fields(A& archive, T& bytes) {
    auto& [read, write] = bytes;
    archive(read, write);
}

}  // namespace flashstep::io
