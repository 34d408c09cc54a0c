// flashstep bench-table: times of the ladder on a GPU, beside those of peers, as Markdown in a page.
#pragma once

#include <string>
#include <string_view>

#include "cli/bench_results.h"

namespace flashstep::cli {

// Where the table stands in a page.
constexpr std::string_view kTableBegin = "<!-- device bench: begin -->", kTableEnd = "<!-- device bench: end -->";

// Markdown. For each pass a row for each rung in the ladder's order, then the peers (null: none), at the largest N that
// all of them ran; then how the best rungs go over N; then why cells are empty. TFLOP/s by gpu::attention_flops.
std::string bench_table(const BenchResults& ours, const BenchResults* peers);

// `page` with `table` in place of what stands between its markers; all other bytes stay. Throws Error naming `file`: no
// markers, more than one pair, or the end before the beginning.
std::string with_table(std::string_view page, const std::string& table, const std::string& file);

}  // namespace flashstep::cli
