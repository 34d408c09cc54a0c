// All texts of the app's own interface, one table per language, by key.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/text.h"

namespace flashstep::viz {

// {name} in a text is a placeholder for fill().
// clang-format off: one table of keys, new ones at the end
enum class Str {
    lesson, algorithm, problem, kernel, traffic, comparison, pseudo_code, cuda_source, explain, score_map, timeline,
    help, hbm, sram, step_of, line_n, head_of, inputs_step, first, last, previous_line, next_line, previous_tile,
    next_tile, previous_row_block, next_row_block, play, pause, speed, bookmark_add, bookmark_remove, first_divergence,
    outer_loop, inner_loop, lines, hbm_so_far, algorithmic_hbm_bytes, not_modelled, not_materialised, read, write,
    initialisation, total, flops_matmul, flops_other, exponentials, sram_peak, sram_of, standard_attention,
    extra_memory, row_column, written_at, never_written, operands, used_by, legend_scale, legend_sequential, map_done,
    map_now, map_to_come, map_skipped, kernel_host, kernel_host_chosen, kernel_live, kernel_recorded, kernel_none,
    match_ok, match_differs, match_not_compared, match_non_finite, tolerance, first_bad, mirror_value, kernel_value,
    empty_lesson, empty_trace, empty_explain, empty_kernel, empty_search, empty_source, running, running_percent,
    cancel, cancelled, dismiss, undo, redo, size_n, size_nk, size_d, size_br, size_bc, scale_tau, causal_mask,
    heads_count, dtype, sram_capacity, seed, picker_hint, warning_non_finite, preset, head, inputs, lesson_none,
    kernel_no, kernel_for, causal_short, match_bytes_differ, size_dv, batch_count, kv_heads_count, scale_default,
    no_limit, reset_to, cells_many, cells_of, file_path, load, inputs_hint, window_small, goto_next,
    line_makes_no_step, source_line_of, source_no_line, keys, conventions, key_line, key_tile, key_block, key_play,
    key_ends, key_panels, key_compare, key_language, key_theme, key_help, key_picker, key_undo, key_zoom, key_bookmark,
    key_escape, key_timeline, convention_attention, convention_causal, convention_mask, convention_count,
    convention_bytes, convention_flops, convention_logsum, convention_equal, mem_moves_now, mem_on_chip,
    mem_written_now, mem_read_now, mem_stream, mem_used, cell_given, cell_not_on_chip, cell_not_written, cell_moved,
    difference, go_there, map_partly, map_tile, map_covers, map_steps, map_whole, so_far, of_total, initialised,
    standard_in_all, safe_softmax, toy_size, sram_read, sram_written, kernel_tiles, kernel_error, kernel_of_tolerance,
    kernel_here, bytes_equal, bytes_unequal, bytes_uncounted, kernel_counters, not_materialised_list, kernel_cannot,
    counter_barriers, counter_warp_barriers, counter_shuffles, counter_atomics, counter_shared_read,
    counter_shared_written, counter_wavefronts, counter_ideal, hbm_total, standard_short, safe_short, sram_in_use,
    memory_in_out, standard_backward, hbm_factor, fault, faults_in, fault_none, fault_hides, fault_of, fault_on,
    fault_hidden, fault_shows, fault_off, value_wrong, value_right, value_missing, open_preset, non_finite_first,
    non_finite_given, non_finite_rounded, non_finite_sum, non_finite_exp, non_finite_div, non_finite_other,
    non_finite_mark, empty_no_kernel, kernel_absent, mem_registers, barriers, base2, base2_tip,
    mask_added, mask_none, mask_keys, mask_scores, mask_empty, mask_hint, mask_short, map_hidden, backward_only,
    runs_on, where_cpu, where_cpu_note, where_gpu, where_gpu_live, where_not_built, where_recording,
    where_recording_on, where_no_recording, where_recorded_on, recording_left, device_failed, recording_failed,
    kernel_did_not_run, run_on_cpu, targets_from, targets_why, targets_shared, bytes_requested, bytes_three, count_,
};
// clang-format on
constexpr int kStrings = static_cast<int>(Str::count_);

struct StrEntry {
    Str key;
    const char* text;
};
// The tables, in the order of the keys; kStrings entries each.
extern const StrEntry kEnglish[kStrings];
extern const StrEntry kChinese[kStrings];

std::string_view language_code(Language language);                       // "en", "zh"
std::optional<Language> language_from_code(std::string_view code);       // also "zh_CN.UTF-8", "en-GB"
// The text, zero-terminated, valid for ever.
const char* tr(Language language, Str key);

using Placeholder = std::pair<std::string_view, std::string_view>;
// `text` with {name} replaced; a placeholder that is not given stays as it is.
std::string fill(std::string_view text, std::initializer_list<Placeholder> values);
inline std::string tr(Language language, Str key, std::initializer_list<Placeholder> values) {
    return fill(tr(language, key), values);
}

}  // namespace flashstep::viz
