// Traces and kernel runs as files (.fst): read back exactly as they were, on any machine.
#pragma once

#include <string>
#include <string_view>

#include "core/trace.h"

namespace flashstep::io {

// The bytes of a file. Throws Error for a trace that could not be read back: larger than kMaxFileBytes, or against one
// of the rules of trace_check.h.
std::string trace_bytes(const Trace& trace);
std::string kernel_run_bytes(const KernelRun& run);

// Parses the bytes of a file; `name` stands in messages. Nothing is allocated before the bytes were seen to be there,
// and every index is checked, so that what comes back can be looked at as if it had just been recorded. Throws Error
// naming the file, the byte offset, what was expected there and what was found.
Trace parse_trace(std::string_view bytes, const std::string& name);
KernelRun parse_kernel_run(std::string_view bytes, const std::string& name);

void write_trace(const std::string& path, const Trace& trace);
Trace read_trace(const std::string& path);
void write_kernel_run(const std::string& path, const KernelRun& run);
KernelRun read_kernel_run(const std::string& path);

}  // namespace flashstep::io
