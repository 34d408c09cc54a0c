// Matrices as text: one row a line, numbers separated by commas, semicolons or white space, comments after #.
#pragma once

#include <string>
#include <string_view>

#include "core/matrix.h"

namespace flashstep::io {

// Takes inf, -inf and nan in any case. A file separates by commas or by semicolons, not by both (1,5;2,5 would be read
// in two ways). Throws Error naming the file, line and column (from 1), what stands there, and what was expected.
Matrix parse_csv(std::string_view text, const std::string& name);
Matrix read_csv(const std::string& path);

// For readers of other text tables.
std::string_view next_line(std::string_view& text);  // takes a line off `text`; it ends in \n, \r\n or \r
std::string_view trimmed(std::string_view text);     // without white space around it

}  // namespace flashstep::io
