// The rules of a trace's expressions: operands that exist and fit, trees that end and are small.
#pragma once

#include "core/io/trace_check.h"

namespace flashstep::io {

// The tensors and versions of the trace have been checked. See check_trace().
void check_exprs(const Trace& trace, const Refuse& refuse);

}  // namespace flashstep::io
