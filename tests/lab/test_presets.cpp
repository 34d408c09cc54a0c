// What presets say of themselves.
#include <doctest/doctest.h>

#include "core/algorithms.h"
#include "lab/presets.h"
#include "tests/gpu/fragments.h"

using namespace flashstep;

TEST_CASE("in the preset lanes each score is the number of the lane that holds it as a result of tensor cores") {
    const Preset& preset = *find_preset("lanes");
    const Problem& p = preset.problem;
    const Inputs in = preset.inputs(p);
    const Matrix S = p.scale * in.Q[0] * in.K[0].transpose();
    REQUIRE(S.rows() == 16);
    REQUIRE(S.cols() == 16);
    for (int lane = 0; lane < 32; ++lane)
        for (int e = 0; e < 4; ++e) {
            const gpu::Place place = gpu::c_place(lane, e);
            for (int half = 0; half < 2; ++half) CHECK(S(place.row, 8 * half + place.col) == lane);
        }
}
