// A build with the window.
#include "viz/cli/hooks.h"

namespace flashstep::cli {

const WindowHooks* window_hooks() {
    static const WindowHooks hooks{
        .display_available = viz::display_available,
        .run_app = viz::run_app,
        .write_shot = viz::write_shot,
        .measures = [] { return std::vector<Measure>(); },
    };
    return &hooks;
}

}  // namespace flashstep::cli
