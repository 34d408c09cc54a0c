// Traces and counts as JSON. Everything counts from 0 there (keys i0, j0, head0, row0, col0, block0).
#pragma once

#include "core/algorithms.h"
#include "core/io/json.h"

namespace flashstep::io {

Json problem_json(const Problem& problem);

// {"hbm": {"read", "write", "init", "by_tensor"}, "sram": {"read", "write", "peak"}, "flops": {"matmul", "other",
// "exp"}, "barriers", "memory": {"inputs", "outputs", "extra"}, "steps"}; sram's values are null where they are not
// modelled.
Json count_json(const Counts& counts);

// Every step with its loop indices, movements, written values and running totals; step 0 writes the inputs.
Json trace_json(const Algorithm& algorithm, const Trace& trace);

}  // namespace flashstep::io
