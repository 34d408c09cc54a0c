// {fmt}'s functions as a part of the program: Debian has no static library of it, and flashstep_prebuilt has to run
// where no package of ours is. The library's own header for this; what it leaves to the library is instantiated here.
#include <fmt/format-inl.h>

namespace fmt::detail {
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl<char>(locale_ref) -> char;
}  // namespace fmt::detail
