// The commands. Each registers its options with CLI11 and gives back what runs once the whole command line was read.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/hooks.h"

namespace flashstep::cli {

using Run = std::function<int()>;  // returns the exit status; throws Error on wrong use

struct Command {
    CLI::App* app;
    Run run;
};

Command add_list(CLI::App& app);
Command add_trace(CLI::App& app);
Command add_count(CLI::App& app);
Command add_sweep(CLI::App& app);
Command add_model(CLI::App& app);
Command add_check(CLI::App& app);
Command add_device(CLI::App& app);
Command add_record(CLI::App& app);
Command add_shot(CLI::App& app, const WindowHooks* window,
                 std::vector<std::string> words);  // words: the whole command line
Command add_bench(CLI::App& app, const WindowHooks* window);
Command add_ncu(CLI::App& app);
Command add_bench_table(CLI::App& app);

// The walk-through of the first lesson with the kernel's values beside the mirror's; what a bare `flashstep` prints
// where there is no display.
int print_first_walkthrough();

}  // namespace flashstep::cli
