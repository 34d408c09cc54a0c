// The command line of flashstep.
#pragma once

#include "cli/hooks.h"

namespace flashstep::cli {

// Runs the program. Returns its exit status: 0 done, 1 different, 2 wrong use, 77 not available here. `window` may be
// null.
int run(int argc, char** argv, const WindowHooks* window);

}  // namespace flashstep::cli
