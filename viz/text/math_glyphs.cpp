// Glyph metrics by FreeType, unscaled and unhinted, looked up once per character.
#include "viz/text/math_glyphs.h"

#include <ft2build.h>
#include FT_FREETYPE_H

#include <unordered_map>

namespace flashstep::viz {

struct MathGlyphs::Impl {
    FT_Library library = nullptr;
    FT_Face faces[2] = {nullptr, nullptr};
    std::unordered_map<char32_t, EmGlyph> known[2];

    Impl() {
        if (FT_Init_FreeType(&library) != 0) library = nullptr;
    }
    ~Impl() {
        if (library) FT_Done_FreeType(library);  // and its faces
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    bool load(int face, char32_t c, EmGlyph& glyph) const {
        FT_Face f = faces[face];
        if (!f || f->units_per_EM == 0) return false;
        const FT_UInt index = FT_Get_Char_Index(f, c);
        if (index == 0 || FT_Load_Glyph(f, index, FT_LOAD_NO_SCALE) != 0) return false;
        const FT_Glyph_Metrics& m = f->glyph->metrics;
        const float em = f->units_per_EM;
        glyph.advance = static_cast<float>(m.horiAdvance) / em;
        glyph.ascent = static_cast<float>(m.horiBearingY) / em;
        glyph.descent = static_cast<float>(m.height - m.horiBearingY) / em;
        return true;
    }
};

MathGlyphs::MathGlyphs() : impl_(std::make_unique<Impl>()) {}
MathGlyphs::~MathGlyphs() = default;

void MathGlyphs::open(const std::vector<char>* roman, int roman_index, const std::vector<char>* italic,
                      int italic_index) {
    if (!impl_->library) return;
    const std::vector<char>* files[2] = {roman, italic};
    const int indices[2] = {roman_index, italic_index};
    for (int k = 0; k < 2; ++k) {
        if (!files[k]) continue;
        if (FT_New_Memory_Face(impl_->library, reinterpret_cast<const FT_Byte*>(files[k]->data()),
                               static_cast<FT_Long>(files[k]->size()), indices[k], &impl_->faces[k]) != 0) {
            impl_->faces[k] = nullptr;
        }
    }
}

EmGlyph MathGlyphs::get(bool italic, char32_t c) const {
    const auto [it, added] = impl_->known[italic].try_emplace(c);
    if (added) {
        EmGlyph& g = it->second;
        if (!(italic && impl_->load(1, c, g)) && !impl_->load(0, c, g)) g = {0.55f, 0.7f, 0.1f};
    }
    return it->second;
}

float line_em(const std::vector<char>& file, int index) {
    FT_Library library = nullptr;
    if (FT_Init_FreeType(&library) != 0) return 1;
    float result = 1;
    FT_Face face = nullptr;
    if (FT_New_Memory_Face(library, reinterpret_cast<const FT_Byte*>(file.data()), static_cast<FT_Long>(file.size()),
                           index, &face) == 0) {
        if (face->units_per_EM > 0) {
            result = static_cast<float>(face->ascender - face->descender) / static_cast<float>(face->units_per_EM);
        }
        FT_Done_Face(face);
    }
    FT_Done_FreeType(library);
    return result > 0.2f && result < 5 ? result : 1;
}

}  // namespace flashstep::viz
