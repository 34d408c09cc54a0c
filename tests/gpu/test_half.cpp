// Conversions of 16-bit numbers: bit by bit what Eigen makes of them.
#include <doctest/doctest.h>

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "gpu/half.h"

namespace flashstep::gpu {

namespace {

using EigenHalf = Eigen::half;
using EigenBFloat = Eigen::bfloat16;

template <class Reference>
std::uint16_t reference_bits(float x) {
    return std::bit_cast<std::uint16_t>(static_cast<Reference>(x));
}
template <class Reference>
float reference_value(std::uint16_t bits) {
    return static_cast<float>(Eigen::numext::bit_cast<Reference>(bits));
}

bool same_value(float a, float b) {
    return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// Floats that differ after rounding, of those that `check` is asked about. Counted, because a CHECK each takes minutes.
struct Differences {
    int half = 0, bfloat = 0, asked = 0;
    void check(float x) {
        ++asked;
        if (std::isnan(x)) {
            half += half_bits(x) != 0x7fff;
            bfloat += bfloat_bits(x) != 0x7fff;
        } else {
            half += half_bits(x) != reference_bits<EigenHalf>(x);
            bfloat += bfloat_bits(x) != reference_bits<EigenBFloat>(x);
        }
    }
};

}  // namespace

TEST_CASE("Every 16-bit pattern has the value that Eigen gives it, and converts back to itself") {
    int half = 0, bfloat = 0, back = 0;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const auto b = static_cast<std::uint16_t>(bits);
        half += !same_value(half_value(b), reference_value<EigenHalf>(b));
        bfloat += !same_value(bfloat_value(b), reference_value<EigenBFloat>(b));
        back += !std::isnan(half_value(b)) && half_bits(half_value(b)) != b;
        back += !std::isnan(bfloat_value(b)) && bfloat_bits(bfloat_value(b)) != b;
    }
    CHECK(half == 0);
    CHECK(bfloat == 0);
    CHECK(back == 0);
}

TEST_CASE("Floats round to the nearest 16-bit number, ties to even, as in Eigen") {
    Differences found;
    std::mt19937 random(1);
    for (int k = 0; k < 2'000'000; ++k) found.check(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    // Ties between neighbours, and the floats beside them, in both formats and signs.
    for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
        const auto lower = static_cast<std::uint16_t>(bits), upper = static_cast<std::uint16_t>(bits + 1);
        const double above = bits + 1 == 0x7c00 ? 65536.0 : double{half_value(upper)};
        const auto tie = static_cast<float>((double{half_value(lower)} + above) / 2);
        for (float x : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, 1e30f)}) found.check(x), found.check(-x);
    }
    for (std::uint32_t bits = 0; bits < 0x7f80; ++bits) {
        const std::uint32_t tie = bits << 16 | 0x8000;
        for (std::uint32_t u : {tie - 1, tie, tie + 1}) {
            found.check(std::bit_cast<float>(u));
            found.check(std::bit_cast<float>(u | 0x80000000u));
        }
    }
    CHECK(found.asked > 2'300'000);
    CHECK(found.half == 0);
    CHECK(found.bfloat == 0);
}

TEST_CASE("What is too large becomes infinity, and NaN stays NaN") {
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK(half_bits(65504.0f) == 0x7bff);
    CHECK(half_bits(65519.996f) == 0x7bff);
    CHECK(half_bits(65520.0f) == 0x7c00);
    CHECK(half_bits(-infinity) == 0xfc00);
    CHECK(bfloat_bits(infinity) == 0x7f80);
    CHECK(bfloat_bits(std::numeric_limits<float>::max()) == 0x7f80);
    CHECK(half_bits(std::numeric_limits<float>::quiet_NaN()) == 0x7fff);
    CHECK(std::isnan(half_value(0x7c01)));
    CHECK(half_value(0x7c00) == infinity);
    CHECK(half_value(0x0001) == 0x1p-24f);
    CHECK(std::signbit(half_value(0x8000)));
}

}  // namespace flashstep::gpu
