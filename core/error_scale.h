// How well a value can be known in floating point: the scale E of its rounding error.
#pragma once

#include <vector>

#include "core/trace.h"

namespace flashstep {

// E of any version of a trace, so that the rounding error of a computation in precision eps is a small multiple of eps
// E: a first-order running error bound along the version's expressions. Keeps what it computed.
class ErrorScale {
  public:
    explicit ErrorScale(const Trace& trace, const Task& task = {})
        : trace_(trace), task_(task), known_(trace.versions.size()) {}
    // Same shape as the version. Throws Cancelled as the task says.
    const Matrix& of(int version);

  private:
    struct Known {
        Matrix value, scale;
    };
    Known evaluate(int expr);
    const Trace& trace_;
    Task task_;
    std::vector<Matrix> known_;
};

}  // namespace flashstep
