// The app's own measures.
#include "viz/shell/bench.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "viz/shell/frame.h"
#include "viz/shell/headless.h"
#include "viz/shell/start.h"

namespace flashstep::viz {
namespace {

double cpu_milliseconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

void wait_for_run(AppState& app) {
    while (app.session.busy()) {
        app.update(0);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

}  // namespace

double frame_milliseconds(int frames) {
    Headless headless;
    AppState app;
    open_start(app, {.lesson = "", .preset = "n64", .algorithm = {}, .kernel = {}, .problem = {}, .inputs = {}});
    wait_for_run(app);
    take_ui(app, headless.ui);
    double now = 0;
    const auto draw = [&](Ui&) { run_frame(app, now += 1.0 / 60); };
    for (int k = 0; k < 5; ++k) headless.frame(draw);
    std::vector<double> times;
    for (int k = 0; k < frames; ++k) {
        app.player->seek(app.player->step_at(app.player->count() * k / std::max(1, frames - 1)));
        const double start = cpu_milliseconds();
        headless.frame(draw);
        times.push_back(cpu_milliseconds() - start);
    }
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : times[times.size() / 2];
}

double start_milliseconds() {
    const auto start = std::chrono::steady_clock::now();
    AppState app;
    open_start(app, {});  // runs while the fonts are baked
    Headless headless;
    take_ui(app, headless.ui);
    wait_for_run(app);
    double now = 0;
    headless.frame([&](Ui&) { run_frame(app, now += 1.0 / 60); });
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace flashstep::viz
