// Scores, or a recorded forward pass.
#include "core/starting_values.h"

#include "core/reference.h"

namespace flashstep {

StartingValues starting_values(const Algorithm& algorithm, const Problem& problem, const Inputs& inputs,
                               const Task& task) {
    StartingValues values;
    if (algorithm.reads_scores) {
        values["X"] = inputs.X;
        if (inputs.X.empty())
            for (int head = 0; head < problem.total_heads(); ++head) {
                task.checkpoint();
                values["X"].push_back(scores(problem, inputs, head));
            }
    }
    if (algorithm.forward.empty()) return values;
    Problem unlimited = problem;
    unlimited.sram_bytes = 0;
    const Trace trace = record(*find_algorithm(algorithm.forward), unlimited, inputs, nullptr, {.cancel = task.cancel});
    for (int t = 0; t < static_cast<int>(trace.tensors.size()); ++t) {
        if (trace.tensors[t].space != Space::Hbm || trace.tensors[t].role == Role::Input) continue;
        auto& matrices = values[trace.tensors[t].name];
        for (int head = 0; head < problem.total_heads(); ++head) {
            task.checkpoint();
            matrices.push_back(trace.matrix_at(t, trace.last_step(), head).values);
        }
    }
    return values;
}

}  // namespace flashstep
