// Fonts found on the system, baked at the sizes that the app uses, and what is missing.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct ImFont;
struct ImFontAtlas;

namespace flashstep::viz {

// Where the faces are; empty: not found. `index` is the face in a collection (.ttc).
struct FontFile {
    std::string path;
    int index = 0;
};
struct FontFiles {
    FontFile sans, sans_bold, cjk, cjk_bold, mono, math, math_italic;
};
FontFiles find_fonts();  // through fontconfig

class MathGlyphs;
enum class MathFace { Roman, Italic };
constexpr float kBodyPixels = 16;
constexpr int kMathSizes = 5;
constexpr std::array<float, kMathSizes> kMathPixels = {10, 12, 14, 17, 20};

// Sizes are those of the em, as in CSS (ImGui's FontSize is the height of the line). Every pointer is valid after
// build_fonts() and until the atlas is built again.
struct Fonts {
    ImFont* body = nullptr;                                 // 16 px, the default font of ImGui
    ImFont* bold = nullptr;                                 // 16 px
    ImFont* small = nullptr;                                // 13 px, secondary text
    ImFont* heading = nullptr;                              // 20 px, bold
    ImFont* number = nullptr;                               // 15 px, monospaced: numbers and code
    ImFont* number_small = nullptr;                         // 12 px
    std::array<std::array<ImFont*, kMathSizes>, 2> math{};  // [face][size]
    float scale = 1;                                        // pixels = design pixels x scale
    std::string message;                                    // one sentence about what was not found; empty: all found
    std::shared_ptr<const MathGlyphs> glyphs;  // also keeps the bytes of the font files, which the atlas reads from

    // Index into kMathPixels of the size nearest to `design_px`.
    static int math_size(float design_px);
};

// Clears `atlas` and builds it: Latin-1, Greek and the math characters, and of CJK only the characters that occur in
// the sources (viz/text/characters.h). Falls back to what is there, in the end to ImGui's own font.
Fonts build_fonts(ImFontAtlas& atlas, float scale, const FontFiles& files);
inline Fonts build_fonts(ImFontAtlas& atlas, float scale) { return build_fonts(atlas, scale, find_fonts()); }

}  // namespace flashstep::viz
