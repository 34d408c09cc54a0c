// Names that a person typed: which known name is meant, and one clear line when none is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace flashstep::cli {

// The known name nearest to `typed`, if it is near: few letters added, dropped, changed or swapped. Empty: none is.
std::string_view nearest(std::string_view typed, std::span<const std::string_view> known);

// "unknown algorithm 'fa2_foward'; did you mean fa2_forward? there are: ..."
Error unknown_name(std::string_view what, std::string_view typed, std::span<const std::string_view> known);

// --lang: en or zh. Throws Error.
Language language_named(std::string_view typed);

// The ids of a registry's rows, in order.
template <typename Rows>
std::vector<std::string_view> ids(const Rows& rows) {
    std::vector<std::string_view> names;
    for (const auto& row : rows) names.push_back(row.id);
    return names;
}

}  // namespace flashstep::cli
