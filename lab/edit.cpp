// What stays and what goes when one thing of a recipe changes.
#include "lab/edit.h"

#include <algorithm>

#include "lab/kernel_choice.h"

namespace flashstep {
namespace {

// What fits of the old matrix.
void keep(Matrix& fresh, const Matrix& old) {
    const Eigen::Index rows = std::min(fresh.rows(), old.rows()), cols = std::min(fresh.cols(), old.cols());
    fresh.topLeftCorner(rows, cols) = old.topLeftCorner(rows, cols);
}

// A mask of keys holds for every query; no row of a mask of scores speaks for the others.
void keep_mask(Matrix& fresh, const Matrix& old) {
    const Eigen::Index cols = std::min(fresh.cols(), old.cols());
    if (old.rows() == 1 && fresh.rows() > 1)
        fresh.leftCols(cols) = old.leftCols(cols).replicate(fresh.rows(), 1);
    else if (old.rows() == 1 || fresh.rows() > 1)
        keep(fresh, old);
}

}  // namespace

Recipe resized(Recipe recipe, const Problem& problem) {
    validate(problem);
    Inputs inputs = make_inputs(problem);
    if (problem.seed == recipe.problem.seed) {
        for (auto member : {&Inputs::Q, &Inputs::K, &Inputs::V, &Inputs::dO}) {
            const std::vector<Matrix>& old = recipe.inputs.*member;
            std::vector<Matrix>& fresh = inputs.*member;
            for (std::size_t head = 0; head < std::min(old.size(), fresh.size()); ++head) keep(fresh[head], old[head]);
        }
    }
    if (inputs.mask.size() > 0) keep_mask(inputs.mask, recipe.inputs.mask);
    if (problem.total_heads() == recipe.problem.total_heads() && problem.n == recipe.problem.n &&
        problem.nk == recipe.problem.nk)
        inputs.X = recipe.inputs.X;
    recipe.problem = problem;
    recipe.inputs = std::move(inputs);
    return recipe;
}

Recipe with_cell(Recipe recipe, InputMatrix which, int head, int row, int col, double value) {
    if (Matrix* matrix = input_matrix(recipe, which, head)) (*matrix)(row, col) = value;
    return recipe;
}

Recipe with_algorithm(Recipe recipe, const Algorithm& algorithm) {
    if (recipe.algorithm == algorithm.id) return recipe;
    recipe.algorithm = algorithm.id;
    recipe.fault.clear();
    if (!algorithm.base2) recipe.problem.base2 = false;
    recipe.kernel = kernel_for(algorithm.id, recipe.problem);
    recipe.without_line = 0;
    return recipe;
}

Recipe with_kernel(Recipe recipe, const gpu::KernelInfo* kernel) {
    if (kernel) {
        recipe = with_algorithm(std::move(recipe), *find_algorithm(kernel->algorithm));
        recipe.problem = problem_for(*kernel, recipe.problem);
    }
    recipe.kernel = kernel ? kernel->id : std::string_view();
    recipe.without_line = 0;
    return recipe;
}

Recipe with_base2(Recipe recipe, bool base2) {
    recipe.problem.base2 = base2;
    const gpu::KernelInfo* kernel = gpu::find_kernel(recipe.kernel);
    if (kernel && kernel->base2 != base2)
        recipe.kernel = kernel_for(recipe.algorithm, recipe.problem), recipe.without_line = 0;
    return recipe;
}

Recipe with_fault(Recipe recipe, const Fault* fault) {
    if (fault) recipe = with_algorithm(std::move(recipe), *find_algorithm(fault->algorithm));
    recipe.fault = fault ? fault->id : std::string_view();
    return recipe;
}

}  // namespace flashstep
