// Sentences with values in them: say("{} is {}, the limit is {}", "{} 为 {}，上限是 {}", what, value, limit). Not for
// nvcc.
#pragma once

#include <fmt/format.h>

#include <string>
#include <type_traits>

#include "core/text.h"

namespace flashstep {
namespace detail {

// A sentence within another speaks its language; every other value is the same in all.
template <class Value>
using Spoken = std::conditional_t<std::is_same_v<Value, Sentence>, const std::string&, const Value&>;

template <class Value>
Spoken<Value> spoken(const Value& value, [[maybe_unused]] Language language) {
    if constexpr (std::is_same_v<Value, Sentence>)
        return value.in(language);
    else
        return value;
}

}  // namespace detail

// Where Chinese orders the values otherwise, it numbers them: "{1} 的 {0}".
template <class... Values>
Sentence say(fmt::format_string<detail::Spoken<Values>...> english,
             fmt::format_string<detail::Spoken<Values>...> chinese, const Values&... values) {
    return {fmt::format(english, detail::spoken(values, Language::English)...),
            fmt::format(chinese, detail::spoken(values, Language::Chinese)...)};
}

}  // namespace flashstep
