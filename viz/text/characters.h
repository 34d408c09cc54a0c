// The characters that the program's texts are written with, from U+2000 on: collected from its sources when it is
// built, so that whatever is written there can be drawn, in Chinese too.
#pragma once

#include <string_view>

namespace flashstep::viz {

std::string_view text_characters();  // UTF-8, each once

}  // namespace flashstep::viz
