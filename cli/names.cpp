// Suggestions for mistyped names.
#include "cli/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/io/file.h"

namespace flashstep::cli {
namespace {

// Edit distance with swaps of neighbours (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j) {
            cost[i][j] =
                std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[a.size()][b.size()];
}

}  // namespace

std::string_view nearest(std::string_view typed, std::span<const std::string_view> known) {
    if (typed.empty() || typed.size() > 100) return {};
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(2, typed.size() / 3) + 1;
    for (const std::string_view name : known) {
        // A name that was only begun is near, too.
        const bool begun = typed.size() >= 3 && name.starts_with(typed);
        const std::size_t far = begun ? 1 : distance(typed, name);
        if (far < best_distance && far < name.size()) best = name, best_distance = far;
    }
    return best;
}

Error unknown_name(std::string_view what, std::string_view typed, std::span<const std::string_view> known) {
    const std::string_view meant = nearest(typed, known);
    return Error(fmt::format("unknown {} {}", what, io::quoted(typed)),
                 fmt::format("{}there are: {}", meant.empty() ? "" : fmt::format("did you mean {}? ", meant),
                             known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

Language language_named(std::string_view typed) {
    constexpr std::array<std::string_view, 2> kNames = {"en", "zh"};
    if (typed == kNames[0]) return Language::English;
    if (typed == kNames[1]) return Language::Chinese;
    throw unknown_name("--lang", typed, kNames);
}

}  // namespace flashstep::cli
