// How far the outputs of a 16-bit kernel are from plain double, measured by what attention without fusion would lose.
#pragma once

#include <string>
#include <vector>

#include "core/trace.h"

namespace flashstep {

// One output over all heads. `limit` is 2 x `unfused` + one ulp of the format at the largest |value|.
struct OutputError {
    std::string tensor;
    double kernel = 0;   // largest |kernel - double|
    double unfused = 0;  // the same of unfused attention in the format
    double limit = 0;
    bool within = true;  // false too where the kernel has a NaN, or an infinity that double has not
};

// For fp16 and bf16, and O, dQ, dK, dV as far as the mirror has them and the run captured them; empty otherwise.
// Unfused: S, dP in fp32 from fp32 accumulation, P, dS and the outputs rounded to the format. dK and dV are sums over
// the query heads that share them.
std::vector<OutputError> output_errors(const Trace& mirror, const KernelRun& run, const Task& task = {});

}  // namespace flashstep
