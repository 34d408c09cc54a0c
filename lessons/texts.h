// The lessons' texts, one file per lesson and language in en/ and zh/.
#pragma once

#include <string_view>

namespace flashstep {

extern const std::string_view kFirstWalkEn, kFirstWalkZh;

}  // namespace flashstep
