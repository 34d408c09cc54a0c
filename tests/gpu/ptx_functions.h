// Functions of one number or two that nvcc compiles for a device and the host compiler for the host: both have to give
// the same bits. Read by nvcc too; nothing in it may be contracted or approximate.
#pragma once

#include <cstdint>

#include "gpu/device.h"


namespace flashstep::testing {

FS_HOST_DEVICE float as_float(std::uint32_t bits) {
    union {
        std::uint32_t u;
        float f;
    } both{bits};
    return both.f;
}
FS_HOST_DEVICE std::uint32_t as_bits(float x) {
    union {
        float f;
        std::uint32_t u;
    } both{x};
    return both.u;
}

constexpr int kFunctions = 24;

FS_HOST_DEVICE std::uint32_t function(int which, std::uint32_t a, std::uint32_t b) {
    const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
    const float fa = as_float(a), fb = as_float(b);
    switch (which) {
        case 0:
            return a + b * 3 - (a ^ b);
        case 1:
            return b == 0 ? 7 : a / b + a % b;
        case 2:
            return sb == 0 || sb == -1 ? 7 : static_cast<std::uint32_t>(sa / sb - sa % sb);
        case 3:
            return (a << (b & 31)) | (a >> (b & 31));
        case 4:
            return static_cast<std::uint32_t>(sa >> (b & 31));
        case 5:
            return static_cast<std::uint32_t>((static_cast<std::uint64_t>(a) * b) >> 32);
        case 6:
            return static_cast<std::uint32_t>((static_cast<std::int64_t>(sa) * sb) >> 17);
        case 7:
            return sa < sb ? a : b;
        case 8:
            return a / 7 + a / 10 + static_cast<std::uint32_t>(sa / 12);
        case 9:
            return as_bits(fa + fb);
        case 10:
            return as_bits(fa * fb);
        case 11:
            return as_bits(fa / fb);
        case 12:
            return as_bits(fa * 0.5f > fb ? fa : fb * 0.25f);
        case 13:
            return as_bits(static_cast<float>(sa)) ^ as_bits(static_cast<float>(b));
        case 14:
            return fa > -1e9f && fa < 1e9f ? static_cast<std::uint32_t>(static_cast<std::int32_t>(fa)) : 5;
        case 15:
            return (fa < fb ? 1u : 0u) | (fa <= fb ? 2u : 0u) | (fa == fb ? 4u : 0u) | (fa != fb ? 8u : 0u) |
                   (!(fa < fb) ? 16u : 0u);
        case 16: {
            std::uint32_t sum = 0;
            for (std::uint32_t k = 0; k < (b & 15); ++k) sum = sum * 31 + (a >> k);
            return sum;
        }
        case 17: {
            std::uint32_t x = a, steps = 0;
            while (x > 1 && steps < 40) x = (x & 1) != 0 ? x / 3 + b % 5 : x / 2, ++steps;
            return steps * 1000 + x;
        }
        case 18: {
            std::uint16_t small = static_cast<std::uint16_t>(a), other = static_cast<std::uint16_t>(b);
            small = static_cast<std::uint16_t>(small * other - 3);
            return static_cast<std::uint32_t>(static_cast<std::int16_t>(small)) ^ (small / 7u);
        }
        case 19: {
            const std::uint64_t wide = static_cast<std::uint64_t>(a) << 32 | b;
            return static_cast<std::uint32_t>((wide * 0x9e3779b97f4a7c15u) >> 29) +
                   static_cast<std::uint32_t>(wide % 1000003u);
        }
        case 20:
            return static_cast<std::uint32_t>(static_cast<std::int8_t>(a)) + static_cast<std::uint8_t>(b);
        case 21: {
            const std::uint32_t table[4] = {a, b, a ^ b, a + b};
            return table[b & 3] ^ table[a & 3];
        }
        case 22:
            return as_bits(static_cast<float>(static_cast<double>(fa) * static_cast<double>(fb)));
        default:
            return ((a & 0xff00u) >> 8 | (b & 0xffu) << 8) ^ (a >> 24) ^ ~b;
    }
}

}  // namespace flashstep::testing
