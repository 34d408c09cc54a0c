// Sizes of the characters of the math faces in fractions of the em, read from the font files, whatever the scale.
#pragma once

#include <memory>
#include <vector>

namespace flashstep::viz {

struct EmGlyph {
    float advance = 0, ascent = 0, descent = 0;  // of the em; ascent and descent of the ink
};

class MathGlyphs {
  public:
    MathGlyphs();
    ~MathGlyphs();
    // The bytes must outlive this object. `italic` and `roman` may be null.
    void open(const std::vector<char>* roman, int roman_index, const std::vector<char>* italic, int italic_index);
    // A character that the italic face lacks is taken from the roman one; one that both lack is guessed at half an em.
    EmGlyph get(bool italic, char32_t c) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Height from ascender to descender in em: ImGui sizes fonts by that height, we by the em. 1 if the file is no font.
float line_em(const std::vector<char>& file, int index);

}  // namespace flashstep::viz
