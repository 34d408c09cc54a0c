// Whether the executor checks a run. A header of its own, so that kernels do not pull in the problem (and Eigen).
#pragma once

namespace flashstep::gpu {

enum class Checks { Off, On };

}  // namespace flashstep::gpu
