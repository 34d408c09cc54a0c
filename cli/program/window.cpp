// A build with the window.
#include "cli/hooks.h"
#include "viz/shell/app.h"
#include "viz/shell/bench.h"

namespace flashstep::cli {

const WindowHooks* window_hooks() {
    static const WindowHooks hooks{
        .display_available = viz::display_available,
        .run_app = viz::run_app,
        .write_shot = viz::write_shot,
        .measures =
            [] {
                return std::vector<Measure>{
                    {"app: one frame of all panels, N=64", viz::frame_milliseconds(60), "ms", "CPU time without GL"},
                    {"app: start to first frame", viz::start_milliseconds(), "ms", "fonts, run and panels, no window"},
                };
            },
    };
    return &hooks;
}

}  // namespace flashstep::cli
