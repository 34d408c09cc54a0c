// Opening the app on a lesson, a preset, or a problem of the command line.
#include "viz/shell/start.h"

#include <algorithm>

#include "core/error.h"
#include "core/faults.h"
#include "gpu/registry.h"
#include "lab/edit.h"
#include "viz/shell/frame.h"
#include "viz/shell/lesson_walk.h"

namespace flashstep::viz {

void open_start(AppState& app, const StartState& start) {
    app.ui.mode = start.theme;
    app.ui.language = start.language;
    const Preset* preset = find_preset(start.preset);
    const Lesson* lesson = start.lesson.empty() ? nullptr : find_lesson(start.lesson);
    if (!start.lesson.empty() && !lesson && !lessons().empty())
        throw Error("there is no lesson called " + start.lesson, "See: flashstep list");
    if (!start.problem && !lesson && !preset)
        throw Error("there is no preset called " + start.preset, "See: flashstep list");
    open_layout(app, !start.layout.empty() ? start.layout : lesson && !start.problem ? "lesson" : "workbench");
    if (lesson) app.open_lesson(*lesson);
    if (lesson && start.beat > 0) go_to_beat(app, start.beat - 1);
    if (preset && !lesson && !start.problem) app.open_preset(*preset);  // a lesson brings its own
    const auto source = std::ranges::find(kSourceIds, start.source);
    if (source != kSourceIds.end()) app.source_view = static_cast<SourceView>(source - kSourceIds.begin());
    if (!start.problem && start.algorithm.empty() && start.kernel.empty() && start.fault.empty() &&
        start.where == Where::Host)
        return;
    app.session.edit([&](Recipe& recipe) {
        recipe.where = start.where;
        if (start.problem) {
            recipe.problem = *start.problem;
            recipe.inputs = start.inputs ? *start.inputs : make_inputs(recipe.problem);
        }
        if (!start.algorithm.empty()) recipe.algorithm = start.algorithm;
        if (!start.kernel.empty()) recipe.kernel = start.kernel;
        if (const Fault* fault = find_fault(start.fault)) recipe = with_fault(recipe, fault);
    });
}

void take_ui(AppState& app, const Ui& from) {
    app.ui.fonts = from.fonts;
    app.ui.scale = from.scale;
}

}  // namespace flashstep::viz
