// The presets.
#include "lessons/presets.h"

#include <array>

namespace flashstep {
namespace {

// Small round numbers, scale 1. In query block 1 at j = 2 row 1 keeps its maximum (2, then scores 1 and -1) and row 2
// raises it (from 1 to 2); in query block 2 it is the other way round: row 3 keeps 3, row 4 rises from 1 to 3.
Inputs n4d3_inputs(const Problem& problem) {
    Inputs in = make_inputs(problem);  // dO stays random: no forward step reads it
    in.Q[0] << 1, 0, 1,
               0, 1, 1,
               2, 0, 1,
               0, 2, 1;
    in.K[0] << 1, 0, 1,
               1, 0, 0,
               0, 1, 1,
               0, 1, -1;
    in.V[0] << 1, 2, 0,
               0, 1, 1,
               2, 0, 1,
               1, 1, 3;
    return in;
}

Problem n4d3_problem() {
    Problem p;
    p.scale = 1;
    return p;
}

Problem n64_problem(bool causal) {
    Problem p;
    p.n = p.nk = 64, p.d = p.dv = 16, p.br = p.bc = 16;
    p.scale = 0.25;
    p.causal = causal;
    return p;
}

}  // namespace

std::span<const Preset> presets() {
    static const std::array table = {
        Preset{"n4d3", "N=4, d=3: the first walk-through", "fa2_forward", "fa2_forward_1_tile", n4d3_problem(), n4d3_inputs},
        Preset{"n64", "N=64, d=16 in 4 x 4 tiles", "fa2_forward", "fa2_forward_1_tile", n64_problem(false), make_inputs},
        Preset{"n64_causal", "N=64, d=16, causal: six tiles are skipped", "fa2_forward", "fa2_forward_1_tile",
               n64_problem(true), make_inputs},
    };
    return table;
}

const Preset* find_preset(std::string_view id) {
    for (const Preset& preset : presets())
        if (preset.id == id) return &preset;
    return nullptr;
}

Inputs preset_inputs(const Preset& preset, const Problem& problem) {
    Inputs in = make_inputs(problem);
    const Inputs own = preset.inputs(preset.problem);
    for (auto member : {&Inputs::Q, &Inputs::K, &Inputs::V, &Inputs::dO, &Inputs::X}) {
        const std::vector<Matrix>&from = own.*member, &to = in.*member;
        if (from.empty() || from.size() != to.size()) continue;
        if (from[0].rows() == to[0].rows() && from[0].cols() == to[0].cols()) in.*member = from;
    }
    return in;
}

}  // namespace flashstep
