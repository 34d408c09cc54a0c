// Where the number formats end: what limits_of says is what rounding does.
#include <doctest/doctest.h>

#include <cmath>

#include "core/matrix.h"

using namespace flashstep;

TEST_CASE("a format holds its largest and least number and nothing beyond them, and epsilon is the gap behind 1") {
    for (const DType dtype : {DType::Fp32, DType::Fp16, DType::Bf16}) {
        CAPTURE(name(dtype));
        const FormatLimits limits = limits_of(dtype);
        CHECK(round_to(limits.largest, dtype) == limits.largest);
        CHECK(std::isinf(round_to(limits.largest * (1 + limits.epsilon), dtype)));
        CHECK(round_to(limits.least, dtype) == limits.least);
        CHECK(round_to(limits.least / 2, dtype) == 0);
        CHECK(round_to(1 + limits.epsilon, dtype) == 1 + limits.epsilon);
        CHECK(round_to(1 + limits.epsilon / 2, dtype) == 1);
    }
    CHECK(limits_of(DType::Exact).largest == std::numeric_limits<double>::max());
    CHECK(limits_of(DType::Exact).least == std::numeric_limits<double>::denorm_min());
    CHECK(limits_of(DType::Exact).epsilon == std::numeric_limits<double>::epsilon());
    CHECK(limits_of(DType::Fp32).largest == double{std::numeric_limits<float>::max()});
    CHECK(limits_of(DType::Fp16).largest == 65504);
}
