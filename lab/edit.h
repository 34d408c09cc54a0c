// A recipe with one change: each leaves one that can run, with what belonged to what was there before taken out.
#pragma once

#include "core/algorithms.h"
#include "core/faults.h"
#include "gpu/registry.h"
#include "lab/recipe.h"

namespace flashstep {

// Other sizes, blocks or another mask: inputs keep what fits and are random elsewhere (all of them with another seed),
// a mask keeps what fits and is 0 elsewhere. Throws Error for an invalid problem.
Recipe resized(Recipe recipe, const Problem& problem);

// One number of the inputs; `head` is a query head. Nothing changes where the problem has no such matrix.
Recipe with_cell(Recipe recipe, InputMatrix which, int head, int row, int col, double value);

// Another algorithm: a mistake of the old one goes, and the first kernel that runs the problem comes, if there is one.
Recipe with_algorithm(Recipe recipe, const Algorithm& algorithm);
// A kernel with the algorithm that it mirrors and what it fixes in the problem; null: none.
Recipe with_kernel(Recipe recipe, const gpu::KernelInfo* kernel);
// Exponentials in base 2 or e, and a kernel that takes them so.
Recipe with_base2(Recipe recipe, bool base2);
// A mistake with its algorithm; null: none.
Recipe with_fault(Recipe recipe, const Fault* fault);

}  // namespace flashstep
