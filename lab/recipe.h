// What defines a run: problem, inputs, algorithm, mistake, kernel, and where the kernel runs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/problem.h"
#include "gpu/target.h"
#include "lab/recorded.h"

namespace flashstep {

namespace gpu::ptx {
struct Module;
}

struct Recipe {
    std::string algorithm = "fa2_forward";
    std::string kernel = "fa2_forward_1_tile";  // empty: no kernel
    std::string fault = {};                     // id of a known mistake of the algorithm; empty: none
    Problem problem;
    Inputs inputs;
    Where where = Where::Host;
    // With Where::Host: the architecture that the executor stands for; with Where::Ptx: nvcc's.
    gpu::Target target = 90;
    int without_line = 0;  // with Where::Host: line of the kernel's source whose barrier or wait does nothing
    // With Where::Ptx: what is run; null: nvcc is asked for it.
    std::shared_ptr<const gpu::ptx::Module> ptx = {};
    Recording recording = {};  // with Where::Recorded: what is shown instead of a run

    // By equal bits of the inputs: two NaN in the same place are the same input, 0 and -0 are two.
    bool operator==(const Recipe& other) const;
};

// Whether the recording is one of this recipe: of its kernel, and of a preset whose problem and inputs are exactly the
// recipe's. A mistake in the mirror changes nothing in it.
bool is_recording_of(const Recording& recording, const Recipe& recipe);

enum class InputMatrix { Q, K, V, dO, M };  // M: the additive mask
constexpr int kInputMatrices = 5;
std::string_view name_of(InputMatrix which);
// The matrix that query head `head` reads, null where the problem has none.
const Matrix* input_matrix(const Recipe& recipe, InputMatrix which, int head);
Matrix* input_matrix(Recipe& recipe, InputMatrix which, int head);

}  // namespace flashstep
