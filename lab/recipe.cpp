// Comparing recipes, and the matrices in them.
#include "lab/recipe.h"

#include <algorithm>
#include <cstring>

#include "lab/presets.h"

namespace flashstep {
namespace {

bool same(const Matrix& a, const Matrix& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() &&
           (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0);
}
bool same(const std::vector<Matrix>& a, const std::vector<Matrix>& b) {
    return std::ranges::equal(a, b, [](const Matrix& x, const Matrix& y) { return same(x, y); });
}
bool same(const Inputs& a, const Inputs& b) {
    return same(a.Q, b.Q) && same(a.K, b.K) && same(a.V, b.V) && same(a.dO, b.dO) && same(a.X, b.X) &&
           same(a.mask, b.mask);
}

// Of a const recipe as of one that is being changed.
template <class AnyRecipe>
auto find_matrix(AnyRecipe& recipe, InputMatrix which, int head) -> decltype(&recipe.inputs.mask) {
    auto& in = recipe.inputs;
    if (which == InputMatrix::M) return in.mask.size() > 0 ? &in.mask : nullptr;
    const bool query = which == InputMatrix::Q || which == InputMatrix::dO;
    auto& all = which == InputMatrix::Q   ? in.Q
                : which == InputMatrix::K ? in.K
                : which == InputMatrix::V ? in.V
                                          : in.dO;
    const auto index = static_cast<std::size_t>(query ? head : recipe.problem.kv_index(head));
    return index < all.size() ? &all[index] : nullptr;
}

}  // namespace

bool Recipe::operator==(const Recipe& other) const {
    return algorithm == other.algorithm && kernel == other.kernel && fault == other.fault && problem == other.problem &&
           where == other.where && target == other.target && without_line == other.without_line &&
           recording == other.recording && ptx == other.ptx && same(inputs, other.inputs);
}

bool is_recording_of(const Recording& recording, const Recipe& recipe) {
    const Preset* preset = find_preset(recording.preset);
    return preset && recording.kernel == recipe.kernel && preset->algorithm == recipe.algorithm &&
           preset->problem == recipe.problem && same(preset->inputs(preset->problem), recipe.inputs);
}

std::string_view name_of(InputMatrix which) {
    static constexpr std::string_view kNames[kInputMatrices] = {"Q", "K", "V", "dO", "M"};
    return kNames[static_cast<int>(which)];
}

const Matrix* input_matrix(const Recipe& recipe, InputMatrix which, int head) {
    return find_matrix(recipe, which, head);
}

Matrix* input_matrix(Recipe& recipe, InputMatrix which, int head) { return find_matrix(recipe, which, head); }

}  // namespace flashstep
