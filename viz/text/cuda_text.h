// CUDA source cut into tokens for drawing, and which of its lines do the work of which line of the paper.
#pragma once

#include <set>
#include <string_view>
#include <vector>

namespace flashstep::viz {

enum class TokenKind { Plain, Comment, Keyword, Number, Text, Tensor };

struct CudaToken {
    TokenKind kind;
    std::string_view text;    // points into the source
    std::string_view tensor;  // Tensor: its name without "_all"
};

struct CudaText {
    std::string_view source;
    std::vector<std::vector<CudaToken>> lines;
    std::vector<std::vector<int>> paper;  // by source line: lines of the paper whose work it does
    int longest = 0;                      // characters
};

// `source` must outlive the result. A comment that starts with "Line 8:", "Lines 4, 5:" or "Lines 12 to 15:" (or stands
// at the end of a line of code, "// line 6; ...") says which lines of the paper the code below does, up to the next
// such comment or the end of the block that it stands in.
CudaText read_cuda(std::string_view source);

// The numbers in "Line 8: ...", "lines 4, 5: ...", "Lines 12 to 15"; empty: the comment names no lines.
std::vector<int> lines_named(std::string_view comment);

// The source lines (from 0) that do the work of a line of the paper.
std::set<int> lines_for(const CudaText& text, int paper_line);

}  // namespace flashstep::viz
