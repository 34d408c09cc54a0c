// A build without a window (FLASHSTEP_VIZ=OFF).
#include "cli/hooks.h"

namespace flashstep::cli {

const WindowHooks* window_hooks() { return nullptr; }

}  // namespace flashstep::cli
