// The commands: one file each, with one row that the table in cli.cpp lists.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/hooks.h"
#include "cli/options.h"

namespace flashstep::cli {

using Action = std::function<int()>;  // returns the exit status; throws Error on wrong use

// What the program was started with.
struct Start {
    const WindowHooks* window;       // null: this build has none
    std::vector<std::string> words;  // the whole command line
};

struct Command {
    const char *name, *help;
    // Registers the options and gives back what runs once the whole command line was read.
    Action (*add)(const Options& options, const Start& start);
};

extern const Command kList, kLesson, kTrace, kCount, kSweep, kModel, kCheck, kShot, kBench, kDevice, kRecord, kNcu,
    kBenchTable, kPtx;

// The walk-through of the first lesson with the kernel's values beside the mirror's; what a bare `flashstep` prints
// where there is no display.
int print_first_walkthrough();

}  // namespace flashstep::cli
