// 16-bit floating point, and runs of elements that move at once. Plain C++, read by nvcc too: the types are the same on
// the host and on a device; kernels convert with the words of gpu/device.h, everyone else with the functions here.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace flashstep::gpu {

struct Half {  // IEEE binary16: 5 bits of exponent, 10 of fraction
    std::uint16_t bits;
};
struct BFloat {  // the upper half of a float: 8 bits of exponent, 7 of fraction
    std::uint16_t bits;
};

// The element types of tensor-core words: a kernel is a template over one.
template <class T>
concept Element16 = std::is_same_v<T, Half> || std::is_same_v<T, BFloat>;

// Elements that one instruction moves: 4, 8 or 16 bytes.
template <class T, int bytes>
struct alignas(bytes) Packet {
    static constexpr int kCount = bytes / static_cast<int>(sizeof(T));
    T v[kCount];
};

// Rounds to nearest, ties to even; NaN becomes 0x7fff, as on a device.
constexpr std::uint16_t half_bits(float x) {
    const std::uint32_t u = std::bit_cast<std::uint32_t>(x), magnitude = u & 0x7fffffff;
    const auto sign = static_cast<std::uint16_t>(u >> 16 & 0x8000);
    if (magnitude > 0x7f800000) return 0x7fff;
    if (magnitude >= 0x47800000) return sign | 0x7c00;  // 65536 and more
    if (magnitude < 0x38800000) {                       // below 2^-14: a multiple of 2^-24, which adding 1/2 leaves
        const float sum = std::bit_cast<float>(magnitude) + 0.5f;
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(sum) - 0x3f000000));
    }
    // Rounds the 13 bits that go; a carry goes on into the exponent, up to infinity.
    const std::uint32_t rebased = magnitude - (112u << 23);
    return static_cast<std::uint16_t>(sign | (rebased + 0xfff + (rebased >> 13 & 1)) >> 13);
}
constexpr std::uint16_t bfloat_bits(float x) {
    const std::uint32_t u = std::bit_cast<std::uint32_t>(x);
    if ((u & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

// Exact. Without branches, so that loops over it become vector instructions.
constexpr float half_value(std::uint16_t bits) {
    const std::uint32_t magnitude = bits & 0x7fffu;
    const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;  // from bias 15 to 127; right for denormals
    const std::uint32_t special = magnitude >= 0x7c00 ? 0x7f800000u : 0u;   // infinity and NaN
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | std::uint32_t{bits & 0x8000u} << 16);
}
constexpr float bfloat_value(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

}  // namespace flashstep::gpu
