// The rules that a whole trace keeps, whoever made it. All look-ups of core and of the app rely on them; a trace from a
// file is held to them before it is used.
#pragma once

#include <functional>
#include <string>

#include "core/trace.h"

namespace flashstep::io {

// What a rule is about: a record of the trace, by its index.
enum class Record { Head, Tensor, Step, Touch, Version, Expr, Lifetime };

// Throws what `refuse` throws, which is called with the record and with what was expected there and what was found.
// Looks at everything but Trace::history and Trace::byte_history, which follow from the rest, and the offsets of
// versions; a Record::Lifetime is counted over all tensors.
using Refuse = std::function<void(Record, std::size_t, const std::string&)>;
void check_trace(const Trace& trace, const Refuse& refuse);

}  // namespace flashstep::io
